// GEMM on CUDA cores: c[m,n] = a[m,k] · b[k,n], all row-major, accumulated in fp32.
//   naive   one thread per element of c: two loads from memory per product
//   shared  32 x 32 of c per block: operands are loaded from memory once, and from shared memory 32 times
//   tiled   128 x 128 of c per block, 8 x 8 per thread in registers: one shared-memory load per four products
#include <climits>

#include "device/cuda/check.hpp"
#include "kernels/blocks/cuda/element.cuh"
#include "kernels/gemm/gemm_implementations.hpp"

namespace roofline {
namespace {

constexpr int kNaiveTile = 16;

template <typename T>
__global__ void __launch_bounds__(kNaiveTile* kNaiveTile)
    gemm_naive_kernel(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, GemmProblem size) {
  const std::int64_t column = std::int64_t{blockIdx.x} * kNaiveTile + threadIdx.x;
  const std::int64_t row = std::int64_t{blockIdx.y} * kNaiveTile + threadIdx.y;
  if (row >= size.m || column >= size.n) return;
  float sum = 0;
  for (std::int64_t i = 0; i < size.k; ++i) {
    sum = fmaf(widen(a[row * size.k + i]), widen(b[i * size.n + column]), sum);
  }
  c[row * size.n + column] = narrow<T>(sum);
}

constexpr int kSharedTile = 32;

/// One thread per element of the tile; elements outside the matrices are zero in the tiles.
template <typename T>
__global__ void __launch_bounds__(kSharedTile* kSharedTile)
    gemm_shared_tiles(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, GemmProblem size) {
  __shared__ float a_tile[kSharedTile][kSharedTile];
  __shared__ float b_tile[kSharedTile][kSharedTile];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const std::int64_t column = std::int64_t{blockIdx.x} * kSharedTile + x;
  const std::int64_t row = std::int64_t{blockIdx.y} * kSharedTile + y;
  float sum = 0;
  for (std::int64_t depth = 0; depth < size.k; depth += kSharedTile) {
    const bool in_a = row < size.m && depth + x < size.k;
    const bool in_b = depth + y < size.k && column < size.n;
    a_tile[y][x] = in_a ? widen(a[row * size.k + depth + x]) : 0;
    b_tile[y][x] = in_b ? widen(b[(depth + y) * size.n + column]) : 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kSharedTile; ++i) sum = fmaf(a_tile[y][i], b_tile[i][x], sum);
    __syncthreads();
  }
  if (row < size.m && column < size.n) c[row * size.n + column] = narrow<T>(sum);
}

// The tile: 128 x 128 of c for 256 threads of 8 x 8 each. Each 8 is two runs of 4, 64 apart, so that the 16-byte
// shared-memory reads of a warp hit distinct banks.
constexpr int kRegisterTile = 128;
constexpr int kRegisterDepth = 16;
constexpr int kTileThreads = 256;
constexpr int kPadding = 4;  ///< the transposed store of a would otherwise hit one bank

struct RegisterStage {
  float a[kRegisterDepth][kRegisterTile + kPadding];  ///< transposed: a[depth][row]
  float b[kRegisterDepth][kRegisterTile];
};

/// Loads elements [first, first + kLanes) of a row of `columns`, zeros past the end. kAligned: rows are 16-byte
/// aligned, so a vector is inside a row or outside.
template <typename T, bool kAligned>
__device__ uint4 load_lanes(const T* matrix, std::int64_t row, std::int64_t rows, std::int64_t first,
                            std::int64_t columns) {
  uint4 raw = make_uint4(0, 0, 0, 0);
  if (row >= rows) return raw;
  const T* at = matrix + row * columns + first;
  if constexpr (kAligned) {
    if (first < columns) raw = __ldg(reinterpret_cast<const uint4*>(at));
  } else {
    T* elements = reinterpret_cast<T*>(&raw);
#pragma unroll
    for (int i = 0; i < kLanes<T>; ++i) {
      if (first + i < columns) elements[i] = at[i];
    }
  }
  return raw;
}

/// One thread's part of the tiles of a and b: the loads in flight while a stage is used.
template <typename T, bool kAligned>
struct Fetch {
  static constexpr int kVectors = kRegisterTile * kRegisterDepth / kLanes<T> / kTileThreads;
  static constexpr int kPerRowA = kRegisterDepth / kLanes<T>;
  static constexpr int kPerRowB = kRegisterTile / kLanes<T>;
  uint4 a[kVectors];
  uint4 b[kVectors];

  __device__ void load(const T* a_matrix, const T* b_matrix, const GemmProblem& size, std::int64_t depth) {
    const std::int64_t row = std::int64_t{blockIdx.y} * kRegisterTile;
    const std::int64_t column = std::int64_t{blockIdx.x} * kRegisterTile;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const int v = threadIdx.x + i * kTileThreads;
      a[i] = load_lanes<T, kAligned>(a_matrix, row + v / kPerRowA, size.m, depth + v % kPerRowA * kLanes<T>, size.k);
      b[i] = load_lanes<T, kAligned>(b_matrix, depth + v / kPerRowB, size.k, column + v % kPerRowB * kLanes<T>, size.n);
    }
  }

  __device__ void store(RegisterStage& stage) const {
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const int v = threadIdx.x + i * kTileThreads;
      float values[kLanes<T>];
      widen_vector<T>(a[i], values);
#pragma unroll
      for (int j = 0; j < kLanes<T>; ++j) stage.a[v % kPerRowA * kLanes<T> + j][v / kPerRowA] = values[j];
      widen_vector<T>(b[i], values);
      float* to = &stage.b[v / kPerRowB][v % kPerRowB * kLanes<T>];
#pragma unroll
      for (int j = 0; j < kLanes<T>; j += 4) {
        *reinterpret_cast<float4*>(to + j) = make_float4(values[j], values[j + 1], values[j + 2], values[j + 3]);
      }
    }
  }
};

