// Decode attention in pieces: what one of them, or one warp, contributes to the outputs of a few queries, how such
// parts are joined, in shared memory at a block's end and in global memory after the last block of a task, and the
// problem that the kernels share.
#pragma once

#include "device/cuda/element.cuh"

namespace roofline {

namespace decode_split {

/// A task is a head of keys and values with up to `width` of the queries that share it; each has a row of blocks, one
/// for each piece of the context.
struct Problem {
  std::int64_t context;
  std::int64_t piece;  ///< keys of a block
  int pieces;
  int group;   ///< heads that share keys and values
  int slices;  ///< tasks of a group, one after another
  int width;   ///< queries of a task
  int head_dim;
  float scale_log2;  ///< log2(e) / sqrt(head_dim)
  float* parts;      ///< [tasks, pieces, width, part_stride]
  unsigned* done;    ///< [tasks], zero between launches

  /// A query's part: head_dim sums of weights times values, the sum of the weights, and the score (in powers of two)
  /// that they are relative to.
  __device__ int part_stride() const { return head_dim + 2; }
};

/// What a block works on.
struct Task {
  int index;
  int piece;
  int heads;             ///< queries, problem.width or fewer
  std::int64_t queries;  ///< of the first, as an offset into q and o
  std::int64_t keys;     ///< of the piece's first key, as an offset into k and v
  std::int64_t end;      ///< keys of the piece

  __device__ explicit Task(const Problem& problem) {
    index = static_cast<int>(blockIdx.x) / problem.pieces;
    piece = static_cast<int>(blockIdx.x) % problem.pieces;
    const std::int64_t kv_head = index / problem.slices;
    const int first_head = index % problem.slices * problem.width;
    const std::int64_t first_key = piece * problem.piece;
    heads = min(problem.width, problem.group - first_head);
    queries = (kv_head * problem.group + first_head) * problem.head_dim;
    keys = (kv_head * problem.context + first_key) * problem.head_dim;
    end = min(problem.piece, problem.context - first_key);
  }
};

/// What a part weighs in a sum relative to `maximum`; 0 past the last.
__device__ inline float weight_of(const float* maxima, std::int64_t stride, int part, int count, float maximum) {
  return part < count ? fast_exp2(maxima[part * stride] - maximum) : 0.0f;
}

/// Joins `count` parts of each query, `stride` floats from one to the next, and gives the result to
/// `take(query, column, values, sum, maximum)`, two columns at a time. A warp a query: its lanes have a part each while
/// they weigh them, and two columns in every 64 while they add them up, kAhead parts at once.
template <int kAhead, typename Take>
__device__ void join_parts(const float* parts, int count, std::int64_t stride, int heads, const Problem& problem,
                           Take take) {
  constexpr unsigned kAll = 0xffffffffu;
  constexpr int kSpans = 2;  // of 64 columns: 128 at most
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int head = static_cast<int>(threadIdx.x) / 32; head < heads; head += static_cast<int>(blockDim.x) / 32) {
    const float* part = parts + head * problem.part_stride();
    const float* maxima = part + problem.head_dim + 1;
    float maximum = -INFINITY;
    for (int p = lane; p < count; p += 32) maximum = fmaxf(maximum, maxima[p * stride]);
    for (int offset = 16; offset > 0; offset /= 2) maximum = fmaxf(maximum, __shfl_xor_sync(kAll, maximum, offset));
    float sum = 0;
    float2 values[kSpans] = {};
    for (int first = 0; first < count; first += 32) {
      const float mine = weight_of(maxima, stride, first + lane, count, maximum);
      if (first + lane < count) sum = fmaf(mine, part[(first + lane) * stride + problem.head_dim], sum);
#pragma unroll kAhead
      for (int p = 0; p < min(32, count - first); ++p) {
        const float weight = __shfl_sync(kAll, mine, p);
#pragma unroll
        for (int span = 0; span < kSpans; ++span) {
          // A lane without columns reads the last ones, and stores nothing.
          const int column = min(64 * span + 2 * lane, problem.head_dim - 2);
          const float2 more = *reinterpret_cast<const float2*>(part + (first + p) * stride + column);
          values[span].x = fmaf(weight, more.x, values[span].x);
          values[span].y = fmaf(weight, more.y, values[span].y);
        }
      }
    }
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(kAll, sum, offset);
#pragma unroll
    for (int span = 0; span < kSpans; ++span) {
      const int column = 64 * span + 2 * lane;
      if (column < problem.head_dim) take(head, column, values[span], sum, maximum);
    }
  }
}

/// Whether this block is the last of `blocks` to come here; what the others have written before is visible then.
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

/// From the parts that the block's warps have left in shared memory, [warps, problem.width, part_stride], to the
/// outputs: at once if there is one piece, else by the last block of the task. Every warp has seen a key, or has a
/// maximum of minus infinity, and the first has seen one.
template <typename T>
__device__ void finish(const float* shared, int warps, const Task& task, const Problem& problem, T* o) {
  const auto store = [&](int head, int column, float2 values, float sum, float) {
    T* to = o + task.queries + std::int64_t{head} * problem.head_dim + column;
    to[0] = narrow<T>(values.x / sum);
    to[1] = narrow<T>(values.y / sum);
  };
  const int stride = problem.width * problem.part_stride();
  __syncthreads();
  if (problem.pieces == 1) {
    join_parts<1>(shared, warps, stride, task.heads, problem, store);
    return;
  }
  float* parts = problem.parts + std::int64_t{task.index} * problem.pieces * stride;
  float* mine = parts + std::int64_t{task.piece} * stride;
  join_parts<1>(shared, warps, stride, task.heads, problem,
                [&](int head, int column, float2 values, float sum, float maximum) {
                  float* part = mine + head * problem.part_stride();
                  *reinterpret_cast<float2*>(part + column) = values;
                  if (column == 0) *reinterpret_cast<float2*>(part + problem.head_dim) = make_float2(sum, maximum);
                });
  if (last_to_come(problem.done + task.index, problem.pieces)) {
    join_parts<16>(parts, problem.pieces, stride, task.heads, problem, store);
  }
}

}  // namespace decode_split
}  // namespace roofline
