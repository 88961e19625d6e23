// GEMM on tensor cores by mma.sync (sm_80 and later): 128 x 128 of c per block, 64 x 64 per warp in registers, which
// shared-memory bandwidth requires. Tiles of a and b, 32 deep, are copied into a ring of four stages while earlier
// ones are multiplied (cp.async), and a warp loads the operands of its next MMAs while the current ones run.
#include <algorithm>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "kernels/blocks/cuda/element.cuh"
#include "kernels/blocks/cuda/mma.cuh"
#include "kernels/gemm/gemm_implementations.hpp"

namespace roofline {
namespace {

constexpr int kTile = 128;
constexpr int kDepth = 32;
constexpr int kStages = 4;
constexpr int kThreads = 128;
constexpr int kWarpTile = 64;  ///< two warps down, two across
constexpr int kStrip = 8;      /// rows of blocks that are traversed column by column, so that L2 serves both operands

/// One stage, in chunks of 16 bytes (8 elements), swizzled so that the eight rows of an 8 x 8 matrix are in eight
/// different groups of banks: rows of a are 64 bytes, those of b 256.
struct Stage {
  uint4 a[kTile * kDepth / 8];
  uint4 b[kDepth * kTile / 8];

  __device__ uint4* at_a(int row, int chunk) { return a + row * 4 + (chunk ^ (row / 2 % 4)); }
  __device__ uint4* at_b(int row, int chunk) { return b + row * 16 + (chunk ^ (row % 8)); }
};

/// The upper left corner of a block's tile of c.
struct Corner {
  int row;
  int column;
};

__device__ Corner corner_of(const GemmProblem& size) {
  const int rows = static_cast<int>((size.m + kTile - 1) / kTile);
  const int columns = static_cast<int>((size.n + kTile - 1) / kTile);
  const int strip = static_cast<int>(blockIdx.x) / (kStrip * columns);
  const int height = min(kStrip, rows - strip * kStrip);
  const int within = static_cast<int>(blockIdx.x) - strip * kStrip * columns;
  return {(strip * kStrip + within % height) * kTile, within / height * kTile};
}

/// What one thread copies per stage: a chunk of every 32nd row of a and of every 8th row of b. 32-bit counters,
/// because accumulators and operands leave few registers.
template <typename T>
struct Copies {
  const T* a;  ///< of the thread's first row, at depth 0
  const T* b;
  int row;      ///< of a
  int depth_a;  ///< within a stage
  int depth_b;
  bool in_columns;  ///< of b

  __device__ Copies(const T* a_matrix, const T* b_matrix, const GemmProblem& size, const Corner& corner) {
    const int thread = static_cast<int>(threadIdx.x);
    const int column = corner.column + thread % 16 * 8;
    row = corner.row + thread / 4;
    depth_a = thread % 4 * 8;
    depth_b = thread / 16;
    in_columns = column < size.n;
    a = a_matrix + row * size.k + depth_a;
    b = b_matrix + depth_b * size.n + column;
  }

  __device__ void start(Stage& stage, const GemmProblem& size, int depth) const {
    const int thread = static_cast<int>(threadIdx.x);
    const T* from_a = a + depth;
    const T* from_b = b + depth * size.n;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const bool in_a = row + i * 32 < size.m && depth + depth_a < size.k;
      mma::copy_async(stage.at_a(thread / 4 + i * 32, thread % 4), in_a ? from_a : a, in_a);
      const bool in_b = in_columns && depth + depth_b + i * 8 < size.k;
      mma::copy_async(stage.at_b(depth_b + i * 8, thread % 16), in_b ? from_b : b, in_b);
      from_a += 32 * size.k;
      from_b += 8 * size.n;
    }
  }
};

/// A warp's 64 x 64 of c as 4 x 8 results of one instruction.
using Sums = float[4][8][4];

/// Operands of a warp's step: 64 rows of a and 64 columns of b, 16 deep.
struct Operands {
  std::uint32_t a[4][4];
  std::uint32_t b[4][4];

  __device__ void read(Stage& stage, int row, int column, int depth) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      mma::read_matrices<false>(a[i], stage.at_a(row + i * 16 + lane % 16, depth / 8 + lane / 16));
      mma::read_matrices<true>(b[i], stage.at_b(depth + lane % 16, column / 8 + i * 2 + lane / 16));
    }
  }

  template <typename T>
  __device__ void multiply(Sums& sums) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 8; ++j) mma::multiply<T>(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
  }
};

