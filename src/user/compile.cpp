// Compilers are other people's programs: run without a shell, believed when they fail, and asked once for each content.
#include "user/compile.hpp"

#include <cxxabi.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>

#include "device/cubin.hpp"
#include "host/cache_folder.hpp"
#include "host/files.hpp"
#include "host/host.hpp"
#include "host/interrupt.hpp"
#include "host/private_folder.hpp"
#include "host/process.hpp"
#include "op/host_parallel.hpp"
#include "user/forwarded_loads.hpp"
#include "user/nvrtc.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

/// Two FNV-1a hashes with different offsets: sufficient, because all files are the user's own.
class ContentHash {
 public:
  void add(std::string_view text) {
    for (const char c : text) step(static_cast<unsigned char>(c));
    step(0x100);  // where one text ends
  }
  std::string text() const { return fmt::format("{:016x}{:016x}", a_, b_); }

 private:
  void step(std::uint64_t value) {
    a_ = (a_ ^ value) * 0x100000001B3U;
    b_ = (b_ ^ (value + 0x9E37U)) * 0x100000001B3U;
    b_ ^= b_ >> 29;
  }
  std::uint64_t a_ = 0xCBF29CE484222325U;
  std::uint64_t b_ = 0x84222325CBF29CE4U;
};

/// Adds a file and all that it includes by a name which is found beside it or in one of the folders; whether a
/// condition leaves an include out, is not asked. Headers of the system belong to the compiler, whose version is added.
void add_with_includes(ContentHash& hash, const fs::path& file, const std::vector<fs::path>& folders,
                       std::set<fs::path>& seen) {
  if (!seen.insert(fs::weakly_canonical(file)).second) return;
  const std::string text = read_file(file, kSourceLimit);
  hash.add(text);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find_first_not_of(" \t");
    if (at == std::string::npos || line[at] != '#') continue;
    const std::size_t word = line.find_first_not_of(" \t", at + 1);
    if (word == std::string::npos || line.compare(word, 7, "include") != 0) continue;
    const std::size_t open = line.find_first_of("\"<", word + 7);
    if (open == std::string::npos) continue;
    const std::size_t close = line.find(line[open] == '"' ? '"' : '>', open + 1);
    if (close == std::string::npos) continue;
    const fs::path name = line.substr(open + 1, close - open - 1);
    std::vector<fs::path> places = {file.parent_path()};
    places.insert(places.end(), folders.begin(), folders.end());
    for (const fs::path& folder : places) {
      std::error_code hidden;
      if (!fs::is_regular_file(folder / name, hidden)) continue;
      add_with_includes(hash, folder / name, folders, seen);
      break;
    }
  }
}

/// The words of $CC and the like: a compiler, perhaps behind a launcher.
std::vector<std::string> command_in(const char* variable, const std::string& otherwise) {
  const char* text = std::getenv(variable);
  std::istringstream words(text != nullptr && *text != '\0' ? text : otherwise);
  std::vector<std::string> command;
  for (std::string word; words >> word;) command.push_back(word);
  return command;
}

std::vector<std::string> host_compiler(SourceKind kind) {
  return kind == SourceKind::c ? command_in("CC", "cc") : command_in("CXX", "c++");
}

/// Where a shell would find it; empty where it would not.
std::string program_file(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + "/" + name).c_str(), X_OK) == 0) return folder + "/" + name;
  }
  return "";
}

std::string nvcc_path() {
  if (const char* named = std::getenv("CUDACXX"); named != nullptr && *named != '\0') return named;
  if (std::string found = program_file("nvcc"); !found.empty()) return found;
  return ::access("/usr/local/cuda/bin/nvcc", X_OK) == 0 ? "/usr/local/cuda/bin/nvcc" : "";
}

/// What a compiler says of itself, asked once.
std::string version_of(const std::vector<std::string>& compiler) {
  static std::map<std::vector<std::string>, std::string> known;
  const auto found = known.find(compiler);
  if (found != known.end()) return found->second;
  std::vector<std::string> command = compiler;
  command.emplace_back("--version");
  return known[compiler] = run_compiler(command, 60).output;
}

