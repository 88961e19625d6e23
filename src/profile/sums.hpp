// Sums of a recording by what people ask for: by call, by direction of copies, by range, by module, by line.
#pragma once

#include <string>
#include <vector>

#include "model/machine.hpp"
#include "profile/intervals.hpp"
#include "profile/recording.hpp"
#include "report/profile.hpp"

namespace roofline {

/// Calls of the driver, launches among them, largest total first.
std::vector<CallSum> sum_calls(const Recording& recording);

/// Which way a copy goes, and between what kinds of memory.
CopyPath copy_path(const spool::Copy& copy);

/// Copies and memsets by direction, each against the measured roof of its link, largest total first; where `within`
/// (sorted, disjoint) is not empty, those that begin in it.
std::vector<CopySum> sum_copies(const Recording& recording, const Machine& machine,
                                const std::vector<Span>& within = {});

/// NVTX ranges: time of the kernels launched in each, and of the host.
std::vector<TreeSum> sum_ranges(const Recording& recording);

/// Modules; backward kernels are booked to the module of their forward.
std::vector<TreeSum> sum_modules(const Recording& recording);

/// Lines of the program's own Python code, largest total first. Files below `folder` are named from there.
std::vector<LineSum> sum_lines(const Recording& recording, const std::string& folder);

/// Seconds of all kernels.
double kernel_seconds(const Recording& recording);

}  // namespace roofline
