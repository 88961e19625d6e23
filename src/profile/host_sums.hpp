// Sums of host samples by line, function, thread and process.
#pragma once

#include <cstdint>
#include <vector>

#include "report/host_profile.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// Sums over all samples. Pure.
HostProfile host_profile(const HostSamples& samples);

/// The samples within a time range.
HostSamples cut(HostSamples samples, std::uint64_t start, std::uint64_t end);
/// The samples of a run from `start` to `end` without its first seconds; gives the reason if none remain.
HostSamples after_warmup(HostSamples samples, double warmup_s, std::uint64_t start, std::uint64_t end);

/// The frame that the time of a stack is attributed to: the innermost frame of the program's own code with a line, else
/// the innermost own frame, else the innermost frame. -1 for an empty stack.
int charged_frame(const HostSamples& samples, const std::vector<int>& stack);

}  // namespace roofline
