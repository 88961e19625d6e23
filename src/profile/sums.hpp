// Sums of a recording by call, copy direction, range, module and line.
#pragma once

#include <string>
#include <vector>

#include "model/machine.hpp"
#include "profile/intervals.hpp"
#include "profile/recording.hpp"
#include "report/profile.hpp"

namespace roofline {

/// Driver calls including launches, largest total first.
std::vector<CallSum> sum_calls(const Recording& recording);

/// Direction of a copy and its kinds of memory.
CopyPath copy_path(const spool::Copy& copy);

/// Copies and memsets by direction, each with the measured roof of its link, largest total first. If `within` (sorted,
/// disjoint) is not empty, only those that begin in it.
std::vector<CopySum> sum_copies(const Recording& recording, const Machine& machine,
                                const std::vector<Span>& within = {});

/// NVTX ranges: time of the kernels launched in each, and host time.
std::vector<TreeSum> sum_ranges(const Recording& recording);

/// Modules; backward kernels are attributed to the module of their forward.
std::vector<TreeSum> sum_modules(const Recording& recording);

/// Lines of the program's own Python code, largest total first. Paths below `folder` are shortened.
std::vector<LineSum> sum_lines(const Recording& recording, const std::string& folder);

/// Total seconds of all kernels.
double kernel_seconds(const Recording& recording);

}  // namespace roofline
