// Where a case's tensors lie in device memory: guard zones, buffer sets, slabs. Pure arithmetic.
#pragma once

#include <cstdint>
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
};

/// Buffer sets to rotate over: a single one for a hot cache; for a cold one as many as leave a launch nothing of an
/// earlier one (kMaxBufferSets at most). On a CPU that is so once they total twice the last cache level. A GPU's L2 is
/// not LRU and keeps some of what streams through it: four sets at least, of four times its size together, but for
/// sets beside which all of L2 is little.
std::int64_t buffer_sets(std::span<const TensorSpec> tensors, CacheMode cache, const LastLevelCache& last_level);

}  // namespace roofline
