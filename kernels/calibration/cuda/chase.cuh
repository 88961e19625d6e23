// A pointer chase: one thread follows a random cycle through a set; each loaded value is the next address.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/calibration/cuda/probe.cuh"

namespace roofline {

inline constexpr std::int64_t kChaseStride = 128;  // a line

/// A chase of that many accesses per launch through 2^bits lines of `set`, bypassing L1, which continues where the
/// previous launch ended. The set may be in the memory of a peer GPU. The caller sets caches and texts.
ProbeCase chase_case(CudaDevice& device, std::shared_ptr<Buffer> set, int bits, std::uint32_t accesses);

/// Chases until each line of the set has been visited once.
void chase_all(CudaDevice& device, const ProbeCase& made, int bits);

}  // namespace roofline
