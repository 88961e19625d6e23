// Reductions over a group of threads: a warp, several warps of a block, a block, or a cluster of blocks.
#pragma once

#include "kernels/blocks/cuda/element.cuh"

namespace roofline {

struct Sum {
  static __device__ float identity() { return 0; }
  __device__ float operator()(float a, float b) const { return a + b; }
};

struct Max {
  static __device__ float identity() { return -INFINITY; }
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

/// Sums of values and of their squares.
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

/// A sum of 2^(x - highest) over several x. Two of them are combined at the higher maximum.
struct ScaledSum {
  /// Finite, so that the difference of two empty sums is not NaN.
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

/// `value` of the lane whose index differs in the bits of `mask`.
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

/// Reduces over groups of `kCount` adjacent lanes, a power of two; each of them gets the result.
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

/// Stores to block `rank` of the cluster, at the address that corresponds to `here` in this block's shared memory.
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

/// Reductions over groups of `kThreads` threads (a power of two) in each of `kBlocks` blocks of a cluster. Every
/// thread gets the result, and all threads of the block must call it together. A block of `kBlockSize` threads has
/// several groups if they are smaller than it.
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

  /// Over the threads of the group in one warp.
  template <typename Value, typename Combine>
  static __device__ Value within_warp(Value value, Combine combine) {
    return warp_reduce<(kThreads < 32 ? kThreads : 32)>(value, combine);
  }

  /// Each warp's value to all threads of the group. Calls alternate between two halves of the shared memory,
  /// which saves a second barrier: before a thread writes to a half again, it has passed the barrier of the call
  /// in between, and by then all have read that half.
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
      // Another block's shared memory may be written to only once that block runs.
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

/// Reduces over each group of `kThreads` threads, within a warp, or over a whole block of that many. May be called
/// again immediately, at the cost of a second barrier.
template <int kThreads, typename Value, typename Combine>
__device__ Value group_reduce(Value value, Combine combine) {
  value = GroupReducer<kThreads>()(value, combine);
  if constexpr (kThreads > 32) __syncthreads();
  return value;
}

}  // namespace roofline
