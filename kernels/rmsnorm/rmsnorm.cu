// RMS norm on a GPU: y = x / sqrt(mean of x² + eps) * gamma, row by row.
//   two_pass    one block per row, two passes: squares, output; one element per access
//   vectorized  the same with 16 bytes per access: a quarter to an eighth of the instructions
//   registers   one pass: the row stays in the registers of a warp, a block or a cluster
#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "kernels/blocks/cuda/cuda_launch.hpp"
#include "kernels/blocks/cuda/row.cuh"
#include "op/registry.hpp"

namespace roofline::rmsnorm_cuda {
namespace {

constexpr float kEpsilon = 1e-5f;

/// The row operation of map_rows and sweep_rows.
template <typename T>
struct RmsNormRow {
  static constexpr int kSteps = 2;
  const T* gamma;
  float share;  ///< 1 / columns

  template <typename Tile, typename Reduce>
  __device__ auto operator()(Tile& tile, const T*, Reduce& reduce) const {
    float squares = 0;
    tile.for_each([&](float value) { squares = fmaf(value, value, squares); });
    const float scale = rsqrtf(reduce(squares, Sum{}) * share + kEpsilon);
    return [scale, gamma = gamma]<int kWidth>(float(&values)[kWidth], auto column) {
      using Load = Access<T, kWidth>;
      float g[kWidth];
      Load::widen_into(g, Load::load(gamma + column));
#pragma unroll
      for (int i = 0; i < kWidth; ++i) values[i] *= scale * g[i];
    };
  }
};

enum class Variant { two_pass, vectorized, registers };

template <typename T>
void launch(const Rows& rows, Variant variant, const T* x, const T* gamma, T* y) {
  const RmsNormRow<T> row{gamma, 1.0f / static_cast<float>(rows.columns)};
  if (variant == Variant::registers && launch_in_registers(rows, row, x, y)) return;
  launch_sweeps(rows, variant != Variant::two_pass, row, x, y);
  check_launch("rmsnorm kernel");
}

Kernel prepare(const Workload& workload, Device& device, Variant variant) {
  const Rows rows = rows_of(as_cuda(device), workload.shape["rows"], workload.shape["cols"]);
  return with_element_type(workload.dtype, [&]<typename T>() -> Kernel {
    return [rows, variant](std::span<void* const> tensors) {
      launch(rows, variant, static_cast<const T*>(tensors[0]), static_cast<const T*>(tensors[1]),
             static_cast<T*>(tensors[2]));
    };
  });
}

Implementation implementation(std::string name, std::string summary, Variant variant) {
  return with_extent_limit(cuda_implementation(std::move(name), std::move(summary), prepare, variant), "rows");
}

const ImplementationRegistrar kRegistrar(
    "rmsnorm", {implementation("two_pass", "one block per row; separate passes for the sum of squares and the output",
                               Variant::two_pass),
                implementation("vectorized", "two passes, 16-byte accesses", Variant::vectorized),
                implementation("registers", "one pass: the row stays in registers, spread over a cluster if it is long",
                               Variant::registers)});

}  // namespace
}  // namespace roofline::rmsnorm_cuda
