// One row of a matrix in the registers of a group of threads, and reductions over such a group: what layer norm,
// RMS norm and softmax share. A group is a warp, several warps of a block, a block, or a cluster of blocks.
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/element.cuh"

namespace roofline {

struct Sum {
  static __device__ float identity() { return 0; }
  __device__ float operator()(float a, float b) const { return a + b; }
};

struct Max {
  static __device__ float identity() { return -INFINITY; }
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

/// Sums of some values and of their squares.
struct Moments {
  float sum;
  float squares;

  __device__ void add(float value) {
    sum += value;
    squares = fmaf(value, value, squares);
  }
};

struct AddMoments {
  static __device__ Moments identity() { return {0, 0}; }
  __device__ Moments operator()(Moments a, Moments b) const { return {a.sum + b.sum, a.squares + b.squares}; }
};

/// A sum of 2^(x - highest) over some x. Two of them join at the higher maximum.
struct ScaledSum {
  /// Finite, so that the difference of two that have seen nothing is not NaN.
  static constexpr float kLowest = -3.4028234663852886e38f;

  float highest = kLowest;
  float sum = 0;
};

struct JoinScaledSums {
  static __device__ ScaledSum identity() { return {}; }
  __device__ ScaledSum operator()(ScaledSum a, ScaledSum b) const {
    const float highest = fmaxf(a.highest, b.highest);
    return {highest, a.sum * fast_exp2(a.highest - highest) + b.sum * fast_exp2(b.highest - highest)};
  }
};

/// `value` of the lane whose number differs in the bits of `mask`.
template <typename Value>
__device__ Value shuffle_xor(Value value, int mask) {
  static_assert(sizeof(Value) % sizeof(unsigned) == 0);
  auto* words = reinterpret_cast<unsigned*>(&value);
#pragma unroll
  for (std::size_t i = 0; i < sizeof(Value) / sizeof(unsigned); ++i) {
    words[i] = __shfl_xor_sync(0xffffffffu, words[i], mask);
  }
  return value;
}

/// Reduces over groups of `kCount` neighbouring lanes, a power of two; each of them gets the result.
template <int kCount, typename Value, typename Combine>
__device__ Value warp_reduce(Value value, Combine combine) {
#pragma unroll
  for (int mask = kCount / 2; mask > 0; mask /= 2) value = combine(value, shuffle_xor(value, mask));
  return value;
}

__device__ inline unsigned cluster_rank() {
  unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  return rank;
}

__device__ inline void cluster_arrive() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}

__device__ inline void cluster_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

/// Stores to the place in block `rank` of the cluster that `here`, in shared memory, is in this one.
template <typename Value>
__device__ void store_in_block(Value* here, unsigned rank, Value value) {
#if __CUDA_ARCH__ >= 900
  const auto* words = reinterpret_cast<const unsigned*>(&value);
  const auto local = static_cast<unsigned>(__cvta_generic_to_shared(here));
  unsigned there = 0;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(local), "r"(rank));
#pragma unroll
  for (unsigned i = 0; i < sizeof(Value) / sizeof(unsigned); ++i) {
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there + i * 4), "r"(words[i]) : "memory");
  }
#endif
}

/// Reductions over groups of `kThreads` threads (a power of two) in each of `kBlocks` blocks of a cluster. Every thread
/// gets the result, and all threads of the block call alike. A block of `kBlockSize` threads holds several groups
/// where they are smaller than it.
template <int kThreads, int kBlocks = 1, int kBlockSize = kThreads>
class GroupReducer {
 public:
  static constexpr int kWarps = kThreads <= 32 ? 1 : kThreads / 32;  ///< of a group, in one block
  static constexpr int kPartials = kWarps * kBlocks;
  static_assert(kBlocks == 1 || kThreads == kBlockSize);

  __device__ GroupReducer() {
    if constexpr (kBlocks > 1) cluster_arrive();
  }

  template <typename Value, typename Combine>
  __device__ Value operator()(Value value, Combine combine) {
    value = within_warp(value, combine);
    if constexpr (kPartials > 1) {
      const Value* partials = exchange(value);
      value = over_partials(combine, [&](int i) { return partials[i]; });
    }
    return value;
  }

  /// Over the threads of the group that are in one warp.
  template <typename Value, typename Combine>
  static __device__ Value within_warp(Value value, Combine combine) {
    return warp_reduce<(kThreads < 32 ? kThreads : 32)>(value, combine);
  }

  /// Each warp's value, to all threads of the group. Calls use two halves of the shared memory in turn, which saves
  /// them a second barrier: to write to a half again, one has to have passed the barrier of the call between, and
  /// by then everyone has read it.
  template <typename Value>
  __device__ const Value* exchange(Value value) {
    constexpr int kGroups = kBlockSize / kThreads;
    __shared__ Value partials[2][kGroups][kPartials];
    const unsigned lane = threadIdx.x % 32;
    const unsigned warp = threadIdx.x / 32;
    Value* const own = partials[turn_][warp / kWarps];
    turn_ ^= 1;
    if constexpr (kBlocks == 1) {
      if (lane == 0) own[warp % kWarps] = value;
      __syncthreads();
    } else {
      // Another block's shared memory can be written to once that block runs.
      if (first_) cluster_wait();
      first_ = false;
      if (lane < kBlocks) store_in_block(&own[cluster_rank() * kWarps + warp], lane, value);
      cluster_arrive();
      cluster_wait();
    }
    return own;
  }

