// Where a case's tensors lie in device memory: guard zones, buffer sets, slabs. Pure arithmetic.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "model/names.hpp"
#include "op/tensor.hpp"
#include "op/workload.hpp"

namespace roofline {

/// Patterned bytes before and after each tensor. A kernel that runs past a border by less than this, or
/// in steps smaller than this, leaves its mark in them.
inline constexpr std::int64_t kGuardBytes = 256;

/// More sets would not be colder, only slower to make: at 4096 the sets of a 64 MiB cache are 32 KiB each,
/// and smaller ones belong to kernels that the launch floor bounds anyway.
inline constexpr std::int64_t kMaxBufferSets = 4096;

/// Bytes of one tensor with its guards, a multiple of 256: the distance between two sets of it.
std::int64_t guarded_bytes(const TensorSpec& tensor);

/// What a cold launch must find nothing in.
struct LastLevelCache {
  double bytes = 0;  ///< of all its instances
  DeviceKind device = DeviceKind::cpu;
  double free_memory_bytes = std::numeric_limits<double>::infinity();  ///< of the device
};

/// Buffer sets to rotate over: a single one for a hot cache; for a cold one as many as leave a launch nothing of an
/// earlier one (kMaxBufferSets at most). No last level is LRU, all keep some of what streams through them. A CPU's sets
/// total 16 times its size, but for more than twice its size they take no more than an eighth of the free memory. A GPU
/// has four sets at least, of four times its L2 together, but for sets beside which all of that is little.
std::int64_t buffer_sets(std::span<const TensorSpec> tensors, CacheMode cache, const LastLevelCache& last_level);

}  // namespace roofline
