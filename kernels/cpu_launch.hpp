// What the CPU launchers of all ops decide alike: typed pointers, and whether to store past the caches.
#pragma once

#include <cstdint>

#include "device/cpu/cpu_device.hpp"
#include "op/op.hpp"

namespace roofline {

/// Whether outputs of a workload should go past the caches: always when its sets rotate (the next launch
/// on a set finds nothing of it), and when one set alone doesn't fit the last cache level.
bool stores_past_caches(const Op& op, const Workload& workload, const Device& device);

/// Calls `f.template operator()<T>()` with the C++ type of a dtype that CPU kernels compute in: float or
/// double. Implementations name no other in their dtypes.
template <typename F>
decltype(auto) with_cpu_type(DType dtype, F&& f) {
  if (dtype == DType::fp64) return f.template operator()<double>();
  return f.template operator()<float>();
}

/// The tensor at `index`, as elements of type T.
template <typename T>
T* elements(std::span<void* const> tensors, std::size_t index) {
  return static_cast<T*>(tensors[index]);
}

}  // namespace roofline
