// How many blocks of a kernel fit on an SM, and what stands in the way of more. Pure arithmetic.
#pragma once

#include <cstdint>

#include "model/counters.hpp"

namespace roofline {

/// What one SM has to give.
struct SmLimits {
  std::int64_t threads = 0;
  std::int64_t blocks = 0;
  std::int64_t registers = 0;
  double shared_bytes = 0;
  double reserved_shared_bytes = 0;  ///< that the system takes for each block
};

/// Sets `limit`, `occupancy` and `waves` of a kernel from its layout and, where it is known, `blocks_per_sm`; where
/// that is 0, it is computed. Registers are given to warps in units of 256, and evenly to four schedulers (CUDA C++
/// Programming Guide, "Compute Capabilities", since sm_70).
void fill_occupancy(KernelLaunch& kernel, const SmLimits& sm, std::int64_t sm_count);

}  // namespace roofline
