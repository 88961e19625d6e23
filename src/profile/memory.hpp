// Memory of GPUs: records of a recording → curves, what is in use at the peak, growth.
#pragma once

#include "profile/recording.hpp"
#include "profile/steps.hpp"
#include "report/profile.hpp"

namespace roofline {

/// Of each process on each GPU whose memory was recorded, the largest first. `step_s`: of a step where the program has
/// steps; 0: none were found.
std::vector<GpuMemory> device_memory(const Recording& recording, const FoundSteps& found, double step_s);

}  // namespace roofline
