// GEMM on a GPU: c[m,n] = a[m,k] · b[k,n], all row-major, accumulated in fp32.
//   naive   a thread an element of c: every operand comes from memory again and again
//   tiled   128 x 128 of c a block through shared memory, 8 x 8 a thread in registers; CUDA cores only
//   cublas  NVIDIA's library, on tensor cores for all but fp32
#include <climits>

#include "device/cuda/check.hpp"
#include "device/cuda/cublas.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/element.cuh"
#include "op/registry.hpp"

namespace roofline {
namespace {

constexpr int kNaiveTile = 16;

struct Problem {
  cudaStream_t stream;
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
};

template <typename T>
__global__ void __launch_bounds__(kNaiveTile* kNaiveTile)
    gemm_naive(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, Problem size) {
  const std::int64_t column = std::int64_t{blockIdx.x} * kNaiveTile + threadIdx.x;
  const std::int64_t row = std::int64_t{blockIdx.y} * kNaiveTile + threadIdx.y;
  if (row >= size.m || column >= size.n) return;
  float sum = 0;
  for (std::int64_t i = 0; i < size.k; ++i) {
    sum = fmaf(widen(a[row * size.k + i]), widen(b[i * size.n + column]), sum);
  }
  c[row * size.n + column] = narrow<T>(sum);
}

// The tile: 128 x 128 of c for 256 threads of 8 x 8 each. Each 8 is two runs of 4, 64 apart, so that the
// 16-byte reads of shared memory by a warp fall into distinct banks.
constexpr int kTile = 128;
constexpr int kDepth = 16;
constexpr int kThreads = 256;
constexpr int kPadding = 4;  ///< the transposed store of a would otherwise hit one bank

struct Stage {
  float a[kDepth][kTile + kPadding];  ///< transposed: a[depth][row]
  float b[kDepth][kTile];
};

/// Loads elements [first, first + kLanes) of a row of `columns`, zeros past the end. kAligned: rows start
/// on 16 bytes, so a vector lies inside a row or outside, never across.
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

/// The share of one thread in the tiles of a and b: what is on its way from memory while a stage is used.
template <typename T, bool kAligned>
struct Fetch {
  static constexpr int kVectors = kTile * kDepth / kLanes<T> / kThreads;
  static constexpr int kPerRowA = kDepth / kLanes<T>;
  static constexpr int kPerRowB = kTile / kLanes<T>;
  uint4 a[kVectors];
  uint4 b[kVectors];

  __device__ void load(const T* a_matrix, const T* b_matrix, const Problem& size, std::int64_t depth) {
    const std::int64_t row = std::int64_t{blockIdx.y} * kTile;
    const std::int64_t column = std::int64_t{blockIdx.x} * kTile;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const int v = threadIdx.x + i * kThreads;
      a[i] = load_lanes<T, kAligned>(a_matrix, row + v / kPerRowA, size.m, depth + v % kPerRowA * kLanes<T>, size.k);
      b[i] = load_lanes<T, kAligned>(b_matrix, depth + v / kPerRowB, size.k, column + v % kPerRowB * kLanes<T>, size.n);
    }
  }

