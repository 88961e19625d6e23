#include "user/compilers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <system_error>

#include "host/host.hpp"
#include "host/interrupt.hpp"
#include "host/process.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

/// The words of $CC and the like: a compiler, perhaps behind a launcher.
std::vector<std::string> command_in(const char* variable, const std::string& otherwise) {
  const char* text = std::getenv(variable);
  std::istringstream words(text != nullptr && *text != '\0' ? text : otherwise);
  std::vector<std::string> command;
  for (std::string word; words >> word;) command.push_back(word);
  return command;
}

/// The beginning, which names the first mistake, and the end of what a compiler prints: it may print without end.
void bound_output(std::string& output) {
  constexpr std::size_t kHead = std::size_t{64} << 10;
  constexpr std::size_t kTail = kHead;
  constexpr std::string_view kGap = "\n[...]\n";
  if (output.size() <= kHead + kGap.size() + 2 * kTail) return;
  output.replace(kHead, output.size() - kHead - kTail, kGap);
}

}  // namespace

std::vector<std::string> host_compiler(SourceKind kind) {
  return kind == SourceKind::c ? command_in("CC", "cc") : command_in("CXX", "c++");
}

std::string nvcc_path() {
  if (const char* named = std::getenv("CUDACXX"); named != nullptr && *named != '\0') return named;
  if (std::string found = program_file("nvcc"); !found.empty()) return found;
  return ::access("/usr/local/cuda/bin/nvcc", X_OK) == 0 ? "/usr/local/cuda/bin/nvcc" : "";
}

std::string program_file(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + "/" + name).c_str(), X_OK) == 0) return folder + "/" + name;
  }
  return "";
}

std::string version_of(const std::vector<std::string>& compiler) {
  static std::map<std::vector<std::string>, std::string> known;
  const auto found = known.find(compiler);
  if (found != known.end()) return found->second;
  std::vector<std::string> command = compiler;
  command.emplace_back("--version");
  return known[compiler] = run_compiler(command, 60).output;
}

bool has_compiler(SourceKind kind) {
  const std::vector<std::string> command =
      kind == SourceKind::cuda ? std::vector<std::string>{nvcc_path()} : host_compiler(kind);
  return !command.empty() && !command.front().empty() && !program_file(command.front()).empty();
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

}  // namespace roofline
