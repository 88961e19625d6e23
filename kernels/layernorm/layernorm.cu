// Layer norm on a GPU: y = (x - mean) / sqrt(variance + eps) * gamma + beta, row by row.
//   three_pass  one block per row, three passes: mean, variance, output; one element per access
//   two_pass    mean and variance in one pass, and 16 bytes per access if rows are aligned
//   registers   one pass: the row stays in the registers of a warp, a block or a cluster
// The last two compute both moments of x - pivot, the pivot being the row's first element. This does not cancel as
// E[x²] - mean² does: no element of n is further than sqrt(n - 1) standard deviations from the mean, so the squared
// differences are at most n times the variance, and a few times for all but artificial rows.
#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "kernels/blocks/cuda/cuda_launch.hpp"
#include "kernels/blocks/cuda/row.cuh"
#include "op/registry.hpp"

namespace roofline::layernorm_cuda {
namespace {

constexpr float kEpsilon = 1e-5f;
constexpr int kThreads = 256;

template <typename T>
__global__ void __launch_bounds__(kThreads)
    layernorm_three_pass(const T* __restrict__ x, const T* __restrict__ gamma, const T* __restrict__ beta,
                         T* __restrict__ y, std::int64_t columns) {
  const T* row = x + blockIdx.x * columns;
  GroupReducer<kThreads> reduce;
  float sum = 0;
  for (std::int64_t i = threadIdx.x; i < columns; i += kThreads) sum += widen(row[i]);
  const float mean = reduce(sum, Sum{}) / static_cast<float>(columns);
  float squares = 0;
  for (std::int64_t i = threadIdx.x; i < columns; i += kThreads) {
    const float deviation = widen(row[i]) - mean;
    squares += deviation * deviation;
  }
  const float variance = reduce(squares, Sum{}) / static_cast<float>(columns);
  const float scale = rsqrtf(variance + kEpsilon);
  for (std::int64_t i = threadIdx.x; i < columns; i += kThreads) {
    const float normal = (widen(row[i]) - mean) * scale;
    y[blockIdx.x * columns + i] = narrow<T>(normal * widen(gamma[i]) + widen(beta[i]));
  }
}

/// Outputs from inputs, given the moments of x - pivot; `share` is 1 / columns.
struct Normalise {
  float pivot;
  float scale;
  float shift;

  __device__ Normalise(Moments moments, float share, float pivot_of_row) : pivot(pivot_of_row) {
    const float mean = moments.sum * share;
    const float variance = fmaxf(moments.squares * share - mean * mean, 0.0f);
    scale = rsqrtf(variance + kEpsilon);
    shift = -mean * scale;
  }

  /// `gamma` and `beta` of the access's first column.
  template <typename T, int kWidth>
  __device__ void apply(float (&values)[kWidth], const T* gamma, const T* beta) const {
    using Load = Access<T, kWidth>;
    float g[kWidth];
    float b[kWidth];
    Load::widen_into(g, Load::load(gamma));
    Load::widen_into(b, Load::load(beta));
#pragma unroll
    for (int i = 0; i < kWidth; ++i) values[i] = fmaf(fmaf(values[i] - pivot, scale, shift), g[i], b[i]);
  }
};

/// The row operation of map_rows and sweep_rows.
template <typename T>
struct LayerNormRow {
  /// Four accesses distribute the cost of a thread's reductions over more elements: 3 % on an H200 for 16-bit
  /// rows of 2 and 8 KiB.
  static constexpr int kSteps = sizeof(T) == 2 ? 4 : 2;
  const T* gamma;
  const T* beta;
  float share;  ///< 1 / columns

  template <typename Tile, typename Reduce>
  __device__ auto operator()(Tile& tile, const T* row, Reduce& reduce) const {
    const float pivot = widen(row[0]);
    Moments own{0, 0};
    tile.for_each([&](float value) { own.add(value - pivot); });
    const Normalise normalise(reduce(own, AddMoments{}), share, pivot);
    return [*this, normalise](auto& values, auto column) { normalise.apply(values, gamma + column, beta + column); };
  }
};

enum class Variant { three_pass, two_pass, registers };

template <typename T>
void launch(const Rows& rows, Variant variant, const T* x, const T* gamma, const T* beta, T* y) {
  if (variant == Variant::three_pass) {
    const auto blocks = static_cast<unsigned>(rows.rows);
    layernorm_three_pass<T><<<blocks, kThreads, 0, rows.stream>>>(x, gamma, beta, y, rows.columns);
  } else {
    const LayerNormRow<T> row{gamma, beta, 1.0f / static_cast<float>(rows.columns)};
    if (variant == Variant::registers && launch_in_registers(rows, row, x, y)) return;
    launch_sweeps(rows, true, row, x, y);
  }
  check_launch("layernorm kernel");
}

Kernel prepare(const Workload& workload, Device& device, Variant variant) {
  const Rows rows = rows_of(as_cuda(device), workload.shape["rows"], workload.shape["cols"]);
  return with_element_type(workload.dtype, [&]<typename T>() -> Kernel {
    return [rows, variant](std::span<void* const> tensors) {
      launch(rows, variant, static_cast<const T*>(tensors[0]), static_cast<const T*>(tensors[1]),
             static_cast<const T*>(tensors[2]), static_cast<T*>(tensors[3]));
    };
  });
}

Implementation implementation(std::string name, std::string summary, Variant variant) {
  return with_extent_limit(cuda_implementation(std::move(name), std::move(summary), prepare, variant), "rows");
}

const ImplementationRegistrar kRegistrar(
    "layernorm",
    {implementation("three_pass", "one block per row; separate passes for mean, variance and output",
                    Variant::three_pass),
     implementation("two_pass", "one pass for mean and variance, 16-byte accesses", Variant::two_pass),
     implementation("registers", "one pass: the row stays in registers, spread over a cluster if it is long",
                    Variant::registers)});

}  // namespace
}  // namespace roofline::layernorm_cuda
