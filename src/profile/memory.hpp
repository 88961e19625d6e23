// GPU memory of a recording: curves, memory in use at the peak, growth.
#pragma once

#include "profile/recording.hpp"
#include "profile/steps.hpp"
#include "report/profile.hpp"

namespace roofline {

/// One entry per process and GPU with recorded memory, largest first. `step_s`: length of a step; 0 without steps.
std::vector<GpuMemory> device_memory(const Recording& recording, const FoundSteps& found, double step_s);

}  // namespace roofline