std::string compiler_version(const CompileRequest& request) {
  if (request.kind == SourceKind::c || request.kind == SourceKind::cpp || request.kind == SourceKind::shared_library) {
    // -march=native is of this CPU; a home folder may be that of several machines.
    const std::string cpu = text_of("/proc/cpuinfo");
    const std::size_t flags = cpu.find("flags");
    const std::string features = flags == std::string::npos ? cpu : cpu.substr(flags, cpu.find('\n', flags) - flags);
    return version_of(host_compiler(request.kind)) + features;
  }
  const std::string nvcc = request.compiler == CudaCompiler::nvrtc ? "" : nvcc_path();
  return nvrtc_version() + (nvcc.empty() ? "" : version_of({nvcc}));
}

/// Makes the cache folder of compiled kernels. Returns why it must not be used; empty if it can be. Its files are
/// loaded and run, so no other user may have write access.
std::string make_kernel_folder(const fs::path& kernels) {
  const fs::path cache = kernels.parent_path();
  std::error_code error;
  fs::create_directories(cache, error);
  if (error) return fmt::format("{}: {}", cache.string(), error.message());
  struct stat status {};
  const auto is_own_folder = [&](const fs::path& folder) {
    return ::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid();
  };
  // Made under a umask that lets the group write. A folder that is open to all, or not ours, stays as it is.
  if (is_own_folder(cache) && (status.st_mode & (S_IWGRP | S_IWOTH)) == S_IWGRP &&
      replaceable_by_others(cache.parent_path()).empty()) {
    ::chmod(cache.c_str(), status.st_mode & 0755U);
  }
  if (std::string reason = replaceable_by_others(cache); !reason.empty()) return reason;
  if (::mkdir(kernels.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    return fmt::format("{}: {}", kernels.string(), std::strerror(errno));
  }
  if (is_own_folder(kernels) && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  return fmt::format("{}: must be your own folder, without write access for other users", kernels.string());
}

/// Where compiled kernels are now: in the cache, or in a private folder where the cache must not be used.
struct KernelFolder {
  KernelFolder()
      : path(cache_folder("compiled kernels", "set one of them to a folder that can be written") / "kernels"),
        problem(make_kernel_folder(path)) {
    if (problem.empty()) return;
    instead = std::make_unique<PrivateFolder>();
    path = instead->path();
  }

  fs::path path;
  std::string problem;  ///< why the cache is not used
  std::unique_ptr<PrivateFolder> instead;
};

std::map<std::string, KernelFolder>& kernel_folders() {
  static std::map<std::string, KernelFolder> known;
  return known;
}

/// The one of the environment as it is now. compile_ahead() asks for it before it forks: all processes use one folder,
/// and the first one removes a private one.
const KernelFolder& kernel_folder() {
  const auto text = [](const char* name) { return std::string(std::getenv(name) != nullptr ? std::getenv(name) : ""); };
  return kernel_folders()[text("XDG_CACHE_HOME") + "\n" + text("HOME")];
}

std::vector<std::string> compiler_words(const CompileRequest& request) {
  if (request.kind != SourceKind::cuda) return host_compiler(request.kind);
  return request.compiler == CudaCompiler::nvrtc ? std::vector<std::string>{} : std::vector<std::string>{nvcc_path()};
}

/// The words of the command, the files that they name, and the variables that compilers read beside them.
void add_compiler(ContentHash& hash, const CompileRequest& request) {
  for (const std::string& word : compiler_words(request)) {
    hash.add("word " + word);
    if (word.empty() || word.front() == '-') continue;
    std::error_code hidden;
    hash.add("file " + fs::canonical(program_file(word), hidden).string());
  }
  for (const char* name : {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH",
                           "GCC_EXEC_PREFIX", "CCC_OVERRIDE_OPTIONS", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"}) {
    const char* value = std::getenv(name);
    hash.add(fmt::format("{}={}", name, value != nullptr ? value : ""));
  }
  hash.add(compiler_version(request));
}

/// Folders and files that the suite and the words of the command include.
void add_included(ContentHash& hash, const CompileRequest& request) {
  std::vector<fs::path> folders = request.include;
  std::vector<fs::path> files = {request.source};
  std::vector<std::string> words = compiler_words(request);
  words.insert(words.end(), request.options.begin(), request.options.end());
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (const std::string option : {"-I", "-isystem", "-iquote", "-include"}) {
      if (!words[i].starts_with(option)) continue;
      const bool joined = words[i].size() > option.size();
      if (!joined && i + 1 == words.size()) continue;
      const std::string name = joined ? words[i].substr(option.size()) : words[i + 1];
      std::error_code hidden;
      if (option != "-include") {
        folders.emplace_back(name);
      } else if (fs::is_regular_file(name, hidden)) {
        files.emplace_back(name);
      }
    }
  }
  std::set<fs::path> seen;
  for (const fs::path& file : files) add_with_includes(hash, file, folders, seen);
}

std::string key_of(const CompileRequest& request) {
  ContentHash hash;
  hash.add("3");  // of this format, and of the options below
  hash.add(fmt::format("{} {} {}", static_cast<int>(request.kind), static_cast<int>(request.compiler),
                       request.architecture));
  hash.add(request.source.string());  // appears in messages and in __FILE__
  for (const auto& option : request.options) hash.add("option " + option);
  for (const auto& folder : request.include) hash.add("include " + folder.string());
  for (const auto& [name, value] : request.defines) hash.add("define " + name + "=" + value);
  for (const auto& entry : request.entries) hash.add("entry " + entry);
  hash.add(request.prologue);
  hash.add(request.epilogue);
  if (request.without_failed_forwards) hash.add("without failed forwards");
  add_compiler(hash, request);
  if (request.kind != SourceKind::shared_library) add_included(hash, request);
  return hash.text();
}

/// A file that is gone when the object is.
class Temporary {
 public:
  explicit Temporary(fs::path path) : path_(std::move(path)) {}
  ~Temporary() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::vector<std::string> preprocessor_options(const CompileRequest& request) {
  std::vector<std::string> options;
  for (const fs::path& folder : request.include) options.push_back("-I" + folder.string());
  for (const auto& [name, value] : request.defines) options.push_back("-D" + name + "=" + value);
  return options;
}

/// Replaces a path, or the start of paths, by another name. Not within longer words: "/a/" stands in "/b/a/" too.
void rename_paths(std::string& text, const std::string& path, const std::string& name) {
  const auto continues = [](char c) { return is_in_name(c) || c == '/' || c == '.' || c == '-'; };
  for (std::size_t at = 0; (at = text.find(path, at)) != std::string::npos;) {
    if (at > 0 && continues(text[at - 1])) {
      at += path.size();
      continue;
    }
    text.replace(at, path.size(), name);
    at += name.size();
  }
}

/// A compiler names the source, and what it includes from its folder, by the absolute paths that it was given.
std::string with_names_of_suite(std::string output, const CompileRequest& request) {
  const fs::path folder = request.source.parent_path();
  if (request.name.empty() || folder == folder.root_path()) return output;
  rename_paths(output, request.source.string(), request.name);
  rename_paths(output, (folder / "").string(), (fs::path(request.name).parent_path() / "").string());
  return output;
}

/// The compiler's own lines follow the first one.
[[noreturn]] void fail(const CompileRequest& request, const std::string& message) {
  throw Error(fmt::format("{} does not compile:\n{}", request.name.empty() ? request.source.string() : request.name,
                          with_names_of_suite(message, request)));
}

void run_or_fail(const CompileRequest& request, const std::vector<std::string>& command) {
  const CompilerRun run = run_compiler(command, request.limit_s);
  if (run.status != 0) fail(request, run.output.empty() ? fmt::format("{} failed", command[0]) : run.output);
}

/// Two steps, with the assembly between them. `command` has everything but its output.
void compile_without_failed_forwards(const CompileRequest& request, std::vector<std::string> command,
                                     const fs::path& out) {
  const Temporary before(out.string() + ".before.s"), after(out.string() + ".s");
  command.insert(command.end(), {"-fno-lto", "-S", "-o", before.path().string()});
  run_or_fail(request, command);
  const std::string assembly = without_failed_forwards(read_file(before.path(), kSourceLimit));
  if (assembly.empty()) throw Error("no load fails to be forwarded");
  write_file(after.path(), assembly);
  std::vector<std::string> assemble = host_compiler(request.kind);
  assemble.insert(assemble.end(), {"-shared", "-fPIC", "-o", out.string(), after.path().string(), "-lm"});
  run_or_fail(request, assemble);
}

void compile_for_host(const CompileRequest& request, const fs::path& out) {
  const bool c = request.kind == SourceKind::c;
  const Temporary text(out.string() + (c ? ".c" : ".cpp"));
  const std::string name = request.source.string();
  // An #include has no escapes: such a file is included by the command line.
  const bool quoted = name.find('"') != std::string::npos;
  const bool has_source = request.kind != SourceKind::shared_library;
  const std::string source = !has_source
                                 ? ""
                                 : fmt::format("#line 1 \"(the suite)\"\n{}#line 1 \"(the call of the kernel)\"\n",
                                               quoted ? "" : fmt::format("#include \"{}\"\n", name));
  write_file(text.path(), request.prologue + source + request.epilogue);
  std::vector<std::string> command = host_compiler(request.kind);
  // Nobody replaces a function of the library: calls within it are direct and can be inlined, as in a program.
  for (const char* option : {"-shared", "-fPIC", "-fno-semantic-interposition", "-O3", "-march=native"})
    command.emplace_back(option);
  command.emplace_back(c ? "-std=gnu11" : "-std=gnu++17");
  // In C a pointer of the wrong type would be a warning, and the kernel's result nonsense.
  if (c) command.insert(command.end(), {"-Werror=incompatible-pointer-types", "-Werror=int-conversion"});
  if (c) command.emplace_back("-Werror=implicit-function-declaration");
  const auto more = preprocessor_options(request);
  command.insert(command.end(), more.begin(), more.end());
  if (has_source && quoted) command.insert(command.end(), {"-include", name});
  command.push_back(text.path().string());
  command.insert(command.end(), request.options.begin(), request.options.end());
  if (request.without_failed_forwards) return compile_without_failed_forwards(request, std::move(command), out);
  command.insert(command.end(), {"-o", out.string(), "-lm"});
  run_or_fail(request, command);
}

/// "saxpy<float>" of "void saxpy<float>(float const*, float*)", without blanks.
std::string base_name(const std::string& mangled) {
  int status = 0;
  char* text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  if (status != 0 || text == nullptr) return mangled;
  std::string name = text;
  std::free(text);
  int depth = 0;
  std::size_t end = name.size();
  std::size_t begin = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (depth == 0 && name[i] == ' ' && end == name.size()) begin = i + 1;
    if (depth == 0 && name[i] == '(' && end == name.size()) end = i;
  }
  name = begin < end ? name.substr(begin, end - begin) : name;
  std::erase(name, ' ');
  return name;
}

std::vector<std::string> kernels_in(const fs::path& file) {
  const std::string bytes = read_file(file);
  std::vector<std::string> names;
  if (file.extension() == ".ptx") {
    std::istringstream words(bytes);
    for (std::string word; words >> word;) {
      if (word != ".entry" || !(words >> word)) continue;
      names.push_back(word.substr(0, word.find('(')));
    }
    return names;
  }
  for (const KernelCode& kernel : find_kernels(std::as_bytes(std::span(bytes)))) {
    if (std::find(names.begin(), names.end(), kernel.name) == names.end()) names.push_back(kernel.name);
  }
  return names;
}

/// The kernel that an entry means: by its name in the machine code, or as C++ writes it.
std::string find_entry(const CompileRequest& request, const std::string& entry,
                       const std::vector<std::string>& kernels) {
  std::string wanted = entry;
  std::erase(wanted, ' ');
  std::vector<std::string> found;
  for (const std::string& kernel : kernels) {
    if (kernel == wanted) return kernel;
    if (base_name(kernel) == wanted) found.push_back(kernel);
  }
  if (found.size() == 1) return found.front();
  // A compressed fat binary can't be looked into: then the name is the driver's to know.
  if (kernels.empty() && request.kind == SourceKind::fatbin) return entry;
  std::vector<std::string> names;
  for (const std::string& kernel : found.empty() ? kernels : found) names.push_back(base_name(kernel));
  throw Error(fmt::format("{} has {} '{}' (it has: {})", request.source.string(),
                          found.empty() ? "no kernel" : "several kernels", entry, fmt::join(names, ", ")));
}

void write_names(const fs::path& out, const std::vector<std::string>& names) {
  write_file(out.string() + ".names", fmt::format("{}\n", fmt::join(names, "\n")));
}

void compile_by_nvcc(const CompileRequest& request, const std::string& nvcc, const fs::path& out) {
  std::vector<fs::path> names = request.include;
  names.push_back(request.source);
  for (const fs::path& name : names) {
    if (name.string().find('"') == std::string::npos) continue;
    throw Error(fmt::format("{}: nvcc and ptxas cannot compile a path that contains '\"'", name.string()), "rename it");
  }
  std::string text = fmt::format("#include \"{}\"\n", request.source.string());
  // A template whose address is taken is instantiated.
  for (std::size_t i = 0; i < request.entries.size(); ++i) {
    const std::string& entry = request.entries[i];
    if (entry.find('<') == std::string::npos) continue;
    text +=
        fmt::format("__attribute__((used)) static void* roofline_entry_{} = reinterpret_cast<void*>(&{});\n", i, entry);
  }
  const Temporary source(out.string() + ".cu");
  write_file(source.path(), text);
  std::vector<std::string> command = {nvcc, "-cubin", "-arch=" + request.architecture, "-O3", "-lineinfo"};
  const auto more = preprocessor_options(request);
  command.insert(command.end(), more.begin(), more.end());
  command.insert(command.end(), {"-o", out.string(), source.path().string()});
  command.insert(command.end(), request.options.begin(), request.options.end());
  run_or_fail(request, command);
}

void compile_for_cuda(const CompileRequest& request, const fs::path& out) {
  const std::string nvcc = request.compiler == CudaCompiler::nvrtc ? "" : nvcc_path();
  if (request.compiler != CudaCompiler::nvcc) {
    std::vector<std::string> options = preprocessor_options(request);
    options.push_back("-I" + request.source.parent_path().string());
    options.insert(options.end(), request.options.begin(), request.options.end());
    const NvrtcResult result = nvrtc_compile(read_file(request.source, kSourceLimit), request.source.string(),
                                             request.architecture, options, request.entries);
    if (result.compiled) {
      write_file(out, result.cubin);
      write_names(out, result.names);
      return;
    }
    if (nvcc.empty() && !result.available) {
      throw Error("there is no CUDA compiler: neither NVRTC (libnvrtc.so) nor nvcc was found",
                  "install the CUDA Toolkit, or name a .ptx or .cubin as the source");
    }
    if (nvcc.empty()) fail(request, result.log);
  }
  if (nvcc.empty()) throw Error("nvcc was not found", "put it in PATH, or name it in $CUDACXX");
  compile_by_nvcc(request, nvcc, out);
  std::vector<std::string> names;
  const std::vector<std::string> kernels = kernels_in(out);
  for (const std::string& entry : request.entries) names.push_back(find_entry(request, entry, kernels));
  write_names(out, names);
}

/// What failed in compile_ahead(), by key: a process that is forked later knows it.
std::map<std::string, std::string>& failures() {
  static std::map<std::string, std::string> known;
  return known;
}

bool needs_compiler(SourceKind kind) {
  return kind != SourceKind::ptx && kind != SourceKind::cubin && kind != SourceKind::fatbin;
}

std::string extension_of(const CompileRequest& request) {
  return device_of(request.kind) == DeviceKind::cuda ? ".cubin" : ".so";
}

fs::path names_of(const fs::path& file) { return file.string() + ".names"; }

/// The content of a regular file that belongs to this user and that no other user can write; otherwise nothing.
std::optional<std::string> own_content(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (status.st_uid != ::geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return std::nullopt;
  std::string content(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t end = 0;
  while (end < content.size()) {
    const ssize_t got = ::read(file.get(), content.data() + end, content.size() - end);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    end += static_cast<std::size_t>(got);
  }
  return content;
}

/// Of a compiled file, and of the names beside a cubin; nothing where one of them is not ours alone. It finds damage:
/// against others stand owner, mode and folder.
std::optional<std::string> content_hash(const CompileRequest& request, const fs::path& path) {
  ContentHash hash;
  std::vector<fs::path> files = {path};
  if (device_of(request.kind) == DeviceKind::cuda) files.push_back(names_of(path));
  for (const fs::path& file : files) {
    const std::optional<std::string> content = own_content(file);
    if (!content) return std::nullopt;
    hash.add(*content);
  }
  return hash.text();
}

/// What was compiled before. A file's name is its key and the hash of its content; one that has another is removed.
std::optional<fs::path> kept(const CompileRequest& request, const std::string& key) {
  const std::string start = key + "-";
  std::vector<fs::path> found;
  std::error_code hidden;
  for (const auto& entry : fs::directory_iterator(kernel_folder().path, hidden)) {
    const fs::path& path = entry.path();
    if (path.filename().string().starts_with(start) && path.extension() == extension_of(request)) found.push_back(path);
  }
  std::sort(found.begin(), found.end());
  for (const fs::path& path : found) {
    if (content_hash(request, path) == path.stem().string().substr(start.size())) return path;
    fs::remove(path, hidden);
    fs::remove(names_of(path), hidden);
  }
  return std::nullopt;
}

/// On the disk before it has its name: after a power loss it is whole or absent.
void flush(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  // Some file systems have no fsync for a folder.
  if (file.get() < 0 || ::fsync(file.get()) == 0 || errno == EINVAL || errno == EROFS) return;
  throw Error(fmt::format("{}: {}", path.string(), std::generic_category().message(errno)));
}

fs::path compile_as(const CompileRequest& request, const std::string& key) {
  if (const std::optional<fs::path> path = kept(request, key)) return *path;
  // Renamed when it is whole, its names first: another process may be at the same.
  const fs::path folder = kernel_folder().path;
  const Temporary out(folder / fmt::format("{}.{}{}", key, ::getpid(), extension_of(request)));
  const Temporary names(names_of(out.path()));
  const bool cuda = device_of(request.kind) == DeviceKind::cuda;
  if (cuda) {
    compile_for_cuda(request, out.path());
  } else {
    compile_for_host(request, out.path());
  }
  for (const fs::path& file : {out.path(), names.path()}) {
    if (file == names.path() && !cuda) continue;
    std::error_code hidden;
    fs::permissions(file, fs::perms::owner_all, hidden);  // whatever the umask
    flush(file);
  }
  const std::optional<std::string> hash = content_hash(request, out.path());
  if (!hash) throw Error(fmt::format("{}: the compiler wrote no file that is yours alone", out.path().string()));
  const fs::path path = folder / fmt::format("{}-{}{}", key, *hash, extension_of(request));
  if (cuda) fs::rename(names.path(), names_of(path));
  fs::rename(out.path(), path);
  flush(folder);
  return path;
}

/// The beginning, which names the first mistake, and the end of what a compiler prints: it may print without end.
void bound_output(std::string& output) {
  constexpr std::size_t kHead = std::size_t{64} << 10;
  constexpr std::size_t kTail = kHead;
  constexpr std::string_view kGap = "\n[...]\n";
  if (output.size() <= kHead + kGap.size() + 2 * kTail) return;
  output.replace(kHead, output.size() - kHead - kTail, kGap);
}

/// In a child process: the exit code, and the reason of a failure in a pipe.
int compile_and_report(const CompileRequest& request, const std::string& key, int pipe) {
  try {
    compile_as(request, key);
    return 0;
  } catch (const std::exception& error) {
    write_all(pipe, error.what());
    return 1;
  }
}

}  // namespace

bool has_compiler(SourceKind kind) {
  const std::vector<std::string> command =
      kind == SourceKind::cuda ? std::vector<std::string>{nvcc_path()} : host_compiler(kind);
  return !command.empty() && !command.front().empty() && !program_file(command.front()).empty();
}

std::string kernel_cache_problem() {
  for (const auto& [environment, folder] : kernel_folders()) {
    if (!folder.problem.empty()) return folder.problem;
  }
  return {};
}

CompilerRun run_compiler(const std::vector<std::string>& argv, double limit_s) {
  Channel output = Channel::pipe();
  const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Process compiler;
  try {
    // Compilers start others: they are ended as one group.
    compiler = Process::execute({.argv = argv,
                                 .standard_input = nothing.get(),
                                 .standard_output = output.child.get(),
                                 .standard_error = output.child.get(),
                                 .own_group = true});
  } catch (const std::system_error& error) {
    throw Error(fmt::format("can't run the compiler '{}': {}", argv[0], error.code().message()),
                "install it, or name another one in $CC, $CXX or $CUDACXX");
  }
  output.child.close();
  CompilerRun run;
  const double end = wall_seconds() + limit_s;
  bool ended = false;
  while (read_some(output.parent.get(), run.output, std::chrono::milliseconds(100)) != Arrival::closed) {
    bound_output(run.output);
    if (ended || (!interrupted() && wall_seconds() <= end)) continue;
    ended = true;
    compiler.signal(SIGKILL);
  }
  const std::optional<int> status = compiler.reap(kReapTimeout + std::chrono::seconds(static_cast<int>(limit_s)));
  if (ended && !interrupted()) {
    throw Error(
        fmt::format("'{}' was ended after {:g} s, the limit for compiling (five times time_limit)", argv[0], limit_s));
  }
  run.status = status.value_or(-1);
  while (!run.output.empty() && run.output.back() == '\n') run.output.pop_back();
  return run;
}

fs::path compiled(const CompileRequest& request) {
  if (!needs_compiler(request.kind)) return request.source;
  const std::string key = key_of(request);
  const auto failed = failures().find(key);
  if (failed != failures().end()) throw Error(failed->second);
  return compile_as(request, key);
}

void compile_ahead(const std::vector<CompileRequest>& requests, const std::function<void(std::size_t)>& progress) {
  struct Running {
    std::string key;
    Process process;
    Descriptor input;
    std::string complaint = {};
  };
  std::vector<Running> running;
  std::set<std::string> begun;
  std::size_t done = 0;
  const auto wait_for_one = [&] {
    std::vector<pollfd> inputs;
    for (const Running& one : running) inputs.push_back({one.input.get(), POLLIN, 0});
    ::poll(inputs.data(), inputs.size(), -1);
    std::erase_if(running, [&](Running& one) {
      if (read_some(one.input.get(), one.complaint, {}) != Arrival::closed) return false;
      const std::optional<int> status = one.process.reap(kReapTimeout);
      if (status != 0) failures()[one.key] = one.complaint.empty() ? "the compiler ended unexpectedly" : one.complaint;
      progress(++done);
      return true;
    });
  };
  for (const CompileRequest& request : requests) {
    if (interrupted()) break;
    if (!needs_compiler(request.kind)) continue;
    const std::string key = key_of(request);
    if (!begun.insert(key).second || kept(request, key)) continue;
    while (running.size() >= static_cast<std::size_t>(host_threads())) wait_for_one();
    Channel channel = Channel::pipe();
    Process process;
    try {
      process = Process::fork([&] { return compile_and_report(request, key, channel.child.get()); });
    } catch (const Error&) {
      break;  // the rest is compiled when it is needed
    }
    running.push_back({key, std::move(process), std::move(channel.parent)});
  }
  while (!running.empty()) wait_for_one();
}

std::vector<std::string> entry_names(const CompileRequest& request, const fs::path& compiled) {
  std::vector<std::string> names;
  if (request.kind == SourceKind::cuda) {
    std::istringstream lines(read_file(names_of(compiled)));
    for (std::string line; std::getline(lines, line);) names.push_back(line);
    return names;
  }
  const std::vector<std::string> kernels = kernels_in(compiled);
  for (const std::string& entry : request.entries) names.push_back(find_entry(request, entry, kernels));
  return names;
}

}  // namespace roofline
