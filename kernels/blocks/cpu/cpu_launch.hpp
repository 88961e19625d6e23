// Common to the CPU launchers of all ops: typed pointers, workspaces, store policy, and fp32 kernels on 16-bit
// tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/cpu/cpu_device.hpp"
#include "kernels/blocks/cpu/small_float.hpp"
#include "op/op.hpp"

namespace roofline {

/// Rounds up: the number of units that hold `count`.
constexpr std::int64_t ceil_div(std::int64_t count, std::int64_t unit) { return (count + unit - 1) / unit; }

/// True if outputs of a workload should bypass the caches: always if its sets rotate (the next launch on a set finds
/// nothing of it), and if one set alone does not fit in the last-level cache.
bool stores_past_caches(const Op& op, const Workload& workload, const Device& device);

/// Why this CPU cannot run dot-product implementations for a workload's type (bf16 or int8); nullopt if it can.
std::optional<std::string> dots_missing(const Workload& workload, const Device& device);

/// Floating-point types of CPU implementations: fp32, fp64, fp16 and bf16.
std::vector<DType> cpu_dtypes();

/// Calls `f.template operator()<T>()` with the C++ type in which CPU kernels compute a dtype: float or double.
template <typename F>
decltype(auto) with_cpu_type(DType dtype, F&& f) {
  if (dtype == DType::fp64) return f.template operator()<double>();
  return f.template operator()<float>();
}

/// The same with the C++ type of a dtype's elements, one of cpu_dtypes(): float, double, Fp16 or Bf16.
template <typename F>
decltype(auto) with_element_type(DType dtype, F&& f) {
  if (dtype == DType::fp16) return f.template operator()<Fp16>();
  if (dtype == DType::bf16) return f.template operator()<Bf16>();
  return with_cpu_type(dtype, f);
}

/// The tensor at `index`, as elements of type T.
template <typename T>
T* elements(std::span<void* const> tensors, std::size_t index) {
  return static_cast<T*>(tensors[index]);
}

/// Workspace of a kernel: `count` buffers of `elements` each, page-aligned.
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

/// Minimum chunk of a streaming kernel: long enough that the unprefetched start of a chunk does not matter.
inline constexpr std::int64_t kMinChunkBytes = 256 * 1024;

using Prepare = std::function<Kernel(const Workload&, Device&)>;

/// Makes a 16-bit kernel from an fp32 one: each launch widens the inputs into fp32 copies, runs the kernel that
/// `prepare` makes for fp32, and rounds the outputs. For products, whose computation dominates one pass over their
/// tensors, and for naive loops. Other types go to `prepare` unchanged.
Kernel through_fp32(const Op& op, const Workload& workload, Device& device, const Prepare& prepare);

/// Extra traffic of through_fp32()'s copies, if caches do not hold them: each is written once and read once.
Traffic fp32_copies(const Op& op, const Workload& workload);

}  // namespace roofline
