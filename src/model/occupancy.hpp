// Resident blocks of a kernel per SM, and what limits them. Pure arithmetic.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/counters.hpp"

namespace roofline {

/// Resources of one SM.
struct SmLimits {
  std::int64_t threads = 0;
  std::int64_t blocks = 0;
  std::int64_t registers = 0;
  double shared_bytes = 0;
  double reserved_shared_bytes = 0;  /// reserved by the system per block
};

/// 90 for "sm_90"; 0 for other instruction sets.
int compute_capability(std::string_view isa);

/// Resources of an SM of that compute capability; std::nullopt if they are not known. CUDA C++ Programming Guide,
/// "Technical Specifications per Compute Capability".
std::optional<SmLimits> sm_limits_of(std::string_view isa);

/// Sets `limit`, `occupancy`, `waves` and `changes` of a kernel from its geometry and, if known, `blocks_per_sm`, which
/// is computed if it is 0. Registers are allocated per warp in units of 256, and evenly to four schedulers (CUDA C++
/// Programming Guide, "Compute Capabilities", since sm_70).
void fill_occupancy(KernelLaunch& kernel, const SmLimits& sm, std::int64_t sm_count);

}  // namespace roofline