  __device__ void store(Stage& stage) const {
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const int v = threadIdx.x + i * kThreads;
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
  *reinterpret_cast<float4*>(out + 4) = *reinterpret_cast<const float4*>(line + first + kTile / 2);
}

__device__ inline void multiply_stage(const Stage& stage, int row, int column, float (&sum)[8][8]) {
#pragma unroll
  for (int depth = 0; depth < kDepth; ++depth) {
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
__global__ void __launch_bounds__(kThreads,
                                  kAligned ? 2 : 1)  // unaligned addresses take registers: two blocks would spill
    gemm_tiled(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, Problem size) {
  __shared__ Stage stages[2];
  const int row = threadIdx.x / 16 * 4;
  const int column = threadIdx.x % 16 * 4;
  float sum[8][8] = {};
  Fetch<T, kAligned> next;
  next.load(a, b, size, 0);
  next.store(stages[0]);
  __syncthreads();
  int current = 0;
  for (std::int64_t depth = kDepth; depth < size.k; depth += kDepth) {
    next.load(a, b, size, depth);
    multiply_stage(stages[current], row, column, sum);
    next.store(stages[current ^ 1]);
    __syncthreads();
    current ^= 1;
  }
  multiply_stage(stages[current], row, column, sum);

#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const std::int64_t to_row = std::int64_t{blockIdx.y} * kTile + row + i % 4 + i / 4 * (kTile / 2);
    if (to_row >= size.m) continue;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const std::int64_t to_column = std::int64_t{blockIdx.x} * kTile + column + j % 4 + j / 4 * (kTile / 2);
      if (to_column < size.n) c[to_row * size.n + to_column] = narrow<T>(sum[i][j]);
    }
  }
}

Problem problem_of(const Workload& workload, Device& device) {
  return {as_cuda(device).stream(), workload.shape["m"], workload.shape["n"], workload.shape["k"]};
}

dim3 grid_of(const Problem& problem, int tile) {
  return dim3(static_cast<unsigned>(ceil_div(problem.n, tile)), static_cast<unsigned>(ceil_div(problem.m, tile)));
}

Kernel prepare_naive(const Workload& workload, Device& device) {
  const Problem problem = problem_of(workload, device);
  return with_element_type(workload.dtype, [&]<typename T>() -> Kernel {
    return [problem](std::span<void* const> tensors) {
      gemm_naive<T><<<grid_of(problem, kNaiveTile), dim3(kNaiveTile, kNaiveTile), 0, problem.stream>>>(
          static_cast<const T*>(tensors[0]), static_cast<const T*>(tensors[1]), static_cast<T*>(tensors[2]), problem);
      check_launch("gemm kernel");
    };
  });
}

Kernel prepare_tiled(const Workload& workload, Device& device) {
  const Problem problem = problem_of(workload, device);
  return with_element_type(workload.dtype, [&]<typename T>() -> Kernel {
    const bool aligned = problem.k % kLanes<T> == 0 && problem.n % kLanes<T> == 0;
    const auto kernel = aligned ? gemm_tiled<T, true> : gemm_tiled<T, false>;
    return [problem, kernel](std::span<void* const> tensors) {
      kernel<<<grid_of(problem, kTile), kThreads, 0, problem.stream>>>(
          static_cast<const T*>(tensors[0]), static_cast<const T*>(tensors[1]), static_cast<T*>(tensors[2]), problem);
      check_launch("gemm kernel");
    };
  });
}

// cuBLAS is column-major: the row-major c is its transpose, and transpose(c) = transpose(b) · transpose(a).
Kernel prepare_cublas(const Workload& workload, Device& device) {
  const Problem problem = problem_of(workload, device);
  CublasHandle& cublas = as_cuda(device).cublas();
  CublasGemm product;
  product.m = static_cast<int>(problem.n);
  product.n = static_cast<int>(problem.m);
  product.k = static_cast<int>(problem.k);
  product.lda = product.m;
  product.ldb = product.k;
  product.ldc = product.m;
  product.dtype = workload.dtype;
  return [&cublas, product](std::span<void* const> tensors) {
    CublasGemm call = product;
    call.a = tensors[1];
    call.b = tensors[0];
    call.c = tensors[2];
    cublas.gemm(call);
  };
}

std::optional<std::string> unsupported_cublas(const Workload& workload, const Device&) {
  for (const char* extent : {"m", "n", "k"}) {
    if (workload.shape[extent] > INT_MAX) return std::string("cuBLAS counts in 32 bits, and ") + extent + " is larger";
  }
  return cublas_missing();
}

template <int kTileSize>
std::optional<std::string> unsupported_grid(const Workload& workload, const Device&) {
  if (ceil_div(workload.shape["m"], kTileSize) > 65535) return "m needs more rows of blocks than a grid has (65535)";
  if (ceil_div(workload.shape["n"], kTileSize) > INT_MAX) return "n needs more columns of blocks than a grid has";
  return std::nullopt;
}

const ImplementationRegistrar kRegistrar("gemm",
                                         {{.name = "naive",
                                           .summary = "a thread an element, no reuse but the caches'",
                                           .device = DeviceKind::cuda,
                                           .dtypes = {DType::fp32, DType::fp16, DType::bf16},
                                           .unsupported = unsupported_grid<kNaiveTile>,
                                           .prepare = prepare_naive},
                                          {.name = "tiled",
                                           .summary = "128 x 128 tiles in shared memory, 8 x 8 a thread, CUDA cores",
                                           .device = DeviceKind::cuda,
                                           .dtypes = {DType::fp32, DType::fp16, DType::bf16},
                                           .unsupported = unsupported_grid<kTile>,
                                           .prepare = prepare_tiled},
                                          {.name = "cublas",
                                           .summary = "NVIDIA's library; tensor cores for all but fp32",
                                           .device = DeviceKind::cuda,
                                           .dtypes = {DType::fp32, DType::tf32, DType::fp16, DType::bf16},
                                           .unsupported = unsupported_cublas,
                                           .prepare = prepare_cublas}});

}  // namespace
}  // namespace roofline
