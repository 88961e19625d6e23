// How blocks that share a task find out who joins their results.
#pragma once

#include "kernels/blocks/cuda/mbarrier.cuh"

namespace roofline {

/// Some warps of a block that work together: kThreads threads from kFirst on, with a barrier of their own. Two teams of
/// a block that run at the same time have different barriers.
template <int kThreadCount, int kFirst = 0, int kBarrier = 1>
struct Team {
  static constexpr int kThreads = kThreadCount;
  static constexpr int kWarps = kThreads / 32;

  static __device__ int thread() { return static_cast<int>(threadIdx.x) - kFirst; }
  static __device__ int warp() { return thread() / 32; }
  static __device__ void sync() { sync_named(kBarrier, kThreads); }
};

/// Whether this block is the last of `blocks` to come here; what the others' teams have written before is visible then.
/// The counter is 0 before the first has come and after the last. Called by all threads of the team; a barrier of it.
template <typename Team>
__device__ bool is_last_block(unsigned* counter, int blocks) {
  __shared__ bool last;
  __threadfence();
  Team::sync();
  const auto limit = static_cast<unsigned>(blocks - 1);
  if (Team::thread() == 0) last = atomicInc(counter, limit) == limit;  // back to zero with the last
  Team::sync();
  __threadfence();
  return last;
}

}  // namespace roofline