__device__ inline void read_eight(const float* line, int first, float (&out)[8]) {
  *reinterpret_cast<float4*>(out) = *reinterpret_cast<const float4*>(line + first);
  *reinterpret_cast<float4*>(out + 4) = *reinterpret_cast<const float4*>(line + first + kRegisterTile / 2);
}

__device__ inline void multiply_stage(const RegisterStage& stage, int row, int column, float (&sum)[8][8]) {
#pragma unroll
  for (int depth = 0; depth < kRegisterDepth; ++depth) {
    float a[8];
    float b[8];
    read_eight(stage.a[depth], row, a);
    read_eight(stage.b[depth], column, b);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
#pragma unroll
      for (int j = 0; j < 8; ++j) sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
    }
  }
}

template <typename T, bool kAligned>
__global__ void __launch_bounds__(kTileThreads,
                                  kAligned ? 2 : 1)  // unaligned addresses need registers: two blocks would spill
    gemm_register_tiles(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, GemmProblem size) {
  __shared__ RegisterStage stages[2];
  const int row = threadIdx.x / 16 * 4;
  const int column = threadIdx.x % 16 * 4;
  float sum[8][8] = {};
  Fetch<T, kAligned> next;
  next.load(a, b, size, 0);
  next.store(stages[0]);
  __syncthreads();
  int current = 0;
  for (std::int64_t depth = kRegisterDepth; depth < size.k; depth += kRegisterDepth) {
    next.load(a, b, size, depth);
    multiply_stage(stages[current], row, column, sum);
    next.store(stages[current ^ 1]);
    __syncthreads();
    current ^= 1;
  }
  multiply_stage(stages[current], row, column, sum);

#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const std::int64_t to_row = std::int64_t{blockIdx.y} * kRegisterTile + row + i % 4 + i / 4 * (kRegisterTile / 2);
    if (to_row >= size.m) continue;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const std::int64_t to_column =
          std::int64_t{blockIdx.x} * kRegisterTile + column + j % 4 + j / 4 * (kRegisterTile / 2);
      if (to_column < size.n) c[to_row * size.n + to_column] = narrow<T>(sum[i][j]);
    }
  }
}

dim3 grid_of(const GemmProblem& problem, int tile) {
  return dim3(static_cast<unsigned>(ceil_div(problem.n, tile)), static_cast<unsigned>(ceil_div(problem.m, tile)));
}

template <typename T>
using SimtKernel = void (*)(const T*, const T*, T*, GemmProblem);

template <typename T>
Kernel launcher(SimtKernel<T> kernel, int tile, dim3 block, const GemmProblem& problem) {
  return [=](std::span<void* const> tensors) {
    kernel<<<grid_of(problem, tile), block, 0, problem.stream>>>(
        static_cast<const T*>(tensors[0]), static_cast<const T*>(tensors[1]), static_cast<T*>(tensors[2]), problem);
    check_launch("gemm kernel");
  };
}

Kernel prepare_naive(const Workload& workload, Device& device) {
  return with_element_type(workload.dtype, [&]<typename T>() -> Kernel {
    return launcher<T>(gemm_naive_kernel<T>, kNaiveTile, dim3(kNaiveTile, kNaiveTile), gemm_problem(workload, device));
  });
}

Kernel prepare_shared(const Workload& workload, Device& device) {
  return with_element_type(workload.dtype, [&]<typename T>() -> Kernel {
    return launcher<T>(gemm_shared_tiles<T>, kSharedTile, dim3(kSharedTile, kSharedTile),
                       gemm_problem(workload, device));
  });
}

Kernel prepare_tiled(const Workload& workload, Device& device) {
  const GemmProblem problem = gemm_problem(workload, device);
  return with_element_type(workload.dtype, [&]<typename T>() -> Kernel {
    const bool aligned = problem.k % kLanes<T> == 0 && problem.n % kLanes<T> == 0;
    return launcher<T>(aligned ? gemm_register_tiles<T, true> : gemm_register_tiles<T, false>, kRegisterTile,
                       dim3(kTileThreads), problem);
  });
}

template <int kTileSize>
std::optional<std::string> unsupported_grid(const Workload& workload, const Device&) {
  if (ceil_div(workload.shape["m"], kTileSize) > 65535) return "m exceeds the maximum grid height (65535 blocks)";
  if (ceil_div(workload.shape["n"], kTileSize) > INT_MAX) return "n exceeds the maximum grid width";
  return std::nullopt;
}

template <int kTileSize>
Implementation implementation(std::string name, std::string summary, Kernel (*prepare)(const Workload&, Device&)) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .device = DeviceKind::cuda,
          .dtypes = {DType::fp32, DType::fp16, DType::bf16},
          .unsupported = unsupported_grid<kTileSize>,
          .prepare = prepare};
}

}  // namespace

Implementation gemm_naive() {
  return implementation<kNaiveTile>("naive", "one thread per element, no reuse beyond the caches", prepare_naive);
}

Implementation gemm_shared() {
  return implementation<kSharedTile>("shared", "32 x 32 tiles in shared memory: 1/32 of the loads from memory",
                                     prepare_shared);
}

Implementation gemm_tiled() {
  return implementation<kRegisterTile>(
      "tiled", "128 x 128 tiles, 8 x 8 per thread in registers: 4 FMAs per shared-memory load", prepare_tiled);
}

}  // namespace roofline
