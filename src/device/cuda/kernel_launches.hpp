// How the kernels of a launch are laid out: grid, block, registers, shared memory. Needs no right to counters.
#pragma once

#include <functional>
#include <vector>

#include "model/counters.hpp"

namespace roofline {

class CudaDevice;

/// Captures `launch` into a graph without running it and reads the nodes; kernels of libraries are included. Nodes that
/// are no kernels (copies, fills) are left out. Throws Error.
std::vector<KernelLaunch> kernel_launches(const CudaDevice& device, const std::function<void()>& launch);

}  // namespace roofline
