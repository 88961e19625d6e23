// What the CPU launchers of all ops have alike: typed pointers, workspaces, whether to store past the caches, and
// kernels of fp32 on tensors of 16 bits.
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

/// As few units as hold `count`.
constexpr std::int64_t ceil_div(std::int64_t count, std::int64_t unit) { return (count + unit - 1) / unit; }

/// Whether outputs of a workload should go past the caches: always when its sets rotate (the next launch
/// on a set finds nothing of it), and when one set alone doesn't fit the last cache level.
bool stores_past_caches(const Op& op, const Workload& workload, const Device& device);

/// Why this CPU can't run an implementation on dot products of a workload's type, bf16 or int8; nullopt where it can.
std::optional<std::string> dots_missing(const Workload& workload, const Device& device);

/// The floating-point types that a CPU's implementations take: fp32, fp64, fp16 and bf16.
std::vector<DType> cpu_dtypes();

/// Calls `f.template operator()<T>()` with the C++ type that CPU kernels compute a dtype in: float or double.
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

/// Of what streams through memory, at a time: so long that where it begins doesn't matter, nothing being asked for
/// ahead there.
inline constexpr std::int64_t kMinChunkBytes = 256 * 1024;

using Prepare = std::function<Kernel(const Workload&, Device&)>;

/// Makes a kernel of fp32 or fp64 into one of 16-bit elements: each launch widens the inputs into copies in fp32, runs
/// the kernel that `prepare` makes for fp32 on them, and rounds the outputs. For products, which compute for so long
/// that one pass over their tensors takes next to nothing, and for their plain loops. Other types go to `prepare` as
/// they are.
Kernel through_fp32(const Op& op, const Workload& workload, Device& device, const Prepare& prepare);

/// What the copies of through_fp32() move besides, where caches don't hold them: each is written once and read once.
Traffic fp32_copies(const Op& op, const Workload& workload);

}  // namespace roofline
