// Reads the interpreter's frames directly from memory, without the GIL. They belong to the calling thread, so they do
// not change while it launches. The names of a frame's code and module are queried through the C API, with the GIL,
// once each. The memory layout is known for some versions and verified against the C API; for other versions every
// query uses the C API.
#include "inject/python.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "inject/python_frames.hpp"
#include "inject/python_modules.hpp"
#include "sample/python_files.hpp"
#include "text/parts.hpp"

namespace roofline::inject {
namespace python {
namespace {

constexpr int kTypeOffset = 8, kCellContent = 16;

/// Classification of a frame's code.
enum class Owner : std::uint8_t { unknown, library, package, program };
struct Code {
  Owner owner = Owner::unknown;
  bool runs_module = false;    ///< a call wrapper of torch.nn.Module; its first argument is the module
  bool runs_backward = false;  ///< PyTorch's call of its autograd engine
  bool hook = false;           ///< of a library's communication hook
};

/// In place of an instruction: the function itself.
constexpr Instruction kFirstLine = 0;

struct Python {
  Api api;
  const Layout* layout = nullptr;  ///< nullptr: every query uses the C API
  enum class Check : int { due, running, done };
  std::atomic<Check> check = Check::due;  ///< of the layout

  std::mutex mutex;  // never held during a call of the C API
  std::unordered_map<const Object*, Code> codes;
  std::unordered_map<const Object*, std::unordered_map<Instruction, spool::Id>> lines;
  ModuleNames modules;
};
std::atomic<Python*> found_python;

/// By the source file: the program's own, a package (used if the stack has no frame of the program), or a library,
/// whose lines are never reported.
Owner owner_of(std::string_view file) {
  if (file == "<string>") return Owner::package;  // "python -c", but also Triton's generated launchers
  if (const std::string_view inside = path_in_packages(file); !inside.empty()) {
    const bool library =
        starts_with_any(inside, {"torch/", "triton/", "functorch/", "numpy/", "nvtx/", "cuda/", "cupy/",
                                 "cupy_backends/", "jax/", "jaxlib/", "numba/", "numba_cuda/"});
    return library || is_generated_python(file) ? Owner::library : Owner::package;
  }
  const bool library = contains_any(file, {"/torch/nn/", "/torch/utils/", "/torch/optim/", "/torch/_",
                                           "/torch/autograd/", "/torch/cuda/", "/torch/distributed/"});
  return file.empty() || library || !is_own_python_file(file) ? Owner::library : Owner::program;
}

Code ask_code(const Api& api, Object* code) {
  const Locked locked(api);
  const std::string file = text_attribute(api, code, "co_filename");
  Code result;
  result.owner = owner_of(file);
  result.hook = is_communication_hook(file);
  result.runs_backward = file.ends_with("torch/autograd/__init__.py") || file.ends_with("torch/autograd/graph.py");
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

spool::Id ask_first_line(Session& session, const Api& api, Object* code) {
  const Locked locked(api);
  const Reference first = attribute(api, code, "co_firstlineno");
  const std::uint64_t number = first ? api.number(first.get()) : 0;
  forget_error(api);
  return session.spool.line(text_attribute(api, code, "co_filename"), text_attribute(api, code, "co_name"),
                            static_cast<std::uint32_t>(number));
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

spool::Id line_of(Session& session, Python& python, ThreadCache& cache, Object* code, Instruction instruction) {
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
    line = instruction == kFirstLine ? ask_first_line(session, python.api, code) : ask_line(session, python.api, code);
    const std::lock_guard lock(python.mutex);
    python.lines[code][instruction] = line;
  }
  cache.lines.keep(key, hash, line);
  return line;
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
  if (const ModuleName* known = cache.modules.find(module, hash); known != nullptr && known->is_of(module)) {
    return known->name;
  }
  const std::optional<ModuleName> found = python.modules.find(module);
  if (found) cache.modules.keep(module, hash, *found);
  return found ? found->name : 0;
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
  return python.modules.name(session, python.api, module, outermost);
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

/// Source lines only, through the C API.
PythonOrigin asked_origin(Session& session, Python& python, ThreadCache& cache, void* thread) {
  PythonOrigin origin;
  const Locked locked(python.api);
  Object* package_code = nullptr;
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
}  // namespace python

void look_for_python(Session& session) {
  using namespace python;
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
  using namespace python;
  Python* const python = found_python.load(std::memory_order_acquire);
  if (python == nullptr) return {};
  void* const thread = running_thread(python->api);
  if (thread == nullptr || !checked(session, *python, thread)) return {};
  ThreadCache& cache = thread_cache(session);
  if (python->layout == nullptr) return asked_origin(session, *python, cache, thread);

  Object* code_of_line = nullptr;
  Instruction instruction_of_line = 0;
  Owner owner_of_line = Owner::unknown;
  Object* module = nullptr;
  Object* hook = nullptr;
  bool in_backward = false, entered = false;
  walk(*python->layout, thread, [&](Object* code, Instruction instruction, const void* frame) {
    const Code known = code_of(*python, cache, code);
    if (known.runs_module && module == nullptr) module = self_of(*python, frame);
    if (known.hook) hook = code;  // the outermost function is the hook
    in_backward = in_backward || known.runs_backward;
    if (known.owner == Owner::program && owner_of_line != Owner::program) entered = !in_backward;
    if (known.owner > owner_of_line && known.owner >= Owner::package) {
      owner_of_line = known.owner;
      code_of_line = code;
      instruction_of_line = instruction;
    }
    return module == nullptr || owner_of_line != Owner::program;
  });
  PythonOrigin origin;
  origin.own = owner_of_line == Owner::program;
  origin.entered = entered;
  if (code_of_line != nullptr) origin.line = line_of(session, *python, cache, code_of_line, instruction_of_line);
  if (module != nullptr) origin.module = module_of(session, *python, cache, thread, module);
  if (hook != nullptr && !origin.own) origin.hook = line_of(session, *python, cache, hook, kFirstLine);
  return origin;
}

spool::Id python_node_name(Session& session) {
  using namespace python;
  const Python* const python = found_python.load(std::memory_order_acquire);
  if (python == nullptr || running_thread(python->api) == nullptr) return 0;
  const Locked locked(python->api);
  const Reference node = current_node(python->api);
  return node ? session.spool.text(class_name(python->api, node.get())) : 0;
}

std::uint64_t python_node_sequence() {
  using namespace python;
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
