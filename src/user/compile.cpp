// Compilers are other people's programs: run without a shell, believed when they fail, and asked once for each content.
#include "user/compile.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>

#include "host/files.hpp"
#include "host/interrupt.hpp"
#include "host/process.hpp"
#include "op/host_parallel.hpp"
#include "user/compilers.hpp"
#include "user/forwarded_loads.hpp"
#include "user/kernel_cache.hpp"
#include "user/kernel_names.hpp"
#include "user/nvrtc.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

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
  if (assembly.empty()) throw Error("no load fails store forwarding");
  write_file(after.path(), assembly);
  std::vector<std::string> assemble = host_compiler(request.kind);
  assemble.insert(assemble.end(), {"-shared", "-fPIC", "-o", out.string(), after.path().string(), "-lm"});
  run_or_fail(request, assemble);
}

/// The compilers' name of an instruction set.
std::string march_of(const std::string& isa) {
  static const std::map<std::string, std::string> names = {
      {"sse2", "x86-64"}, {"avx2", "x86-64-v3"}, {"avx512", "x86-64-v4"}, {"neon", "armv8-a"}};
  const auto found = names.find(isa);
  return found == names.end() ? "native" : found->second;
}

/// Everything but the output. Writes the source to `text`, with the call that follows it.
std::vector<std::string> host_command(const CompileRequest& request, const fs::path& text) {
  const bool c = request.kind == SourceKind::c;
  const std::string name = request.source.string();
  // An #include has no escapes: such a file is included by the command line.
  const bool quoted = name.find('"') != std::string::npos;
  const bool has_source = request.kind != SourceKind::shared_library;
  const std::string source = !has_source
                                 ? ""
                                 : fmt::format("#line 1 \"(the suite)\"\n{}#line 1 \"(the call of the kernel)\"\n",
                                               quoted ? "" : fmt::format("#include \"{}\"\n", name));
  write_file(text, request.prologue + source + request.epilogue);
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
  command.push_back(text.string());
  command.insert(command.end(), request.options.begin(), request.options.end());
  // The last one counts: a suite's own -march is for this CPU.
  if (!request.architecture.empty()) command.push_back("-march=" + march_of(request.architecture));
  return command;
}

std::string text_extension(const CompileRequest& request) { return request.kind == SourceKind::c ? ".c" : ".cpp"; }

void compile_for_host(const CompileRequest& request, const fs::path& out) {
  const Temporary text(out.string() + text_extension(request));
  std::vector<std::string> command = host_command(request, text.path());
  if (request.without_failed_forwards) return compile_without_failed_forwards(request, std::move(command), out);
  command.insert(command.end(), {"-o", out.string(), "-lm"});
  run_or_fail(request, command);
}

void write_names(const fs::path& out, const std::vector<std::string>& names) {
  write_file(names_of(out), fmt::format("{}\n", fmt::join(names, "\n")));
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
  write_names(out, find_entries(request, out));
}

/// What failed in compile_ahead(), by key: a process that is forked later knows it.
std::map<std::string, std::string>& failures() {
  static std::map<std::string, std::string> known;
  return known;
}

bool needs_compiler(SourceKind kind) {
  return kind != SourceKind::ptx && kind != SourceKind::cubin && kind != SourceKind::fatbin;
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
  const fs::path folder = kernel_folder();
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
  if (!hash) throw Error(fmt::format("{}: other users can write the compiler's output", out.path().string()));
  const fs::path path = folder / fmt::format("{}-{}{}", key, *hash, extension_of(request));
  if (cuda) fs::rename(names.path(), names_of(path));
  fs::rename(out.path(), path);
  flush(folder);
  return path;
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

fs::path compiled(const CompileRequest& request) {
  if (!needs_compiler(request.kind)) return request.source;
  const std::string key = key_of(request);
  const auto failed = failures().find(key);
  if (failed != failures().end()) throw Error(failed->second);
  return compile_as(request, key);
}

std::string vectorizer_remarks(const CompileRequest& request) {
  const Temporary out(kernel_folder() / fmt::format("remarks.{}.so", ::getpid()));
  const Temporary text(out.path().string() + text_extension(request));
  const std::vector<std::string> of_gcc = {"-fopt-info-vec-optimized-missed"};
  const std::vector<std::string> of_clang = {"-Rpass=loop-vectorize", "-Rpass-missed=loop-vectorize",
                                             "-Rpass-analysis=loop-vectorize"};
  for (const std::vector<std::string>& options : {of_gcc, of_clang}) {
    std::vector<std::string> command = host_command(request, text.path());
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"-o", out.path().string(), "-lm"});
    if (const CompilerRun run = run_compiler(command, request.limit_s); run.status == 0) return run.output;
  }
  return {};
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
  if (request.kind != SourceKind::cuda) return find_entries(request, compiled);
  std::vector<std::string> names;
  std::istringstream lines(read_file(names_of(compiled)));
  for (std::string line; std::getline(lines, line);) names.push_back(line);
  return names;
}

}  // namespace roofline
