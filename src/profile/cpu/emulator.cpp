#include "profile/cpu/emulator.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <system_error>

#include "host/environment.hpp"
#include "host/files.hpp"
#include "model/error.hpp"
#include "profile/cpu/counted_instructions.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

constexpr const char* kToolName = "roofline_count";
/// The program's own limit comes first; one that hangs is ended by roofline.
constexpr double kGraceOfTool = 20;

/// Valgrind would count QEMU's own instructions.
bool is_run_by_qemu(const std::vector<std::string>& command) {
  return !command.empty() && fs::path(command.front()).filename() == "qemu-aarch64";
}

/// QEMU with our plugin, which counts the program that it runs. Its default CPU has SVE, which the plugin cannot count.
void count_by_qemu(ProgramOptions& emulated, const fs::path& tool, const fs::path& folder) {
  const fs::path plugin = tool.parent_path() / "roofline_count_qemu.so";
  if (std::error_code hidden; !fs::exists(plugin, hidden)) {
    throw UsageError(fmt::format("counting AArch64 programs needs {}, which was not found", plugin.string()),
                     "build roofline again, or remove --emulate");
  }
  const std::vector<std::string> added = {
      "-plugin", fmt::format("{},counts={}/%p{}", plugin.string(), folder.string(), kCountsExtension)};
  emulated.command.insert(emulated.command.begin() + 1, added.begin(), added.end());
  if (environment_variable("QEMU_CPU").empty()) emulated.environment["QEMU_CPU"] = "cortex-a76";
}

bool is_executable(const fs::path& path) { return ::access(path.c_str(), X_OK) == 0 && !fs::is_directory(path); }

/// Valgrind's folder with what its core loads into programs; empty: not installed.
fs::path valgrind_folder() {
  std::error_code hidden;
  for (const std::string& folder :
       {environment_variable("VALGRIND_LIB"), std::string("/usr/libexec/valgrind"), std::string("/usr/lib/valgrind"),
        std::string("/usr/lib/x86_64-linux-gnu/valgrind"), std::string("/usr/local/libexec/valgrind")}) {
    for (const char* file : {"vgpreload_core-amd64-linux.so", "vgpreload_core-arm64-linux.so"}) {
      if (!folder.empty() && fs::exists(fs::path(folder) / file, hidden)) return folder;
    }
  }
  return {};
}

/// The caches of the first core, as the kernel describes them: "--l1=32768,8,64". The tool has sizes of its own for
/// others.
std::vector<std::string> cache_options() {
  constexpr int kMostCaches = 8;
  std::vector<std::string> options;
  for (int i = 0; i < kMostCaches; ++i) {
    const fs::path cache = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}", i);
    const std::string type = first_line(cache / "type"), size = first_line(cache / "size");
    const auto level = number_in(cache / "level"), ways = number_in(cache / "ways_of_associativity");
    const auto line = number_in(cache / "coherency_line_size"), kib = number_in(cache / "size");
    constexpr double kMostLevels = 3, kMostWays = 64, kKiB = 1024, kMostKiB = 1048576;
    const bool usable = (type == "Data" || type == "Unified") && level && ways && line && kib && size.ends_with("K");
    if (!usable || *level < 1 || *level > kMostLevels || *ways < 1 || *ways > kMostWays || *kib > kMostKiB) continue;
    options.push_back(fmt::format("--l{:.0f}={:.0f},{:.0f},{:.0f}", *level, *kib * kKiB, *ways, *line));
  }
  return options;
}

}  // namespace

CountTool find_count_tool() {
  CountTool found;
  if (const std::string named = environment_variable(kCountToolVariable); !named.empty()) {
    if (is_executable(named)) {
      found.tool = fs::absolute(named);
    } else {
      found.why_not = fmt::format("{} is {}, which is not a program", kCountToolVariable, named);
      found.hint = fmt::format("unset {}", kCountToolVariable);
    }
    return found;
  }
  std::error_code hidden;
  const fs::path folder = fs::read_symlink("/proc/self/exe", hidden).parent_path();
  for (const fs::path& place :
       {folder / kToolName, folder / "../libexec/roofline" / kToolName, folder / "../lib/roofline" / kToolName}) {
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
  found.hint = fmt::format(
      "install Valgrind with its headers (apt install valgrind) and build roofline again with "
      "-DROOFLINE_VALGRIND=ON, or set {}",
      kCountToolVariable);
  return found;
}

ProgramOptions emulated_program(const ProgramOptions& native, const fs::path& tool, const fs::path& folder,
                                double limit_s, int model_share) {
  ProgramOptions emulated = native;
  const auto seconds = static_cast<long>(std::ceil(limit_s));
  emulated.stop_after_s = limit_s + kGraceOfTool;
  emulated.sample_host = false;
  emulated.quiet = true;
  if (is_run_by_qemu(native.command)) {
    count_by_qemu(emulated, tool, folder);
    return emulated;
  }
  emulated.command = {tool.string(),
                      fmt::format("--tool={}", kToolName),
                      "--trace-children=yes",
                      "-q",
                      "--vgdb=no",
                      "--log-file=/dev/null",
                      "--fair-sched=try",
                      fmt::format("--counts-file={}/%p{}", folder.string(), kCountsExtension),
                      fmt::format("--stop-after={}", seconds),
                      fmt::format("--model-share={}", model_share)};
  for (std::string& cache : cache_options()) emulated.command.push_back(std::move(cache));
  emulated.command.insert(emulated.command.end(), native.command.begin(), native.command.end());
  if (const fs::path library = valgrind_folder(); !library.empty()) {
    emulated.environment["VALGRIND_LIB"] = library.string();
  }
  // Threads take turns under emulation: one that spins would use up the turns of those that work.
  emulated.environment["OMP_WAIT_POLICY"] = "passive";
  return emulated;
}

}  // namespace roofline
