// Operations of one file's code, counted under emulation.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/work_bounds.hpp"
#include "profile/cpu/counted_instructions.hpp"

namespace roofline {

/// What the code of the file `module` executed, with the part of libraries' FLOPs that its calls caused.
ExecutedOperations executed_operations(const CountedInstructions& counted, const std::string& module);

/// Runs the command with the tool (emulator.hpp), for `limit_s` at most, its output discarded. std::nullopt if it was
/// not counted to its end, or never executed code of `module`.
std::optional<ExecutedOperations> count_operations(const std::filesystem::path& tool,
                                                   const std::vector<std::string>& command,
                                                   const std::map<std::string, std::string>& environment,
                                                   const std::filesystem::path& module, double limit_s);

}  // namespace roofline
