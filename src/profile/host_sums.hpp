// Host samples → sums by line, function, thread and process.
#pragma once

#include <cstdint>
#include <vector>

#include "report/host_profile.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// The sums of all samples: a function of its argument.
HostProfile host_profile(const HostSamples& samples);

/// The samples of a part of the time.
HostSamples cut(HostSamples samples, std::uint64_t start, std::uint64_t end);

/// The frame of a stack that its time is charged to: the innermost one that is the program's own and has a line, else
/// the innermost own one, else the innermost. -1 for an empty stack.
int charged_frame(const HostSamples& samples, const std::vector<int>& stack);

}  // namespace roofline
