// How the work units of a tile determine which block reduces their results.
#pragma once

#include "kernels/blocks/cuda/mbarrier.cuh"

namespace roofline {

/// Some warps of a block that work together: kThreads threads from kFirst on, with a named barrier of their own.
/// Concurrent teams of a block use different barriers.
template <int kThreadCount, int kFirst = 0, int kBarrier = 1>
struct Team {
  static constexpr int kThreads = kThreadCount;
  static constexpr int kWarps = kThreads / 32;

  static __device__ int thread() { return static_cast<int>(threadIdx.x) - kFirst; }
  static __device__ int warp() { return thread() / 32; }
  static __device__ void sync() { sync_named(kBarrier, kThreads); }
};

/// True if this block is the last of `blocks` to arrive; writes of the other blocks' teams are then visible. The
/// counter is 0 before the first arrival and after the last. Called by all threads of the team, which it synchronises.
template <typename Team>
__device__ bool is_last_block(unsigned* counter, int blocks) {
  __shared__ bool last;
  __threadfence();
  Team::sync();
  const auto limit = static_cast<unsigned>(blocks - 1);
  if (Team::thread() == 0) last = atomicInc(counter, limit) == limit;  // the last arrival resets it
  Team::sync();
  __threadfence();
  return last;
}

}  // namespace roofline
