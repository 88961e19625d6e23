// Reads the interpreter's frames directly from memory, without the GIL. They belong to the calling thread, so they do
// not change while it launches. The names of a frame's code and module are queried through the C API, with the GIL,
// once each. The memory layout is known for some versions and verified against the C API; for other versions every
// query uses the C API.
#include "inject/python.hpp"

#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sample/generated_python.hpp"

namespace roofline::inject {
namespace {

struct Object;  // a PyObject

/// The position of a frame in its code: an address or an offset. Only compared for equality.
using Instruction = std::uintptr_t;

/// Functions of the interpreter's stable C API, and a few outside it that all supported versions have.
struct Api {
  int (*is_initialized)() = nullptr;
  int (*is_finalizing)() = nullptr;
  const char* (*version)() = nullptr;
  void* (*this_thread)() = nullptr;
  int (*ensure)() = nullptr;
  void (*release)(int) = nullptr;
  Object* (*thread_frame)(void*) = nullptr;
  Object* (*frame_back)(Object*) = nullptr;
  Object* (*frame_code)(Object*) = nullptr;
  int (*frame_line)(Object*) = nullptr;
  int (*frame_instruction)(Object*) = nullptr;
  Object* (*attribute)(Object*, const char*) = nullptr;
  const char* (*utf8)(Object*) = nullptr;
  Object* (*type)(Object*) = nullptr;
  int (*dict_next)(Object*, std::ptrdiff_t*, Object**, Object**) = nullptr;
  Object* (*dict_item)(Object*, const char*) = nullptr;
  Object* (*weak_reference)(Object*, Object*) = nullptr;
  Object* (*modules)() = nullptr;
  Object* (*call)(Object*, Object*) = nullptr;
  std::uint64_t (*number)(Object*) = nullptr;
  void (*increase)(Object*) = nullptr;
  void (*decrease)(Object*) = nullptr;
  void (*fetch_error)(Object**, Object**, Object**) = nullptr;
  void (*restore_error)(Object*, Object*, Object*) = nullptr;
  const void* cell_type = nullptr;
};

/// Byte offsets of the fields that are read directly, for one version of the interpreter.
struct Layout {
  int thread_frame;  ///< in PyThreadState: the innermost frame, or the pointer to it
  bool indirect;
  int pointed_frame;
  int code, previous, instruction, owner, locals;
  int c_stack_owner;  ///< owner value of frames without Python code
};
constexpr Layout k311 = {56, true, 8, 32, 48, 56, 69, 72, -1};
constexpr Layout k312 = {56, true, 0, 0, 8, 56, 70, 72, 3};
constexpr Layout k313 = {72, false, 0, 0, 8, 56, 70, 72, 3};
constexpr int kTypeOffset = 8, kCellContent = 16, kWeakTarget = 16;

constexpr int kDeepest = 400;

/// Classification of a frame's code.
enum class Owner : std::uint8_t { unknown, library, package, program };
struct Code {
  Owner owner = Owner::unknown;
  bool runs_module = false;  ///< a call wrapper of torch.nn.Module; its first argument is the module
};

struct ModuleName {
  Object* reference = nullptr;  ///< weak
  spool::Id name = 0;
};

struct Python {
  Api api;
  const Layout* layout = nullptr;  ///< nullptr: every query uses the C API
  enum class Check : int { due, running, done };
  std::atomic<Check> check = Check::due;  ///< of the layout

