// A pointer chase: one thread follows a random cycle through a set, each address being what the last access brought.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/calibration/cuda/probe.cuh"

namespace roofline {

inline constexpr std::int64_t kChaseStride = 128;  // a line

/// A chase of so many accesses a launch through 2^bits lines of `set`, past L1, which goes on where the launch before
/// it ended. The set may be in the memory of another GPU that this one can reach. Leaves caches and texts to the
/// caller.
ProbeCase chase_case(CudaDevice& device, std::shared_ptr<Buffer> set, int bits, std::uint32_t accesses);

/// Chases until each line of the set has been met once.
void chase_all(CudaDevice& device, const ProbeCase& made, int bits);

}  // namespace roofline
