// Where a case's tensors lie in device memory: guard zones, buffer sets, slabs. Pure arithmetic.
#pragma once

#include <cstdint>
#include <span>

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

/// Buffer sets to rotate over: for a cold cache as many as make the tensors total at least twice the last
/// cache level (kMaxBufferSets at most), for a hot one a single set.
std::int64_t buffer_sets(std::span<const TensorSpec> tensors, CacheMode cache, double last_level_cache);

}  // namespace roofline
