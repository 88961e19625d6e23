// What the CPU launchers of all ops have alike: typed pointers, workspaces, and whether to store past the caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

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

/// Memory of a kernel's own: `count` pieces of `elements` each, every one at the beginning of a page.
template <typename T>
class Workspace {
 public:
  Workspace(Device& device, std::int64_t elements, std::int64_t count)
      : stride_((elements * std::int64_t{sizeof(T)} + kPage - 1) / kPage * kPage),
        buffer_(device.allocate(static_cast<std::size_t>(stride_ * count))) {}

  T* operator[](std::int64_t piece) const {
    return reinterpret_cast<T*>(static_cast<std::byte*>(buffer_->data()) + piece * stride_);
  }

 private:
  static constexpr std::int64_t kPage = 4096;
  std::int64_t stride_;
  std::shared_ptr<Buffer> buffer_;
};

}  // namespace roofline
