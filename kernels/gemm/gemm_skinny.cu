// GEMM with few rows or columns of c, which is bound by reading the one large matrix: it is streamed once, in 16-byte
// loads by all SMs, and the small one comes from shared memory.
//   few rows     b streams: a thread owns 16 bytes of columns and all rows of c, and walks down a share of k
//   few columns  a streams: a warp owns four rows of c and walks along k
// Where the columns of c do not keep the GPU busy, k is cut as well; the block that finishes a strip of columns last
// adds the partial sums, always in the same order.
#include <algorithm>
#include <memory>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/element.cuh"
#include "device/cuda/handles.hpp"
#include "kernels/gemm/gemm_rungs.hpp"

namespace roofline {
namespace {

constexpr int kMost = 8;  ///< rows or columns that count as few: with more, CUDA cores are slower than the memory
constexpr int kWarps = 8;
constexpr int kThreads = kWarps * 32;

// ---- few rows: c[kRows, n] = a[kRows, k] · b[k, n] ----

constexpr int kRowsInFlight = 4;  ///< rows of b that a warp has asked for before it uses the first
constexpr int kRowsDepth = 512;   ///< of a in shared memory at a time

/// How k is cut: `splits` shares of `depth` each, and where the partial sums meet.
struct Split {
  int splits;
  std::int64_t depth;
  float* partial;      ///< [splits][m][n]
  unsigned* arrivals;  ///< one for each strip of columns, 0 between launches
};

/// Columns [first, first + `depth`) of a to shared memory, [depth][row], with zeros in the rows that a has not.
template <typename T, int kRows>
__device__ void stage_a(float* to, const T* a, const GemmProblem& size, std::int64_t first, int depth) {
  for (int row = 0; row < kRows; ++row) {
    for (int i = threadIdx.x; i < depth; i += kThreads) {
      to[i * kRows + row] = row < size.m ? widen(a[row * size.k + first + i]) : 0;
    }
  }
}

/// Adds `depth` rows of b, each scaled by kRows elements of a. A warp takes every kWarps-th.
template <typename T, int kRows>
__device__ void add_rows(float (&sums)[kRows][kLanes<T>], const T* b, const float* scales, std::int64_t n, int depth) {
  for (int first = static_cast<int>(threadIdx.x) / 32; first < depth; first += kRowsInFlight * kWarps) {
    uint4 raw[kRowsInFlight];
#pragma unroll
    for (int i = 0; i < kRowsInFlight; ++i) {
      raw[i] = make_uint4(0, 0, 0, 0);
      const int row = first + i * kWarps;
      if (row < depth) raw[i] = __ldcs(reinterpret_cast<const uint4*>(b + row * n));
    }
#pragma unroll
    for (int i = 0; i < kRowsInFlight; ++i) {
      const float* scale = scales + min(first + i * kWarps, depth - 1) * kRows;  // past the end b is zero
      float values[kLanes<T>];
      widen_vector<T>(raw[i], values);
#pragma unroll
      for (int row = 0; row < kRows; ++row) {
#pragma unroll
        for (int j = 0; j < kLanes<T>; ++j) sums[row][j] = fmaf(scale[row], values[j], sums[row][j]);
      }
    }
  }
}

/// The sums of all warps, for the column that this thread stands for; of use in the first kLanes warps.
template <int kWidth>
__device__ float total_over_warps(const float (&sums)[kWidth], float* shared) {
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  __syncthreads();
#pragma unroll
  for (int j = 0; j < kWidth; ++j) shared[(warp * 32 + lane) * kWidth + j] = sums[j];
  __syncthreads();
  float total = 0;
  if (threadIdx.x < 32 * kWidth) {
    for (int other = 0; other < kWarps; ++other) total += shared[other * 32 * kWidth + threadIdx.x];
  }
  return total;
}

/// True in the block that comes last to its strip of columns: what the others have left in memory is there.
__device__ inline bool is_last_of_strip(const Split& split) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(split.arrivals + blockIdx.x, 1U) + 1 == gridDim.y;
    if (last) split.arrivals[blockIdx.x] = 0;
  }
  __syncthreads();
  __threadfence();
  return last;
}

