// The tool that counts a program's instructions under emulation: where it is, and how a program is started with it.
#pragma once

#include <filesystem>
#include <string>

#include "profile/program.hpp"

namespace roofline {

/// Names the tool where it is not in its usual place.
inline constexpr const char* kCountToolVariable = "ROOFLINE_COUNT_TOOL";

struct CountTool {
  std::filesystem::path tool;  ///< empty: it can't be used
  std::string why_not, hint;   ///< then why, and what to install; else empty
};
/// roofline_count beside this program, in its libexec folder or in its build folder; it needs files of Valgrind.
CountTool find_count_tool();

/// The program with the tool, which writes one file per process into `folder` and ends each after `limit_s`. Its output
/// is discarded, and it reads nothing.
ProgramOptions emulated_program(const ProgramOptions& native, const std::filesystem::path& tool,
                                const std::filesystem::path& folder, double limit_s);

}  // namespace roofline
