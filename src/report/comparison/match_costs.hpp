// Matches causes and kernels of two programs. Internal to the comparison.
#pragma once

#include <string>
#include <vector>

#include "report/comparison/program_change.hpp"

namespace roofline {

/// Matches causes by kind, cause, kernel and line, then the rest by file and function, because line numbers change with
/// edits. Largest difference first; differences below `visible_s` are reported as same.
std::vector<CauseChange> match_causes(const ProgramCost& before, const ProgramCost& now, double visible_s);

/// Matches kernels by name. Largest difference first.
std::vector<KernelChange> match_kernels(const ProgramCost& before, const ProgramCost& now, double visible_s);

/// Matches causes of the host by kind and line, then by file and function, as match_causes() does.
std::vector<HostCauseChange> match_host_causes(const ProgramCost& before, const ProgramCost& now, double visible_s);

/// Matches functions by name. Largest difference first; differences within the noise of sampling are reported as same.
std::vector<FunctionChange> match_functions(const ProgramCost& before, const ProgramCost& now, double visible_s);

/// The file and function of a line: "train.py load_batch" for "train.py:31 load_batch".
std::string without_line_number(const std::string& line);

}  // namespace roofline