template <typename T>
__device__ void store(T* c, const GemmProblem& size, std::int64_t row, std::int64_t column, const Sums& sums) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const std::int64_t to_column = column + j * 8 + lane % 4 * 2;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const std::int64_t to_row = row + i * 16 + half * 8 + lane / 4;
        if (to_row >= size.m || to_column >= size.n) continue;
        T pair[2] = {narrow<T>(sums[i][j][half * 2]), narrow<T>(sums[i][j][half * 2 + 1])};
        *reinterpret_cast<std::uint32_t*>(c + to_row * size.n + to_column) =
            *reinterpret_cast<const std::uint32_t*>(pair);
      }
    }
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreads, 2)
    gemm_mma_kernel(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, GemmProblem size) {
  extern __shared__ Stage stages[];
  const Corner corner = corner_of(size);
  const Copies<T> copies(a, b, size, corner);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int row = warp / 2 * kWarpTile;
  const int column = warp % 2 * kWarpTile;
  // One group of copies per stage, empty past the end, so that the wait count is constant.
  for (int stage = 0; stage < kStages - 1; ++stage) {
    if (stage * kDepth < size.k) copies.start(stages[stage], size, stage * kDepth);
    mma::commit_copies();
  }
  // All threads' copies into the next stage are complete, and no thread reads the previous stage.
  const auto next_is_ready = [] {
    mma::wait_copies<kStages - 2>();
    __syncthreads();
  };
  Sums sums = {};
  Operands first;
  Operands second;
  next_is_ready();
  first.read(stages[0], row, column, 0);
  int stage = 0;
  for (int depth = 0; depth < size.k; depth += kDepth) {
    second.read(stages[stage], row, column, 16);
    const int ahead = depth + (kStages - 1) * kDepth;
    if (ahead < size.k) copies.start(stages[(stage + kStages - 1) % kStages], size, ahead);
    mma::commit_copies();
    first.multiply<T>(sums);
    stage = (stage + 1) % kStages;
    next_is_ready();
    first.read(stages[stage], row, column, 0);
    second.multiply<T>(sums);
  }
  store(c, size, corner.row + row, corner.column + column, sums);
}

template <typename T>
Kernel prepare_as(const GemmProblem& problem) {
  constexpr int kSharedBytes = kStages * static_cast<int>(sizeof(Stage));
  check(cudaFuncSetAttribute(gemm_mma_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes),
        "setting the mma kernel's shared memory size");
  const auto blocks = static_cast<unsigned>(ceil_div(problem.m, kTile) * ceil_div(problem.n, kTile));
  return [=](std::span<void* const> tensors) {
    gemm_mma_kernel<T><<<blocks, kThreads, kSharedBytes, problem.stream>>>(
        static_cast<const T*>(tensors[0]), static_cast<const T*>(tensors[1]), static_cast<T*>(tensors[2]), problem);
    check_launch("mma gemm kernel");
  };
}

Kernel prepare_gemm_mma(const Workload& workload, Device& device) {
  const GemmProblem problem = gemm_problem(workload, device);
  return workload.dtype == DType::fp16 ? prepare_as<__half>(problem) : prepare_as<__nv_bfloat16>(problem);
}

std::optional<std::string> unsupported_gemm_mma(const Workload& workload, const Device&) {
  const std::int64_t m = workload.shape["m"];
  const std::int64_t n = workload.shape["n"];
  if (workload.shape["k"] % 8 != 0 || n % 8 != 0) {
    return "needs k and n in multiples of 8 (16-byte copies)";
  }
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  if (std::max({m, n, workload.shape["k"], ceil_div(m, kTile) * ceil_div(n, kTile)}) > kMost) {
    return "the matrices exceed the kernel's 32-bit indices";
  }
  return std::nullopt;
}

}  // namespace

Implementation gemm_mma() {
  return {.name = "mma",
          .summary = "mma.sync, 64 x 64 warp tile in registers, cp.async three stages ahead",
          .device = DeviceKind::cuda,
          .dtypes = {DType::fp16, DType::bf16},
          .unsupported = unsupported_gemm_mma,
          .prepare = prepare_gemm_mma};
}

}  // namespace roofline