  /// Reduces value(0) … value(kPartials - 1), each evaluated by one lane of every warp.
  template <typename Combine, typename F>
  static __device__ auto over_partials(Combine combine, F value) {
    auto total = Combine::identity();
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < kPartials; i += 32) {
      if (kPartials % 32 == 0 || kPartials < 32) {
        total = combine(total, value((lane + i) % kPartials));
      } else if (lane + i < kPartials) {
        total = combine(total, value(lane + i));
      }
    }
    return warp_reduce<(kPartials < 32 ? kPartials : 32)>(total, combine);
  }

 private:
  int turn_ = 0;
  bool first_ = true;
};

/// Reduces over each group of `kThreads` threads, within a warp, or over a whole block of so many. May be called
/// again at once, for the price of a second barrier.
template <int kThreads, typename Value, typename Combine>
__device__ Value group_reduce(Value value, Combine combine) {
  value = GroupReducer<kThreads>()(value, combine);
  if constexpr (kThreads > 32) __syncthreads();
  return value;
}

/// One access to memory: `kWidth` elements of T, which are 16 bytes, or a single one.
template <typename T, int kWidth>
struct Access {
  static_assert(kWidth == 1 || kWidth == kLanes<T>);
  using Raw = std::conditional_t<kWidth == 1, T, uint4>;

  /// What other blocks read too.
  static __device__ Raw load(const T* from) { return __ldg(reinterpret_cast<const Raw*>(from)); }
  /// What is read from memory once.
  static __device__ Raw load_once(const T* from) {
    if constexpr (kWidth == 1) {
      return __ldcs(from);
    } else {
      return load_streaming(reinterpret_cast<const uint4*>(from));
    }
  }

  static __device__ void store(T* to, const float (&values)[kWidth]) {
    if constexpr (kWidth == 1) {
      *to = narrow<T>(values[0]);
    } else {
      *reinterpret_cast<uint4*>(to) = narrow_vector<T>(values);
    }
  }

  static __device__ void widen_into(float (&values)[kWidth], Raw raw) {
    if constexpr (kWidth == 1) {
      values[0] = widen(raw);
    } else {
      widen_vector<T>(raw, values);
    }
  }
};

/// How a row is spread over threads: each of a group has `kSteps` accesses of `kWidth` elements, a group apart from
/// each other, so that a warp's accesses are contiguous. More than one block a row is a cluster (sm_90).
template <int kThreadsOfBlock, int kBlocksOfCluster, int kStepsOfThread, int kWidthOfAccess>
struct RowPlan {
  static constexpr int kThreads = kThreadsOfBlock;
  static constexpr int kBlocks = kBlocksOfCluster;
  static constexpr int kSteps = kStepsOfThread;
  static constexpr int kWidth = kWidthOfAccess;
  static constexpr int kGroup = kThreads * kBlocks;
  static constexpr int kColumns = kGroup * kSteps * kWidth;  ///< the longest row that it holds
  /// An SM has room for 32 blocks, so blocks of less than 64 threads would leave it half empty.
  static constexpr int kBlockSize = kThreads < 128 ? 128 : kThreads;
  using Reducer = GroupReducer<kThreads, kBlocks, kBlockSize>;
};

/// A thread's part of a row, as it is stored: widening it again for each use costs an instruction an element, and
/// registers are what limits how many rows are on their way at once. Rows start at multiples of an access.
template <typename T, typename RowPlan>
class RowTile {
 public:
  using Plan = RowPlan;
  static constexpr int kWidth = Plan::kWidth;

  __device__ RowTile(int columns, int lane) : columns_(columns), lane_(lane) {}

  int __device__ columns() const { return columns_; }

  /// All loads before the first is used: kSteps in flight.
  __device__ void load(const T* row) {
#pragma unroll
    for (int step = 0; step < Plan::kSteps; ++step) {
      if (has(step)) raw_[step] = Load::load_once(row + column(step));
    }
  }

  /// f(value) for each of the thread's elements.
  template <typename F>
  __device__ void for_each(F f) {
#pragma unroll
    for (int step = 0; step < Plan::kSteps; ++step) {
      if (!has(step)) continue;
      float values[kWidth];
      Load::widen_into(values, fresh(raw_[step]));
#pragma unroll
      for (const float value : values) f(value);
    }
  }

  /// Stores what `f(values of an access, its first column)` makes of the values.
  template <typename F>
  __device__ void store(T* row, F f) {
#pragma unroll
    for (int step = 0; step < Plan::kSteps; ++step) {
      if (!has(step)) continue;
      float values[kWidth];
      Load::widen_into(values, fresh(raw_[step]));
      f(values, column(step));
      Load::store(row + column(step), values);
    }
  }

