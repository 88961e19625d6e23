// Causes and kernels of two programs, matched. Internal to the comparison.
#pragma once

#include <string>
#include <vector>

#include "report/comparison/program_change.hpp"

namespace roofline {

/// By kind, cause, kernel and line; what is left by the line's file and function, because its number changes with edits
/// above it. The largest difference first; a difference below `visible_s` is none.
std::vector<CauseChange> match_causes(const ProgramCost& before, const ProgramCost& now, double visible_s);

/// By name. The largest difference first.
std::vector<KernelChange> match_kernels(const ProgramCost& before, const ProgramCost& now, double visible_s);

/// "train.py load_batch" of "train.py:31 load_batch".
std::string without_line_number(const std::string& line);

}  // namespace roofline
