// What both flash-attention kernels share: the problem, the asynchronous copy, the running softmax.
#pragma once

#include "device/cuda/element.cuh"

namespace roofline {

/// Attention over `heads` independent heads (batch times heads), each [seq, head_dim], row-major.
struct AttentionProblem {
  cudaStream_t stream;
  std::int64_t heads;
  int seq;
  int head_dim;
  float scale_log2;  ///< log2(e) / sqrt(head_dim): scores go straight into powers of two
};

/// Copies 16 bytes to shared memory in the background, or zeros where `valid` is false.
__device__ inline void copy_async(void* shared, const void* global, bool valid) {
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const int bytes = valid ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(bytes));
}
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;"); }
/// Waits until at most kPending groups of copies are under way.
template <int kPending>
__device__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending));
}

/// The maximum and sum of the scores of one row so far, the sum relative to the maximum.
struct RunningSoftmax {
  float maximum = -INFINITY;
  float sum = 0;

  /// Takes in a new maximum; returns the factor by which what was accumulated so far shrinks. Every tile has a
  /// key at least, so the maximum is finite from the first one on.
  __device__ float raise(float seen) {
    const float raised = fmaxf(maximum, seen);
    const float shrink = fast_exp2(maximum - raised);
    maximum = raised;
    sum *= shrink;
    return shrink;
  }
};

}  // namespace roofline