 private:
  using Load = Access<T, kWidth>;

  __device__ int column(int step) const { return (lane_ + step * Plan::kGroup) * kWidth; }
  __device__ bool has(int step) const { return column(step) < columns_; }

  /// The compiler must not remember the widened values of the use before.
  static __device__ typename Load::Raw fresh(typename Load::Raw& raw) {
    if constexpr (kWidth > 1) asm volatile("" : "+r"(raw.x), "+r"(raw.y), "+r"(raw.z), "+r"(raw.w));
    return raw;
  }

  typename Load::Raw raw_[Plan::kSteps];
  int columns_;
  int lane_;  ///< of this thread in its group
};

/// y = f(x), row by row: each is read once and stays in registers in between. `f(tile, row of x, reduce)` looks at the
/// tile's values and returns what RowTile::store takes.
template <typename T, typename Plan, typename F>
__global__ void __launch_bounds__(Plan::kBlockSize)
    map_rows(F f, const T* __restrict__ x, T* __restrict__ y, std::int64_t rows, int columns) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * Plan::kBlockSize + threadIdx.x;
  // Groups past the last row compute it again and store nothing: they take part in the others' barriers.
  const std::int64_t own = thread / Plan::kGroup;
  const std::int64_t row = min(own, rows - 1);
  typename Plan::Reducer reduce;
  RowTile<T, Plan> tile(columns, static_cast<int>(thread % Plan::kGroup));
  tile.load(x + row * columns);
  const auto output = f(tile, x + row * columns, reduce);
  if (own < rows) tile.store(y + row * columns, output);
}

/// What a launch over rows needs to know.
struct Rows {
  cudaStream_t stream;
  std::int64_t rows;
  std::int64_t columns;
  bool clusters;  ///< whether the GPU has them
};

inline Rows rows_of(const CudaDevice& device, std::int64_t rows, std::int64_t columns) {
  return {device.stream(), rows, columns, device.properties().major >= 9};
}

template <typename T, typename Plan, typename F>
void launch_map_rows(const Rows& rows, F f, const T* x, T* y) {
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {Plan::kBlocks, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = static_cast<unsigned>(ceil_div(rows.rows * Plan::kGroup, Plan::kBlockSize));
  config.blockDim = Plan::kBlockSize;
  config.stream = rows.stream;
  config.attrs = &cluster;
  config.numAttrs = Plan::kBlocks > 1 ? 1 : 0;
  check(cudaLaunchKernelEx(&config, map_rows<T, Plan, F>, f, x, y, rows.rows, static_cast<int>(rows.columns)),
        "launching a kernel over rows");
}

/// Launches map_rows by the first of the plans that holds a row; false when none does.
template <typename T, typename... Plans, typename F>
bool launch_first_fit(const Rows& rows, F f, const T* x, T* y) {
  const auto fits = [&]<typename Plan>() {
    if (rows.columns > Plan::kColumns || (Plan::kBlocks > 1 && !rows.clusters)) return false;
    launch_map_rows<T, Plan>(rows, f, x, y);
    return true;
  };
  return (fits.template operator()<Plans>() || ...);
}

/// Launches map_rows; false when a row is too long for it: of more than 64 KiB, 512 KiB where there are clusters, or
/// 16,384 elements, 131,072 with clusters, where rows don't start on 16 bytes.
/// Small blocks are best, as they are in a plain copy (H200, rows of 2 to 64 KiB: twice as large ones lose up to 3 %),
/// and few accesses a thread, for a block's loads and its stores come in one burst each. F::kSteps says how many: two,
/// or more where a thread's reductions cost as much as its elements. Groups grow first, then accesses, then blocks.
template <typename T, typename F>
bool launch_in_registers(const Rows& rows, F f, const T* x, T* y) {
  constexpr int kW = kLanes<T>;
  constexpr int kS = F::kSteps;
  if (rows.columns % kW != 0) {
    return launch_first_fit<T, RowPlan<32, 1, 16, 1>, RowPlan<128, 1, 8, 1>, RowPlan<128, 1, 16, 1>,
                            RowPlan<256, 1, 16, 1>, RowPlan<512, 1, 16, 1>, RowPlan<1024, 1, 16, 1>,
                            RowPlan<1024, 2, 16, 1>, RowPlan<1024, 4, 16, 1>, RowPlan<1024, 8, 16, 1>>(rows, f, x, y);
  }
  return launch_first_fit<T, RowPlan<32, 1, kS, kW>, RowPlan<64, 1, kS, kW>, RowPlan<128, 1, kS, kW>,
                          RowPlan<256, 1, kS, kW>, RowPlan<512, 1, kS, kW>, RowPlan<512, 1, 4, kW>,
                          RowPlan<512, 1, 8, kW>, RowPlan<512, 2, 8, kW>, RowPlan<512, 4, 8, kW>,
                          RowPlan<512, 8, 8, kW>>(rows, f, x, y);
}

}  // namespace roofline
