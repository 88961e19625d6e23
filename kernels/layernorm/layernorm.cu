// Layer norm on a GPU: y = (x - mean) / sqrt(variance + eps) * gamma + beta, row by row.
//   rows       a block a row, three sweeps over it: mean, variance, output
//   registers  a warp or a block a row, which is read once and stays in registers
// The variance is taken from the deviations, never as E[x²] - mean²: that cancels.
#include <climits>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/row.cuh"
#include "op/registry.hpp"

namespace roofline {
namespace {

constexpr float kEpsilon = 1e-5f;
constexpr int kThreads = 256;

template <typename T>
__global__ void __launch_bounds__(kThreads)
    layernorm_rows(const T* __restrict__ x, const T* __restrict__ gamma, const T* __restrict__ beta, T* __restrict__ y,
                   std::int64_t cols) {
  const T* row = x + blockIdx.x * cols;
  float sum = 0;
  for (std::int64_t i = threadIdx.x; i < cols; i += kThreads) sum += widen(row[i]);
  const float mean = group_reduce<kThreads>(sum, Sum{}) / static_cast<float>(cols);
  float squares = 0;
  for (std::int64_t i = threadIdx.x; i < cols; i += kThreads) {
    const float deviation = widen(row[i]) - mean;
    squares += deviation * deviation;
  }
  const float variance = group_reduce<kThreads>(squares, Sum{}) / static_cast<float>(cols);
  const float scale = rsqrtf(variance + kEpsilon);
  for (std::int64_t i = threadIdx.x; i < cols; i += kThreads) {
    const float normal = (widen(row[i]) - mean) * scale;
    y[blockIdx.x * cols + i] = narrow<T>(normal * widen(gamma[i]) + widen(beta[i]));
  }
}

template <typename T, int kGroup, int kVectors>
__global__ void __launch_bounds__(kGroup < 128 ? 128 : kGroup)
    layernorm_registers(const T* __restrict__ x, const T* __restrict__ gamma, const T* __restrict__ beta,
                        T* __restrict__ y, std::int64_t rows, int cols) {
  using Tile = RowTile<T, kGroup, kVectors>;
  const std::int64_t row = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / kGroup;
  if (row >= rows) return;  // whole groups leave together
  const int lane = threadIdx.x % kGroup;
  const int vectors = cols / kLanes<T>;
  Tile tile;
  tile.load(x + row * cols, vectors, lane, 0.0f);

  float sum = 0;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::kCount; ++j) sum += tile.values[i][j];
  }
  const float mean = group_reduce<kGroup>(sum, Sum{}) / static_cast<float>(cols);
  float squares = 0;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (lane + i * kGroup < vectors) {
#pragma unroll
      for (int j = 0; j < Tile::kCount; ++j) {
        const float deviation = tile.values[i][j] - mean;
        squares += deviation * deviation;
      }
    }
  }
  const float variance = group_reduce<kGroup>(squares, Sum{}) / static_cast<float>(cols);
  const float scale = rsqrtf(variance + kEpsilon);
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const int at = lane + i * kGroup;
    if (at < vectors) {
      float g[kLanes<T>];
      float b[kLanes<T>];
      widen_vector<T>(__ldg(reinterpret_cast<const uint4*>(gamma) + at), g);
      widen_vector<T>(__ldg(reinterpret_cast<const uint4*>(beta) + at), b);
#pragma unroll
      for (int j = 0; j < Tile::kCount; ++j) tile.values[i][j] = (tile.values[i][j] - mean) * scale * g[j] + b[j];
    }
  }
  tile.store(y + row * cols, vectors, lane);
}

struct Problem {
  cudaStream_t stream;
  std::int64_t rows;
  std::int64_t cols;
};

template <typename T>
void launch_rows(const Problem& problem, std::span<void* const> tensors) {
  layernorm_rows<T><<<static_cast<unsigned>(problem.rows), kThreads, 0, problem.stream>>>(
      static_cast<const T*>(tensors[0]), static_cast<const T*>(tensors[1]), static_cast<const T*>(tensors[2]),
      static_cast<T*>(tensors[3]), problem.cols);
  check_launch("layernorm kernel");
}

/// False when the row fits no tile, or doesn't start on 16 bytes.
template <typename T>
bool launch_registers(const Problem& problem, std::span<void* const> tensors) {
  if (problem.cols % kLanes<T> != 0) return false;
  return with_row_tile(problem.cols / kLanes<T>, [&]<int kGroup, int kVectors>() {
    constexpr int kBlock = kGroup < 128 ? 128 : kGroup;
    const auto blocks = static_cast<unsigned>(ceil_div(problem.rows, kBlock / kGroup));
    layernorm_registers<T, kGroup, kVectors><<<blocks, kBlock, 0, problem.stream>>>(
        static_cast<const T*>(tensors[0]), static_cast<const T*>(tensors[1]), static_cast<const T*>(tensors[2]),
        static_cast<T*>(tensors[3]), problem.rows, static_cast<int>(problem.cols));
    check_launch("layernorm kernel");
  });
}

enum class Rung { rows, registers };

Kernel prepare(const Workload& workload, Device& device, Rung rung) {
  const Problem problem{as_cuda(device).stream(), workload.shape["rows"], workload.shape["cols"]};
  return with_element_type(workload.dtype, [&]<typename T>() -> Kernel {
    return [problem, rung](std::span<void* const> tensors) {
      if (rung == Rung::registers && launch_registers<T>(problem, tensors)) return;
      launch_rows<T>(problem, tensors);
    };
  });
}

std::optional<std::string> unsupported(const Workload& workload, const Device&) {
  if (workload.shape["rows"] > INT_MAX) return "more rows than a grid has blocks";
  return std::nullopt;
}

Implementation implementation(std::string name, std::string summary, Rung rung) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .device = DeviceKind::cuda,
          .dtypes = {DType::fp32, DType::fp16, DType::bf16},
          .unsupported = unsupported,
          .prepare = [rung](const Workload& workload, Device& device) { return prepare(workload, device, rung); }};
}

const ImplementationRegistrar kRegistrar(
    "layernorm", {implementation("rows", "a block a row, three sweeps", Rung::rows),
                  implementation("registers", "one sweep, the row in registers (three for rows of more than 64 KiB)",
                                 Rung::registers)});

}  // namespace
}  // namespace roofline
