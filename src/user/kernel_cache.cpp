#include "user/kernel_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <system_error>
#include <vector>

#include "host/cache_folder.hpp"
#include "host/environment.hpp"
#include "host/files.hpp"
#include "host/private_folder.hpp"
#include "host/process.hpp"
#include "user/compilers.hpp"
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
    hash.add(fmt::format("{}={}", name, environment_variable(name)));
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

}  // namespace

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

/// The one of the environment as it is now. compile_ahead() asks for it before it forks: all processes use one folder,
/// and the first one removes a private one.
const fs::path& kernel_folder() {
  return kernel_folders()[environment_variable("XDG_CACHE_HOME") + "\n" + environment_variable("HOME")].path;
}

std::string kernel_cache_problem() {
  for (const auto& [environment, folder] : kernel_folders()) {
    if (!folder.problem.empty()) return folder.problem;
  }
  return {};
}

std::string extension_of(const CompileRequest& request) {
  return device_of(request.kind) == DeviceKind::cuda ? ".cubin" : ".so";
}

fs::path names_of(const fs::path& file) { return file.string() + ".names"; }

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

std::optional<fs::path> kept(const CompileRequest& request, const std::string& key) {
  const std::string start = key + "-";
  std::vector<fs::path> found;
  std::error_code hidden;
  for (const auto& entry : fs::directory_iterator(kernel_folder(), hidden)) {
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

}  // namespace roofline
