// Finds the tool that counts a program's instructions under emulation, and starts programs with it.
#pragma once

#include <filesystem>
#include <string>

#include "profile/program.hpp"

namespace roofline {

/// Environment variable with the path of the tool.
inline constexpr const char* kCountToolVariable = "ROOFLINE_COUNT_TOOL";

struct CountTool {
  std::filesystem::path tool;  ///< empty: unavailable
  std::string why_not, hint;   ///< reason, and what to install; empty if available
};
/// Looks for roofline_count beside this program, in its libexec folder and in its build folder. It needs Valgrind's
/// files.
CountTool find_count_tool();

/// Command that runs the program with the tool, or qemu-aarch64 with the plugin beside it (UsageError if it is
/// missing), which writes one file per process into `folder` and stops each after `limit_s`. Caches and branches are
/// modelled in `model_share` percent of the time. Output is discarded; stdin is empty.
ProgramOptions emulated_program(const ProgramOptions& native, const std::filesystem::path& tool,
                                const std::filesystem::path& folder, double limit_s, int model_share = 100);

}  // namespace roofline
