// The GPUs of a torch.profiler trace: those that its events name, and what its header says of them.
#pragma once

#include <vector>

#include "import/kineto_events.hpp"

namespace roofline::kineto {

/// The GPUs that events ran on. Builds for ROCm name their categories like CUDA's ("cuda_runtime"): AMD's GPUs are told
/// by waves of 64 lanes, by the header's versions of HIP, and by calls of HIP.
std::vector<DeviceFacts> devices_of(const Events& events);

}  // namespace roofline::kineto
