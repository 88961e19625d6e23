// Placement of a case's tensors in device memory: guard zones, buffer sets, slabs. Pure arithmetic.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "model/names.hpp"
#include "op/tensor.hpp"
#include "op/workload.hpp"

namespace roofline {

/// Patterned bytes before and after each tensor. Out-of-bounds writes within this distance, or with smaller steps,
/// modify them.
inline constexpr std::int64_t kGuardBytes = 256;

/// More sets would not be colder, only slower to create: at 4096 the sets of a 64 MiB cache are 32 KiB each, and
/// smaller ones belong to kernels that the launch floor limits anyway.
inline constexpr std::int64_t kMaxBufferSets = 4096;

/// Bytes of one tensor with its guards, a multiple of 256: the distance between two sets of it.
std::int64_t guarded_bytes(const TensorSpec& tensor);

/// The cache that must not hold data of a cold launch.
struct LastLevelCache {
  double bytes = 0;  ///< bytes over all its instances
  DeviceKind device = DeviceKind::cpu;
  double free_memory_bytes = std::numeric_limits<double>::infinity();  ///< free memory of the device
};

/// Buffer sets to rotate over: one for a hot cache; for a cold one enough that a launch finds nothing of an earlier
/// one (at most kMaxBufferSets). No last-level cache is LRU; all keep part of what streams through them. A CPU's
/// sets total 16 times its size, but beyond twice its size at most an eighth of the free memory. A GPU has at least
/// four sets, of four times its L2 in total, unless the sets are so large that this does not matter.
std::int64_t buffer_sets(std::span<const TensorSpec> tensors, CacheMode cache, const LastLevelCache& last_level);

}  // namespace roofline
