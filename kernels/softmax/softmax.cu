// Softmax over rows on a GPU: y = exp(x - max) / sum(exp(x - max)).
//   rows       a block a row, three sweeps: maximum, sum, output; two exponentials an element
//   registers  a warp or a block a row, which is read once and stays in registers; one exponential an
//              element. Rows that fit no registers: an online maximum and sum, so two sweeps
#include <climits>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/row.cuh"
#include "op/registry.hpp"

namespace roofline {
namespace {

constexpr int kThreads = 256;
constexpr float kLog2E = 1.4426950408889634f;

template <typename T>
__global__ void __launch_bounds__(kThreads)
    softmax_rows(const T* __restrict__ x, T* __restrict__ y, std::int64_t cols) {
  const T* row = x + blockIdx.x * cols;
  float highest = -INFINITY;
  for (std::int64_t i = threadIdx.x; i < cols; i += kThreads) highest = fmaxf(highest, widen(row[i]));
  highest = group_reduce<kThreads>(highest, Max{});
  float sum = 0;
  for (std::int64_t i = threadIdx.x; i < cols; i += kThreads) sum += __expf(widen(row[i]) - highest);
  const float scale = 1.0f / group_reduce<kThreads>(sum, Sum{});
  for (std::int64_t i = threadIdx.x; i < cols; i += kThreads) {
    y[blockIdx.x * cols + i] = narrow<T>(__expf(widen(row[i]) - highest) * scale);
  }
}

// Maximum and sum in one sweep: when the maximum grows, the sum so far is scaled down to it.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    softmax_online(const T* __restrict__ x, T* __restrict__ y, std::int64_t cols) {
  const T* row = x + blockIdx.x * cols;
  float own = -INFINITY;
  float sum = 0;
  for (std::int64_t i = threadIdx.x; i < cols; i += kThreads) {
    const float value = widen(row[i]);
    const float grown = fmaxf(own, value);
    sum = sum * fast_exp2((own - grown) * kLog2E) + fast_exp2((value - grown) * kLog2E);
    own = grown;
  }
  const float highest = group_reduce<kThreads>(own, Max{});
  // A thread that saw no element has a sum of 0 under a maximum of -inf: it adds nothing.
  const float share = own == -INFINITY ? 0.0f : sum * fast_exp2((own - highest) * kLog2E);
  const float scale = 1.0f / group_reduce<kThreads>(share, Sum{});
  for (std::int64_t i = threadIdx.x; i < cols; i += kThreads) {
    y[blockIdx.x * cols + i] = narrow<T>(fast_exp2((widen(row[i]) - highest) * kLog2E) * scale);
  }
}

template <typename T, int kGroup, int kVectors>
__global__ void __launch_bounds__(kGroup < 128 ? 128 : kGroup)
    softmax_registers(const T* __restrict__ x, T* __restrict__ y, std::int64_t rows, int cols) {
  using Tile = RowTile<T, kGroup, kVectors>;
  const std::int64_t row = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / kGroup;
  if (row >= rows) return;  // whole groups leave together
  const int lane = threadIdx.x % kGroup;
  const int vectors = cols / kLanes<T>;
  Tile tile;
  tile.load(x + row * cols, vectors, lane, -INFINITY);

  float highest = -INFINITY;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::kCount; ++j) highest = fmaxf(highest, tile.values[i][j]);
  }
  // exp(x - max) = 2^(x·log2 e - max·log2 e): one FMA and one instruction of the SFU.
  const float shift = group_reduce<kGroup>(highest, Max{}) * kLog2E;
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::kCount; ++j) {
      tile.values[i][j] = fast_exp2(fmaf(tile.values[i][j], kLog2E, -shift));  // padding gives 2^-inf = 0
      sum += tile.values[i][j];
    }
  }
  const float scale = 1.0f / group_reduce<kGroup>(sum, Sum{});
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::kCount; ++j) tile.values[i][j] *= scale;
  }
  tile.store(y + row * cols, vectors, lane);
}

struct Problem {
  cudaStream_t stream;
  std::int64_t rows;
  std::int64_t cols;
};

/// False when the row fits no tile, or doesn't start on 16 bytes.
template <typename T>
bool launch_registers(const Problem& problem, const T* x, T* y) {
  if (problem.cols % kLanes<T> != 0) return false;
  return with_row_tile(problem.cols / kLanes<T>, [&]<int kGroup, int kVectors>() {
    constexpr int kBlock = kGroup < 128 ? 128 : kGroup;
    const auto blocks = static_cast<unsigned>(ceil_div(problem.rows, kBlock / kGroup));
    softmax_registers<T, kGroup, kVectors>
        <<<blocks, kBlock, 0, problem.stream>>>(x, y, problem.rows, static_cast<int>(problem.cols));
  });
}

enum class Rung { rows, registers };

Kernel prepare(const Workload& workload, Device& device, Rung rung) {
  const Problem problem{as_cuda(device).stream(), workload.shape["rows"], workload.shape["cols"]};
  return with_element_type(workload.dtype, [&]<typename T>() -> Kernel {
    return [problem, rung](std::span<void* const> tensors) {
      const auto* x = static_cast<const T*>(tensors[0]);
      auto* y = static_cast<T*>(tensors[1]);
      const auto blocks = static_cast<unsigned>(problem.rows);
      if (rung == Rung::rows) {
        softmax_rows<T><<<blocks, kThreads, 0, problem.stream>>>(x, y, problem.cols);
      } else if (!launch_registers<T>(problem, x, y)) {
        softmax_online<T><<<blocks, kThreads, 0, problem.stream>>>(x, y, problem.cols);
      }
      check_launch("softmax kernel");
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
    "softmax",
    {implementation("rows", "a block a row, three sweeps", Rung::rows),
     implementation("registers", "one sweep, the row in registers (two, online, for rows of more than 64 KiB)",
                    Rung::registers)});

}  // namespace
}  // namespace roofline
