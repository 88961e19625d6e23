// How blocks that share a task find out who joins their results.
#pragma once

namespace roofline {

/// Whether this block is the last of `blocks` to come here; what the others have written before is visible then. The
/// counter is 0 before the first has come and after the last. Called by all threads; a barrier of the block.
__device__ inline bool last_to_come(unsigned* counter, int blocks) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  const auto limit = static_cast<unsigned>(blocks - 1);
  if (threadIdx.x == 0) last = atomicInc(counter, limit) == limit;  // back to zero with the last
  __syncthreads();
  __threadfence();
  return last;
}

}  // namespace roofline
