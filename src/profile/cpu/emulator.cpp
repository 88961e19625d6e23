#include "profile/cpu/emulator.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <system_error>

#include "profile/cpu/counted_instructions.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

constexpr const char* kToolName = "roofline_count";
/// The program's own limit comes first; one that hangs is ended by roofline.
constexpr double kGraceOfTool = 20;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_executable(const fs::path& path) { return ::access(path.c_str(), X_OK) == 0 && !fs::is_directory(path); }

/// Valgrind's folder with what its core loads into programs; empty: not installed.
fs::path valgrind_folder() {
  std::error_code hidden;
  for (const std::string& folder :
       {variable("VALGRIND_LIB"), std::string("/usr/libexec/valgrind"), std::string("/usr/lib/valgrind"),
        std::string("/usr/lib/x86_64-linux-gnu/valgrind"), std::string("/usr/local/libexec/valgrind")}) {
    if (!folder.empty() && fs::exists(fs::path(folder) / "default.supp", hidden)) return folder;
  }
  return {};
}

}  // namespace

CountTool find_count_tool() {
  CountTool found;
  if (const std::string named = variable(kCountToolVariable); !named.empty()) {
    if (is_executable(named)) {
      found.tool = fs::absolute(named);
    } else {
      found.why_not = fmt::format("{} is {}, which is no program", kCountToolVariable, named);
      found.hint = fmt::format("unset {}", kCountToolVariable);
    }
    return found;
  }
  std::error_code hidden;
  const fs::path folder = fs::read_symlink("/proc/self/exe", hidden).parent_path();
  for (const fs::path& place :
       {folder / kToolName, folder / "../libexec/roofline" / kToolName, folder / "../lib/roofline" / kToolName,
        folder / "src/emulate" / kToolName, folder / "src" / kToolName}) {
    if (!is_executable(place)) continue;
    if (!valgrind_folder().empty()) {
      found.tool = fs::absolute(place).lexically_normal();
      return found;
    }
    found.why_not = "counting instructions needs Valgrind, which is not installed";
    found.hint = "install the package valgrind (apt install valgrind, dnf install valgrind)";
    return found;
  }
  found.why_not = fmt::format("{} was not found beside roofline", kToolName);
  found.hint = fmt::format("install Valgrind with its headers (apt install valgrind) and build roofline again with "
                           "-DROOFLINE_VALGRIND=ON, or set {}",
                           kCountToolVariable);
  return found;
}

ProgramOptions emulated_program(const ProgramOptions& native, const fs::path& tool, const fs::path& folder,
                                double limit_s) {
  ProgramOptions emulated = native;
  const auto seconds = static_cast<long>(std::ceil(limit_s));
  emulated.command = {tool.string(), fmt::format("--counts-file={}", (folder / "%p").string() + std::string(kCountsExtension)),
                      "--trace-children=yes", fmt::format("--stop-after={}", seconds), "--quiet"};
  emulated.command.insert(emulated.command.end(), native.command.begin(), native.command.end());
  emulated.environment["VALGRIND_LAUNCHER"] = tool.string();
  if (const fs::path library = valgrind_folder(); !library.empty()) {
    emulated.environment["VALGRIND_LIB"] = library.string();
  }
  // Threads take turns under emulation: one that spins would use up the turns of those that work.
  emulated.environment["OMP_WAIT_POLICY"] = "passive";
  emulated.stop_after_s = limit_s + kGraceOfTool;
  emulated.sample_host = false;
  emulated.quiet = true;
  return emulated;
}

}  // namespace roofline