template <typename T, int kRows>
__global__ void __launch_bounds__(kThreads)
    gemm_few_rows(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, GemmProblem size, Split split) {
  constexpr int kWidth = kLanes<T>;
  __shared__ alignas(16) float scales[kRowsDepth * kRows];
  __shared__ float shared[kThreads * kWidth];
  const std::int64_t strip = std::int64_t{blockIdx.x} * 32 * kWidth;
  const std::int64_t column = strip + static_cast<int>(threadIdx.x % 32) * kWidth;
  const std::int64_t begin = blockIdx.y * split.depth;
  const std::int64_t end = min(begin + split.depth, size.k);
  float sums[kRows][kWidth] = {};
  for (std::int64_t first = begin; first < end; first += kRowsDepth) {
    const int depth = static_cast<int>(min(end - first, std::int64_t{kRowsDepth}));
    __syncthreads();
    stage_a<T, kRows>(scales, a, size, first, depth);
    __syncthreads();
    if (column < size.n) add_rows<T, kRows>(sums, b + first * size.n + column, scales, size.n, depth);
  }

  const std::int64_t own = strip + threadIdx.x;  // from here on a thread stands for one column
  const bool has_column = threadIdx.x < 32 * kWidth && own < size.n;
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    if (row >= size.m) break;
    const float total = total_over_warps(sums[row], shared);
    if (!has_column) continue;
    if (split.splits == 1) {
      c[row * size.n + own] = narrow<T>(total);
    } else {
      __stcg(split.partial + (blockIdx.y * size.m + row) * size.n + own, total);
    }
  }
  if (split.splits == 1 || !is_last_of_strip(split) || !has_column) return;
  for (int row = 0; row < size.m; ++row) {
    float total = 0;
#pragma unroll 8
    for (int i = 0; i < split.splits; ++i) total += __ldcg(split.partial + (i * size.m + row) * size.n + own);
    c[row * size.n + own] = narrow<T>(total);
  }
}

// ---- few columns: c[m, kColumns] = a[m, k] · b[k, kColumns] ----

constexpr int kColumnsInFlight = 2;  ///< vectors of each row of a that a thread has asked for before it uses the first
constexpr int kRowsOfWarp = 4;       ///< so many use an element of b that was read from shared memory

/// The part of b that a block uses next, in shared memory as the lanes use it: element `j` of vector `v` of all lanes
/// side by side. A row of 33 leaves writing and reading without bank conflicts.
template <typename T, int kColumns>
struct StagedB {
  static constexpr int kWidth = kLanes<T>;
  static constexpr int kDepth = kColumnsInFlight * 32 * kWidth;
  float values[kColumnsInFlight * kWidth * kColumns][33];

  __device__ float at(int v, int j, int column) const {
    return values[(v * kWidth + j) * kColumns + column][threadIdx.x % 32];
  }
  __device__ void load(const T* b, const GemmProblem& size, std::int64_t first) {
    for (int i = threadIdx.x; i < kDepth * kColumns; i += kThreads) {
      const int depth = i / kColumns;
      const int column = i % kColumns;
      const bool inside = first + depth < size.k && column < size.n;
      values[(depth / (32 * kWidth) * kWidth + depth % kWidth) * kColumns + column][depth / kWidth % 32] =
          inside ? widen(b[(first + depth) * size.n + column]) : 0;
    }
  }
};

template <typename T, int kColumns>
__global__ void __launch_bounds__(kThreads)
    gemm_few_columns(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, GemmProblem size) {
  constexpr int kWidth = kLanes<T>;
  __shared__ StagedB<T, kColumns> staged;
  const std::int64_t row = (std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32) * kRowsOfWarp;
  float sums[kRowsOfWarp][kColumns] = {};
  for (std::int64_t first = 0; first < size.k; first += staged.kDepth) {
    uint4 raw[kRowsOfWarp][kColumnsInFlight];
#pragma unroll
    for (int r = 0; r < kRowsOfWarp; ++r) {
#pragma unroll
      for (int v = 0; v < kColumnsInFlight; ++v) {
        const std::int64_t depth = first + (v * 32 + threadIdx.x % 32) * kWidth;
        raw[r][v] = make_uint4(0, 0, 0, 0);
        if (row + r < size.m && depth < size.k) {
          raw[r][v] = __ldcs(reinterpret_cast<const uint4*>(a + (row + r) * size.k + depth));
        }
      }
    }
    __syncthreads();
    staged.load(b, size, first);
    __syncthreads();
#pragma unroll
    for (int v = 0; v < kColumnsInFlight; ++v) {
      float values[kRowsOfWarp][kWidth];
#pragma unroll
      for (int r = 0; r < kRowsOfWarp; ++r) widen_vector<T>(raw[r][v], values[r]);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) {
#pragma unroll
        for (int column = 0; column < kColumns; ++column) {
          const float factor = staged.at(v, j, column);
#pragma unroll
          for (int r = 0; r < kRowsOfWarp; ++r) sums[r][column] = fmaf(values[r][j], factor, sums[r][column]);
        }
      }
    }
  }
