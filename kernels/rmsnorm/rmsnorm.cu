// RMS norm on a GPU: y = x / sqrt(mean of x² + eps) * gamma, row by row.
//   two_pass    a block a row, two sweeps over it: squares, output; an element an access
//   vectorized  likewise with 16 bytes an access: a quarter to an eighth of the instructions
//   registers   one sweep: the row stays in the registers of a warp, a block or a cluster
#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/row.cuh"
#include "kernels/cuda_launch.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

constexpr float kEpsilon = 1e-5f;
constexpr int kThreads = 512;

/// `share` is 1 / columns.
__device__ float scale_of(float squares, float share) { return rsqrtf(squares * share + kEpsilon); }

/// Makes outputs of an access's inputs; `gamma` of its first column.
template <typename T, int kWidth>
__device__ void apply(float (&values)[kWidth], float scale, const T* gamma) {
  using Load = Access<T, kWidth>;
  float g[kWidth];
  Load::widen_into(g, Load::load(gamma));
#pragma unroll
  for (int i = 0; i < kWidth; ++i) values[i] *= scale * g[i];
}

template <typename T, int kWidth>
__global__ void __launch_bounds__(kThreads)
    rmsnorm_two_pass(const T* __restrict__ x, const T* __restrict__ gamma, T* __restrict__ y, std::int64_t columns) {
  using Load = Access<T, kWidth>;
  const T* row = x + blockIdx.x * columns;
  const std::int64_t first = threadIdx.x * kWidth;
  constexpr std::int64_t kStride = kThreads * kWidth;
  float squares = 0;
#pragma unroll 2
  for (std::int64_t i = first; i < columns; i += kStride) {
    float values[kWidth];
    Load::widen_into(values, Load::load_once(row + i));
    for (const float value : values) squares = fmaf(value, value, squares);
  }
  const float scale = scale_of(group_reduce<kThreads>(squares, Sum{}), 1.0f / static_cast<float>(columns));
#pragma unroll 2
  for (std::int64_t i = first; i < columns; i += kStride) {
    float values[kWidth];
    Load::widen_into(values, Load::load_once(row + i));
    apply(values, scale, gamma + i);
    Load::store(y + blockIdx.x * columns + i, values);
  }
}

/// What map_rows does with a row.
template <typename T>
struct RmsNormRow {
  static constexpr int kSteps = 2;
  const T* gamma;
  float share;  ///< 1 / columns

  template <typename Tile, typename Reduce>
  __device__ auto operator()(Tile& tile, const T*, Reduce& reduce) const {
    float squares = 0;
    tile.for_each([&](float value) { squares = fmaf(value, value, squares); });
    const float scale = scale_of(reduce(squares, Sum{}), share);
    return [*this, scale](auto& values, int column) { apply(values, scale, gamma + column); };
  }
};

enum class Rung { two_pass, vectorized, registers };

template <typename T>
void launch(const Rows& rows, Rung rung, const T* x, const T* gamma, T* y) {
  if (rung == Rung::registers &&
      launch_in_registers(rows, RmsNormRow<T>{gamma, 1.0f / static_cast<float>(rows.columns)}, x, y))
    return;
  const auto blocks = static_cast<unsigned>(rows.rows);
  if (rung != Rung::two_pass && rows.columns % kLanes<T> == 0) {
    rmsnorm_two_pass<T, kLanes<T>><<<blocks, kThreads, 0, rows.stream>>>(x, gamma, y, rows.columns);
  } else {
    rmsnorm_two_pass<T, 1><<<blocks, kThreads, 0, rows.stream>>>(x, gamma, y, rows.columns);
  }
  check_launch("rmsnorm kernel");
}

Kernel prepare(const Workload& workload, Device& device, Rung rung) {
  const Rows rows = rows_of(as_cuda(device), workload.shape["rows"], workload.shape["cols"]);
  return with_element_type(workload.dtype, [&]<typename T>() -> Kernel {
    return [rows, rung](std::span<void* const> tensors) {
      launch(rows, rung, static_cast<const T*>(tensors[0]), static_cast<const T*>(tensors[1]),
             static_cast<T*>(tensors[2]));
    };
  });
}

Implementation rung(std::string name, std::string summary, Rung rung) {
  return with_extent_limit(cuda_rung(std::move(name), std::move(summary), prepare, rung), "rows");
}

const ImplementationRegistrar kRegistrar(
    "rmsnorm",
    {rung("two_pass", "a block a row, a sweep each for the squares and the output", Rung::two_pass),
     rung("vectorized", "two sweeps with 16-byte accesses", Rung::vectorized),
     rung("registers", "one sweep: the row stays in registers, of several blocks where it is long", Rung::registers)});

}  // namespace
}  // namespace roofline