  std::mutex mutex;  // never held during a call of the C API
  std::unordered_map<const Object*, Code> codes;
  std::unordered_map<const Object*, std::unordered_map<Instruction, spool::Id>> lines;
  std::unordered_map<const Object*, ModuleName> modules;
  std::string plain_root;  ///< the first root module's class: paths of its modules have no prefix
};
std::atomic<Python*> found_python;

template <typename Value>
Value at(const void* base, int offset) {
  Value value;
  // NOLINTNEXTLINE(bugprone-sizeof-expression): Value may be a pointer
  std::memcpy(&value, static_cast<const char*>(base) + offset, sizeof(Value));
  return value;
}

/// Holds the GIL; saves and restores the program's pending exception.
class Locked {
 public:
  explicit Locked(const Api& api) : api_(api), state_(api.ensure()) {
    api_.fetch_error(&error_[0], &error_[1], &error_[2]);
  }
  ~Locked() {
    api_.restore_error(error_[0], error_[1], error_[2]);
    api_.release(state_);
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  const Api& api_;
  int state_;
  std::array<Object*, 3> error_ = {};
};

/// An owned reference.
class Reference {
 public:
  Reference(const Api& api, Object* object) : api_(&api), object_(object) {}
  Reference(Reference&& other) noexcept : api_(other.api_), object_(std::exchange(other.object_, nullptr)) {}
  Reference& operator=(Reference&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Reference() {
    if (object_ != nullptr) api_->decrease(object_);
  }
  Object* get() const { return object_; }
  Object* leave() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  const Api* api_;
  Object* object_;
};

void forget_error(const Api& api) {
  std::array<Object*, 3> error = {};
  api.fetch_error(&error[0], &error[1], &error[2]);
  for (Object* part : error) {
    if (part != nullptr) api.decrease(part);
  }
}

Reference attribute(const Api& api, Object* object, const char* name) {
  Reference value(api, object != nullptr ? api.attribute(object, name) : nullptr);
  if (!value) forget_error(api);
  return value;
}

std::string text_of(const Api& api, Object* object) {
  const char* const text = object != nullptr ? api.utf8(object) : nullptr;
  if (text == nullptr) forget_error(api);
  return text != nullptr ? text : "";
}

std::string text_attribute(const Api& api, Object* object, const char* name) {
  return text_of(api, attribute(api, object, name).get());
}

std::string class_name(const Api& api, Object* object) {
  const Reference type(api, api.type(object));
  return text_attribute(api, type.get(), "__name__");
}

// --- frames

/// Calls `visit(code, instruction, frame)` from the innermost frame out, until it returns false.
template <typename Visit>
void walk(const Layout& layout, const void* thread, const Visit& visit) {
  const char* frame = at<const char*>(thread, layout.thread_frame);
  if (layout.indirect && frame != nullptr) frame = at<const char*>(frame, layout.pointed_frame);
  for (int depth = 0; frame != nullptr && depth < kDeepest; ++depth) {
    if (at<char>(frame, layout.owner) != layout.c_stack_owner &&
        !visit(at<Object*>(frame, layout.code), at<Instruction>(frame, layout.instruction), frame)) {
      return;
    }
    frame = at<const char*>(frame, layout.previous);
  }
}

/// The same through the C API; `frame` is a frame object. The caller holds the GIL.
template <typename Visit>
void walk(const Api& api, void* thread, const Visit& visit) {
  Reference frame(api, api.thread_frame(thread));
  for (int depth = 0; frame && depth < kDeepest; ++depth) {
    const Reference code(api, api.frame_code(frame.get()));
    const int instruction =
        api.frame_instruction != nullptr ? api.frame_instruction(frame.get()) : api.frame_line(frame.get());
    if (!visit(code.get(), static_cast<Instruction>(instruction) + 1, frame.get())) return;
    frame = Reference(api, api.frame_back(frame.get()));
  }
}

/// Reads memory that may be unmapped.
bool read_safely(const void* from, void* to, std::size_t size) {
  iovec local = {to, size};
  iovec remote = {const_cast<void*>(from), size};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

template <typename Value>
bool read_safely(const void* base, int offset, Value& value) {
  // NOLINTNEXTLINE(bugprone-sizeof-expression): Value may be a pointer
  return base != nullptr && read_safely(static_cast<const char*>(base) + offset, &value, sizeof(Value));
}

/// True if the layout is right: its code objects must equal those of the C API. std::nullopt if the thread has no
/// frames (autograd's threads).
std::optional<bool> check(const Layout& layout, const Api& api, void* thread) {
  std::vector<const Object*> said;
  walk(api, thread, [&](const Object* code, Instruction, const void*) {
    said.push_back(code);
    return true;
  });
  if (said.empty()) return std::nullopt;
  std::vector<const Object*> found;
  const char* frame = nullptr;
  if (!read_safely(thread, layout.thread_frame, frame)) return false;
  if (layout.indirect && !read_safely(frame, layout.pointed_frame, frame)) return false;
  for (int depth = 0; frame != nullptr && depth < kDeepest; ++depth) {
    char owner = 0;
    const Object* code = nullptr;
    const char* previous = nullptr;
    if (!read_safely(frame, layout.owner, owner) || !read_safely(frame, layout.code, code) ||
        !read_safely(frame, layout.previous, previous)) {
      return false;
    }
    if (owner != layout.c_stack_owner) found.push_back(code);
    frame = previous;
  }
  return found == said;
}

// --- classification of code

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// By the source file: the program's own, a package (used if the stack has no frame of the program), or a library,
/// whose lines are never reported.
Owner owner_of(std::string_view file) {
  if (file.empty()) return Owner::library;
  if (file.front() == '<') {
    if (file == "<stdin>" || file.starts_with("<ipython")) return Owner::program;
    // "python -c", but also Triton's generated launchers.
    return file == "<string>" ? Owner::package : Owner::library;
  }
  if (is_generated_python(file)) return Owner::library;
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"}) {
    const std::size_t found = file.find(folder);
    if (found == std::string_view::npos) continue;
    const std::string_view inside = file.substr(found + folder.size());
    for (const std::string_view library : {"torch/", "triton/", "functorch/", "numpy/", "nvtx/", "cuda/", "cupy/",
                                           "cupy_backends/", "jax/", "jaxlib/", "numba/", "numba_cuda/"}) {
      if (inside.starts_with(library)) return Owner::library;
    }
    return Owner::package;
  }
  for (const std::string_view part : {"/lib/python3", "/torch/nn/", "/torch/utils/", "/torch/optim/", "/torch/_",
                                      "/torch/autograd/", "/torch/cuda/", "/torch/distributed/"}) {
    if (contains(file, part)) return Owner::library;
  }
  return Owner::program;
}

Code ask_code(const Api& api, Object* code) {
  const Locked locked(api);
  const std::string file = text_attribute(api, code, "co_filename");
  Code result;
  result.owner = owner_of(file);
  if (file.ends_with("torch/nn/modules/module.py")) {
    const std::string name = text_attribute(api, code, "co_name");
    result.runs_module = name == "_call_impl" || name == "_wrapped_call_impl";
  }
  api.increase(code);  // never released, so that its address is not reused
  return result;
}

/// A small direct-mapped cache per thread.
template <typename Key, typename Value, std::size_t kSlots>
class Recent {
 public:
  /// nullptr if absent.
  Value* find(const Key& key, std::size_t hash) {
    Slot& slot = slots_[hash % kSlots];
    return slot.used && slot.key == key ? &slot.value : nullptr;
  }
  void keep(const Key& key, std::size_t hash, const Value& value) { slots_[hash % kSlots] = {true, key, value}; }