#pragma unroll
  for (int r = 0; r < kRowsOfWarp; ++r) {
#pragma unroll
    for (int column = 0; column < kColumns; ++column) {
      float sum = sums[r][column];
#pragma unroll
      for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0U, sum, step);
      const bool inside = row + r < size.m && column < size.n;
      if (threadIdx.x % 32 == 0 && inside) c[(row + r) * size.n + column] = narrow<T>(sum);
    }
  }
}

/// What a kernel of few rows needs besides its operands, for as long as it lives.
struct Workspace {
  DeviceMemory partial;
  DeviceMemory arrivals;
};

template <typename T, int kRows>
Kernel prepare_few_rows(const GemmProblem& problem, const CudaDevice& device) {
  constexpr int kBlocksPerSm = 4;
  constexpr std::int64_t kLeastDepth = kWarps * kRowsInFlight * 2;
  const std::int64_t strips = ceil_div(problem.n, 32 * kLanes<T>);
  const std::int64_t wanted = ceil_div(std::int64_t{device.properties().sm_count} * kBlocksPerSm, strips);
  const std::int64_t most = std::max<std::int64_t>(problem.k / kLeastDepth, 1);
  Split split{};
  split.depth = ceil_div(ceil_div(problem.k, std::min(wanted, most)), kWarps) * kWarps;
  split.splits = static_cast<int>(ceil_div(problem.k, split.depth));
  auto workspace = std::make_shared<Workspace>();
  if (split.splits > 1) {
    const auto elements = static_cast<std::size_t>(split.splits * problem.m * problem.n);
    const auto counters = static_cast<std::size_t>(strips) * sizeof(unsigned);
    workspace->partial = make_device_memory(elements * sizeof(float));
    workspace->arrivals = make_device_memory(counters);
    check(cudaMemset(workspace->arrivals.get(), 0, counters), "clearing the skinny kernel's counters");
    split.partial = static_cast<float*>(workspace->partial.get());
    split.arrivals = static_cast<unsigned*>(workspace->arrivals.get());
  }
  const dim3 grid(static_cast<unsigned>(strips), static_cast<unsigned>(split.splits));
  return [=](std::span<void* const> tensors) {
    static_cast<void>(workspace);  // lives as long as this kernel
    gemm_few_rows<T, kRows><<<grid, kThreads, 0, problem.stream>>>(static_cast<const T*>(tensors[0]),
                                                                   static_cast<const T*>(tensors[1]),
                                                                   static_cast<T*>(tensors[2]), problem, split);
    check_launch("skinny gemm kernel");
  };
}

template <typename T, int kColumns>
Kernel prepare_few_columns(const GemmProblem& problem) {
  const auto blocks = static_cast<unsigned>(ceil_div(problem.m, kWarps * kRowsOfWarp));
  return [=](std::span<void* const> tensors) {
    gemm_few_columns<T, kColumns><<<blocks, kThreads, 0, problem.stream>>>(
        static_cast<const T*>(tensors[0]), static_cast<const T*>(tensors[1]), static_cast<T*>(tensors[2]), problem);
    check_launch("skinny gemm kernel");
  };
}

/// Calls `function` with the least instantiated count that holds `count`.
template <typename Function>
Kernel with_count(std::int64_t count, Function&& function) {
  if (count == 1) return function.template operator()<1>();
  if (count <= 4) return function.template operator()<4>();
  return function.template operator()<kMost>();
}

Kernel prepare(const Workload& workload, Device& device) {
  const GemmProblem problem = gemm_problem(workload, device);
  return with_element_type(workload.dtype, [&]<typename T>() -> Kernel {
    if (problem.m <= kMost && problem.n % kLanes<T> == 0) {
      return with_count(problem.m, [&]<int kRows>() { return prepare_few_rows<T, kRows>(problem, as_cuda(device)); });
    }
    return with_count(problem.n, [&]<int kColumns>() { return prepare_few_columns<T, kColumns>(problem); });
  });
}

std::optional<std::string> unsupported(const Workload& workload, const Device&) {
  const std::int64_t m = workload.shape["m"];
  const std::int64_t n = workload.shape["n"];
  const std::int64_t lanes = 16 / element_size(workload.dtype);
  if (m <= kMost && n % lanes == 0) return std::nullopt;
  if (n <= kMost && workload.shape["k"] % lanes == 0 && m < (std::int64_t{1} << 30)) return std::nullopt;
  return "needs m <= 8 and rows of B that start on 16 bytes, or n <= 8 and such rows of A";
}

}  // namespace

Implementation gemm_skinny() {
  return {.name = "skinny",
          .summary = "for m or n up to 8: streams the large matrix once, with k cut until all SMs are busy",
          .device = DeviceKind::cuda,
          .dtypes = {DType::fp32, DType::fp16, DType::bf16},
          .unsupported = unsupported,
          .prepare = prepare};
}

}  // namespace roofline
