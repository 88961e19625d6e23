// What the threads of a program did at the same time: when one alone was busy, and what all waited for. Pure.
#pragma once

#include <map>
#include <vector>

#include "report/host_profile.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// `charged`: by stack, the frame that its time belongs to. `index_of`: of frames that have a line in `lines`.
HostAlone host_alone(const HostSamples& samples, const std::vector<int>& charged, const std::vector<HostLineSum>& lines,
                     const std::map<int, int>& index_of);
HostIdle host_idle(const HostSamples& samples, const std::vector<int>& charged, const std::map<int, int>& index_of);

}  // namespace roofline
