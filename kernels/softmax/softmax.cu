// Softmax over rows on a GPU: y = exp(x - max) / sum(exp(x - max)).
//   three_pass  one block per row, three passes: maximum, sum, output; one element per access, two exponentials
//   online      maximum and sum in one pass, and 16 bytes per access if rows are aligned
//   registers   one pass: the row stays in the registers of a warp, a block or a cluster; one exponential per element
// exp(x - max) = 2^(x·log2 e - max·log2 e): one FMA and one instruction of the special-function unit.
#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "kernels/blocks/cuda/cuda_launch.hpp"
#include "kernels/blocks/cuda/row.cuh"
#include "op/registry.hpp"

namespace roofline::softmax_cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kOnlineThreads = 512;
constexpr float kLog2E = 1.4426950408889634f;

template <typename T>
__global__ void __launch_bounds__(kThreads)
    softmax_three_pass(const T* __restrict__ x, T* __restrict__ y, std::int64_t columns) {
  const T* row = x + blockIdx.x * columns;
  GroupReducer<kThreads> reduce;
  float highest = -INFINITY;
  for (std::int64_t i = threadIdx.x; i < columns; i += kThreads) highest = fmaxf(highest, widen(row[i]));
  highest = reduce(highest, Max{});
  float sum = 0;
  for (std::int64_t i = threadIdx.x; i < columns; i += kThreads) sum += __expf(widen(row[i]) - highest);
  const float scale = 1.0f / reduce(sum, Sum{});
  for (std::int64_t i = threadIdx.x; i < columns; i += kThreads) {
    y[blockIdx.x * columns + i] = narrow<T>(__expf(widen(row[i]) - highest) * scale);
  }
}

/// Never -inf, so that no difference of two is NaN.
__device__ float scaled(float highest) { return fmaxf(highest * kLog2E, ScaledSum::kLowest); }

/// Maximum and sum in one pass: when an access raises the maximum, the sum so far is rescaled.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kOnlineThreads)
    softmax_online(const T* __restrict__ x, T* __restrict__ y, std::int64_t columns) {
  using Load = Access<T, kWidth>;
  const T* row = x + blockIdx.x * columns;
  const std::int64_t first = threadIdx.x * kWidth;
  constexpr std::int64_t kStride = kOnlineThreads * kWidth;
  ScaledSum own;
#pragma unroll 2
  for (std::int64_t i = first; i < columns; i += kStride) {
    float values[kWidth];
    Load::widen_into(values, Load::load_once(row + i));
    float highest = values[0];
    for (const float value : values) highest = fmaxf(highest, value);
    highest = fmaxf(own.highest, scaled(highest));
    own.sum *= fast_exp2(own.highest - highest);
    own.highest = highest;
    for (const float value : values) own.sum += fast_exp2(fmaf(value, kLog2E, -highest));
  }
  const ScaledSum all = group_reduce<kOnlineThreads>(own, JoinScaledSums{});
  const float scale = 1.0f / all.sum;
#pragma unroll 2
  for (std::int64_t i = first; i < columns; i += kStride) {
    float values[kWidth];
    Load::widen_into(values, Load::load_once(row + i));
    for (float& value : values) value = fast_exp2(fmaf(value, kLog2E, -all.highest)) * scale;
    Load::store(y + blockIdx.x * columns + i, values);
  }
}

/// The row operation of map_rows. The sum is relative to the maximum of the warp's own part, so that all warps
/// exchange results only once. Exponentials are recomputed for the output, where the exponent includes the
/// division: registers are scarcer than the special function units, which are half idle.
template <typename T>
struct SoftmaxRow {
  static constexpr int kSteps = 2;

  template <typename Tile, typename Reduce>
  __device__ auto operator()(Tile& tile, const T*, Reduce& reduce) const {
    ScaledSum all;
    float highest = -INFINITY;
    tile.for_each([&](float value) { highest = fmaxf(highest, value); });
    all.highest = scaled(Reduce::within_warp(highest, Max{}));
    tile.for_each([&](float value) { all.sum += fast_exp2(fmaf(value, kLog2E, -all.highest)); });
    all.sum = Reduce::within_warp(all.sum, Sum{});
    if constexpr (Reduce::kPartials > 1) {
      const ScaledSum* parts = reduce.exchange(all);
      all.highest = Reduce::over_partials(Max{}, [&](int i) { return parts[i].highest; });
      all.sum =
          Reduce::over_partials(Sum{}, [&](int i) { return parts[i].sum * fast_exp2(parts[i].highest - all.highest); });
    }
    const float shift = all.highest + __log2f(all.sum);
    return [shift](auto& values, int) {
#pragma unroll
      for (float& value : values) value = fast_exp2(fmaf(value, kLog2E, -shift));
    };
  }
};

enum class Variant { three_pass, online, registers };

template <typename T>
void launch(const Rows& rows, Variant variant, const T* x, T* y) {
  const auto blocks = static_cast<unsigned>(rows.rows);
  if (variant == Variant::three_pass) {
    softmax_three_pass<T><<<blocks, kThreads, 0, rows.stream>>>(x, y, rows.columns);
  } else if (variant == Variant::registers && launch_in_registers(rows, SoftmaxRow<T>{}, x, y)) {
    return;
  } else if (rows.columns % kLanes<T> == 0) {
    softmax_online<T, kLanes<T>><<<blocks, kOnlineThreads, 0, rows.stream>>>(x, y, rows.columns);
  } else {
    softmax_online<T, 1><<<blocks, kOnlineThreads, 0, rows.stream>>>(x, y, rows.columns);
  }
  check_launch("softmax kernel");
}

Kernel prepare(const Workload& workload, Device& device, Variant variant) {
  const Rows rows = rows_of(as_cuda(device), workload.shape["rows"], workload.shape["cols"]);
  return with_element_type(workload.dtype, [&]<typename T>() -> Kernel {
    return [rows, variant](std::span<void* const> tensors) {
      launch(rows, variant, static_cast<const T*>(tensors[0]), static_cast<T*>(tensors[1]));
    };
  });
}

Implementation implementation(std::string name, std::string summary, Variant variant) {
  return with_extent_limit(cuda_implementation(std::move(name), std::move(summary), prepare, variant), "rows");
}

const ImplementationRegistrar kRegistrar(
    "softmax", {implementation("three_pass", "one block per row; separate passes for maximum, sum and output",
                               Variant::three_pass),
                implementation("online", "one pass for maximum and sum, 16-byte accesses", Variant::online),
                implementation("registers", "one pass: the row stays in registers, spread over a cluster if it is long",
                               Variant::registers)});

}  // namespace
}  // namespace roofline::softmax_cuda
