// Shared by the attention kernels: the problem and the running softmax.
#pragma once

#include "kernels/blocks/cuda/element.cuh"
#include "kernels/blocks/cuda/mma.cuh"

namespace roofline {

/// Attention over `heads` independent heads (batch times heads), each [seq, head_dim], row-major.
struct AttentionProblem {
  cudaStream_t stream;
  std::int64_t heads;
  int group;  ///< consecutive heads that share keys and values
  int seq;
  int head_dim;
  bool causal;       ///< query i sees keys 0 … i only
  float scale_log2;  /// log2(e) / sqrt(head_dim): scores become powers of two directly

  /// Number of keys that the queries before `end` see.
  __device__ int keys_of(int end) const { return causal && end < seq ? end : seq; }
};

/// The part of a block with `kQueries` queries of one head, for grids with one such block each. Under a causal mask
/// the last queries see the most keys; they come first, so that no long block runs alone at the end.
template <int kQueries>
struct QueryTile {
  std::int64_t queries;  ///< of the head's first query, as an offset into q and o
  std::int64_t keys;     ///< of its first key, as an offset into k and v
  int first;             ///< query
  int end;               ///< of the keys that any query here sees

  __device__ explicit QueryTile(const AttentionProblem& problem) {
    const int tiles = (problem.seq + kQueries - 1) / kQueries;
    const int head = static_cast<int>(blockIdx.x) / tiles;
    const std::int64_t size = std::int64_t{problem.seq} * problem.head_dim;
    queries = head * size;
    keys = head / problem.group * size;
    first = (tiles - 1 - static_cast<int>(blockIdx.x) % tiles) * kQueries;
    end = problem.keys_of(first + kQueries);
  }
};

/// Running maximum and sum of the scores of one row; the sum is relative to the maximum.
struct RunningSoftmax {
  float maximum = -INFINITY;
  float sum = 0;

  /// Updates the maximum and returns the factor for what was accumulated so far. Every tile has at least one key,
  /// so the maximum is finite from the first tile on.
  __device__ float raise(float seen) {
    const float raised = fmaxf(maximum, seen);
    const float shrink = fast_exp2(maximum - raised);
    maximum = raised;
    sum *= shrink;
    return shrink;
  }
};

}  // namespace roofline