 private:
  struct Slot {
    bool used = false;
    Key key = {};
    Value value = {};
  };
  std::array<Slot, kSlots> slots_ = {};
};

std::size_t hash_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) / 16; }

/// Per-thread caches for one session.
struct ThreadCache {
  const Session* session = nullptr;
  Recent<const Object*, Code, 1024> codes;
  Recent<std::pair<const Object*, Instruction>, spool::Id, 1024> lines;
  Recent<const Object*, ModuleName, 128> modules;
};
ThreadCache& thread_cache(const Session& session) {
  static thread_local ThreadCache cache;
  if (cache.session != &session) {
    cache.codes = {};
    cache.lines = {};
    cache.modules = {};
    cache.session = &session;
  }
  return cache;
}

Code code_of(Python& python, ThreadCache& cache, Object* code) {
  const std::size_t hash = hash_of(code);
  if (const Code* known = cache.codes.find(code, hash)) return *known;
  Code result;
  {
    const std::lock_guard lock(python.mutex);
    const auto found = python.codes.find(code);
    if (found != python.codes.end()) result = found->second;
  }
  if (result.owner == Owner::unknown) {
    result = ask_code(python.api, code);
    const std::lock_guard lock(python.mutex);
    python.codes.emplace(code, result);
  }
  cache.codes.keep(code, hash, result);
  return result;
}

spool::Id ask_line(Session& session, const Api& api, const Object* code) {
  const Locked locked(api);
  int number = 0;
  std::string file, function;
  walk(api, api.this_thread(), [&](Object* own, Instruction, Object* frame) {
    if (own != code) return true;
    number = api.frame_line(frame);
    file = text_attribute(api, own, "co_filename");
    function = text_attribute(api, own, "co_name");
    return false;
  });
  return number > 0 ? session.spool.line(file, function, static_cast<std::uint32_t>(number)) : 0;
}

spool::Id line_of(Session& session, Python& python, ThreadCache& cache, const Object* code, Instruction instruction) {
  const std::pair key(code, instruction);
  const std::size_t hash = hash_of(code) * 31 + instruction / 2;
  if (const spool::Id* known = cache.lines.find(key, hash)) return *known;
  spool::Id line = 0;
  {
    const std::lock_guard lock(python.mutex);
    const auto& lines = python.lines[code];
    const auto found = lines.find(instruction);
    if (found != lines.end()) line = found->second;
  }
  if (line == 0) {
    line = ask_line(session, python.api, code);
    const std::lock_guard lock(python.mutex);
    python.lines[code][instruction] = line;
  }
  cache.lines.keep(key, hash, line);
  return line;
}

// --- modules

/// Joins two parts of a path; parts that model wrappers add are omitted.
std::string joined(const std::string& path, const std::string& part) {
  for (const std::string_view wrapper : {"_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"}) {
    if (part == wrapper) return path;
  }
  std::string result = path;
  if (!path.empty()) result += '.';
  return result += part;
}

/// Calls `visit(module, path)` for a module and all of its submodules. Runs no code of the program.
template <typename Visit>
void visit_modules(const Api& api, Object* module, const std::string& path, int depth, const Visit& visit) {
  constexpr int kDeepestModule = 64;
  visit(module, path);
  const Reference children = attribute(api, module, "_modules");
  if (!children || depth >= kDeepestModule) return;
  std::ptrdiff_t position = 0;
  Object* name = nullptr;
  Object* child = nullptr;
  while (api.dict_next(children.get(), &position, &name, &child) != 0) {
    const std::string part = text_of(api, name);
    if (part.empty() || !attribute(api, child, "_modules")) continue;  // None: no module
    visit_modules(api, child, joined(path, part), depth + 1, visit);
  }
}

bool alive(const ModuleName& name, const Object* module) {
  return name.reference != nullptr && at<const Object*>(name.reference, kWeakTarget) == module;
}

/// Names the module and all submodules of the outermost module. The caller holds the GIL.
ModuleName ask_module(Session& session, Python& python, Object* module, Object* outermost) {
  const Api& api = python.api;
  const std::string root_class = class_name(api, outermost);
  std::vector<std::pair<Object*, std::string>> found;
  visit_modules(api, outermost, {}, 0, [&](Object* part, const std::string& path) { found.emplace_back(part, path); });
  std::string prefix;
  if (found.size() > 1) {
    const std::lock_guard lock(python.mutex);
    if (python.plain_root.empty()) python.plain_root = root_class;
    if (python.plain_root != root_class) prefix = root_class;
  }
  bool named = false;
  for (const auto& [part, path] : found) named = named || part == module;
  if (!named) found.emplace_back(module, std::string());  // not a submodule of the outermost one: named by its class
  for (const auto& [part, path] : found) {
    {
      const std::lock_guard lock(python.mutex);
      const auto known = python.modules.find(part);
      if (known != python.modules.end() && alive(known->second, part)) continue;
    }
    ModuleName name;
    const std::string own = path.empty() ? class_name(api, part) : prefix.empty() ? path : joined(prefix, path);
    name.name = session.spool.text(own);
    name.reference = api.weak_reference(part, nullptr);
    if (name.reference == nullptr) forget_error(api);
    const std::lock_guard lock(python.mutex);
    python.modules[part] = name;
  }
  const std::lock_guard lock(python.mutex);
  return python.modules[module];
}

Object* self_of(const Python& python, const void* frame) {
  auto* self = at<Object*>(frame, python.layout->locals);
  if (self != nullptr && at<const void*>(self, kTypeOffset) == python.api.cell_type)
    self = at<Object*>(self, kCellContent);
  return self;
}

/// 0 if unknown.
spool::Id known_module(Python& python, ThreadCache& cache, const Object* module) {
  const std::size_t hash = hash_of(module);
  if (const ModuleName* known = cache.modules.find(module, hash); known != nullptr && alive(*known, module)) {
    return known->name;
  }
  const std::lock_guard lock(python.mutex);
  const auto found = python.modules.find(module);
  if (found == python.modules.end() || !alive(found->second, module)) return 0;
  cache.modules.keep(module, hash, found->second);
  return found->second.name;
}

spool::Id module_of(Session& session, Python& python, ThreadCache& cache, void* thread, Object* module) {
  if (const spool::Id known = known_module(python, cache, module)) return known;
  Object* outermost = module;
  walk(*python.layout, thread, [&](Object* code, Instruction, const void* frame) {
    if (!code_of(python, cache, code).runs_module) return true;
    if (Object* const self = self_of(python, frame)) outermost = self;
    return true;
  });
  const Locked locked(python.api);
  return ask_module(session, python, module, outermost).name;
}

// --- finding the interpreter

template <typename Function>
bool bind(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

bool bind_all(Api& api) {
  if (!bind(api.is_finalizing, "Py_IsFinalizing")) bind(api.is_finalizing, "_Py_IsFinalizing");
  bind(api.frame_instruction, "PyFrame_GetLasti");
  return bind(api.is_initialized, "Py_IsInitialized") && bind(api.version, "Py_GetVersion") &&
         bind(api.this_thread, "PyGILState_GetThisThreadState") && bind(api.ensure, "PyGILState_Ensure") &&
         bind(api.release, "PyGILState_Release") && bind(api.thread_frame, "PyThreadState_GetFrame") &&
         bind(api.frame_back, "PyFrame_GetBack") && bind(api.frame_code, "PyFrame_GetCode") &&
         bind(api.frame_line, "PyFrame_GetLineNumber") && bind(api.attribute, "PyObject_GetAttrString") &&
         bind(api.utf8, "PyUnicode_AsUTF8") && bind(api.type, "PyObject_Type") && bind(api.dict_next, "PyDict_Next") &&
         bind(api.dict_item, "PyDict_GetItemString") && bind(api.weak_reference, "PyWeakref_NewRef") &&
         bind(api.modules, "PyImport_GetModuleDict") && bind(api.call, "PyObject_CallObject") &&
         bind(api.number, "PyLong_AsUnsignedLongLong") && bind(api.increase, "Py_IncRef") &&
         bind(api.decrease, "Py_DecRef") && bind(api.fetch_error, "PyErr_Fetch") &&
         bind(api.restore_error, "PyErr_Restore") && bind(api.cell_type, "PyCell_Type");
}

/// By the text of Py_GetVersion: "3.12.3 (main, ...)" gives the layout of 3.12.
const Layout* layout_of(std::string_view version) {
  if (contains(version, "free-threading") || contains(version, "experimental free")) return nullptr;
  if (version.starts_with("3.11.")) return &k311;
  if (version.starts_with("3.12.")) return &k312;
  if (version.starts_with("3.13.")) return &k313;
  return nullptr;
}

/// True if the layout has been verified. False if another thread is verifying it (waiting could deadlock, because that
/// thread waits for the GIL), or if this thread has no frames to compare.
bool checked(Session& session, Python& python, void* thread) {
  if (python.check.load(std::memory_order_acquire) == Python::Check::done) return true;
  Python::Check expected = Python::Check::due;
  if (!python.check.compare_exchange_strong(expected, Python::Check::running)) return expected == Python::Check::done;
  const std::string version = python.api.version();
  {
    const Locked locked(python.api);
    const std::optional<bool> right = python.layout != nullptr ? check(*python.layout, python.api, thread) : false;
    if (!right) {
      python.check.store(Python::Check::due, std::memory_order_release);
      return false;
    }
    if (!*right) python.layout = nullptr;
  }
  session.spool.note(spool::NoteCode::python, "Python " + version.substr(0, version.find(' ')) +
                                                  (python.layout != nullptr ? ": lines and modules" : ": lines"));
  python.check.store(Python::Check::done, std::memory_order_release);
  return true;
}

/// The thread's PyThreadState; null while Python is not running.
void* running_thread(const Api& api) {
  if (api.is_initialized() == 0 || (api.is_finalizing != nullptr && api.is_finalizing() != 0)) return nullptr;
  return api.this_thread();
}

/// Source lines only, through the C API.
PythonOrigin asked_origin(Session& session, Python& python, ThreadCache& cache, void* thread) {
  PythonOrigin origin;
  const Locked locked(python.api);
  const Object* package_code = nullptr;
  Instruction package_instruction = 0;
  walk(python.api, thread, [&](Object* code, Instruction instruction, Object*) {
    const Owner owner = code_of(python, cache, code).owner;
    if (owner == Owner::program) {
      origin.line = line_of(session, python, cache, code, instruction);
      origin.own = true;
      return false;
    }
    if (owner == Owner::package && package_code == nullptr) {
      package_code = code;
      package_instruction = instruction;
    }
    return true;
  });
  if (origin.line == 0 && package_code != nullptr) {
    origin.line = line_of(session, python, cache, package_code, package_instruction);
  }
  return origin;
}

/// torch._C._current_autograd_node(). The caller holds the GIL.
Reference current_node(const Api& api) {
  Object* const modules = api.modules();
  Object* const torch = modules != nullptr ? api.dict_item(modules, "torch._C") : nullptr;
  const Reference function = attribute(api, torch, "_current_autograd_node");
  Reference node(api, function ? api.call(function.get(), nullptr) : nullptr);
  if (!node) forget_error(api);
  return node;
}

}  // namespace

void look_for_python(Session& session) {
  if (!session.python || found_python.load() != nullptr) return;
  auto* const python = new Python;
  if (bind_all(python->api) && python->api.is_initialized() != 0) {
    python->layout = layout_of(python->api.version());
    found_python = python;
  } else {
    delete python;
  }
}

PythonOrigin python_origin(Session& session) {
  Python* const python = found_python.load(std::memory_order_acquire);
  if (python == nullptr) return {};
  void* const thread = running_thread(python->api);
  if (thread == nullptr || !checked(session, *python, thread)) return {};
  ThreadCache& cache = thread_cache(session);
  if (python->layout == nullptr) return asked_origin(session, *python, cache, thread);

  const Object* code_of_line = nullptr;
  Instruction instruction_of_line = 0;
  Owner owner_of_line = Owner::unknown;
  Object* module = nullptr;
  walk(*python->layout, thread, [&](Object* code, Instruction instruction, const void* frame) {
    const Code known = code_of(*python, cache, code);
    if (known.runs_module && module == nullptr) module = self_of(*python, frame);
    if (known.owner > owner_of_line && known.owner >= Owner::package) {
      owner_of_line = known.owner;
      code_of_line = code;
      instruction_of_line = instruction;
    }
    return module == nullptr || owner_of_line != Owner::program;
  });
  PythonOrigin origin;
  origin.own = owner_of_line == Owner::program;
  if (code_of_line != nullptr) origin.line = line_of(session, *python, cache, code_of_line, instruction_of_line);
  if (module != nullptr) origin.module = module_of(session, *python, cache, thread, module);
  return origin;
}

spool::Id python_node_name(Session& session) {
  const Python* const python = found_python.load(std::memory_order_acquire);
  if (python == nullptr || running_thread(python->api) == nullptr) return 0;
  const Locked locked(python->api);
  const Reference node = current_node(python->api);
  return node ? session.spool.text(class_name(python->api, node.get())) : 0;
}

std::uint64_t python_node_sequence() {
  const Python* const python = found_python.load(std::memory_order_acquire);
  if (python == nullptr || running_thread(python->api) == nullptr) return UINT64_MAX;
  const Api& api = python->api;
  const Locked locked(api);
  const Reference node = current_node(api);
  const Reference function = attribute(api, node.get(), "_sequence_nr");
  const Reference number(api, function ? api.call(function.get(), nullptr) : nullptr);
  const std::uint64_t value = number ? api.number(number.get()) : UINT64_MAX;
  forget_error(api);
  return value;
}

}  // namespace roofline::inject
