// Split-KV decode attention: the partial results of a work unit or a warp for a few queries, their reduction (in
// shared memory at the end of a block, in global memory by the last block of a tile), and the common problem.
#pragma once

#include "kernels/blocks/cuda/element.cuh"
#include "kernels/blocks/cuda/last_block.cuh"
#include "kernels/blocks/tile_schedule.hpp"

namespace roofline {

namespace decode_split {

/// A tile is a head of keys and values with up to `width` of the queries that share it. Its iterations are
/// `keys_per_iteration` keys.
struct Problem {
  TileSchedule schedule;
  int keys_per_iteration;
  std::int64_t context;
  int group;   ///< heads that share keys and values
  int slices;  /// tiles of a group, one after another
  int width;   /// queries per tile
  int head_dim;
  float scale_log2;  ///< log2(e) / sqrt(head_dim)
  float* parts;      /// [tiles, max splits, width, part_stride]
  unsigned* done;    /// [tiles], zero between launches

  /// A partial result of a query: head_dim sums of weights times values, the sum of the weights, and the score
  /// (in powers of two) that they are relative to.
  __device__ int part_stride() const { return head_dim + 2; }
};

/// The keys and queries of a work unit.
struct KeyRange {
  WorkUnit work_unit;
  int heads;             ///< queries, problem.width or fewer
  std::int64_t queries;  ///< of the first, as an offset into q and o
  std::int64_t keys;     /// of the first key, as an offset into k and v
  int end;               /// number of keys

  __device__ KeyRange(const Problem& problem, const WorkUnit& of) : work_unit(of) {
    const std::int64_t kv_head = work_unit.tile / problem.slices;
    const int first_head = work_unit.tile % problem.slices * problem.width;
    const std::int64_t first_key = std::int64_t{work_unit.first} * problem.keys_per_iteration;
    heads = min(problem.width, problem.group - first_head);
    queries = (kv_head * problem.group + first_head) * problem.head_dim;
    keys = (kv_head * problem.context + first_key) * problem.head_dim;
    end =
        static_cast<int>(min(std::int64_t{work_unit.count} * problem.keys_per_iteration, problem.context - first_key));
  }
};

/// Destination of a reduction: the outputs of the queries, or one partial result each.
template <typename T>
struct Joined {
  T* outputs;   ///< of the first query, [queries, head_dim]; null: a part
  float* part;  ///< [queries, part_stride]
};

/// Combines `count` partial results of each query, `stride` floats apart. One warp per query: its lanes have two
/// columns in every 64, and kAhead partial results in flight. Every partial result has seen a key or has a maximum
/// of minus infinity, and the first has seen one. Loops are not unrolled, because this runs once per launch.
template <typename Team, typename T>
__device__ void join_parts(const float* parts, int count, int stride, int heads, const Problem& problem,
                           Joined<T> joined) {
  constexpr int kSpans = 2;  // of 64 columns: 128 at most
  constexpr int kAhead = 8;
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll 1
  for (int head = Team::warp(); head < heads; head += Team::kWarps) {
    const float* part = parts + head * problem.part_stride();
    float maximum = -INFINITY;
    float sum = 0;
    float2 values[kSpans] = {};
#pragma unroll 1
    for (int first = 0; first < count; first += kAhead) {
      float2 tails[kAhead];  // sum and maximum
      float2 more[kAhead][kSpans];
#pragma unroll
      for (int p = 0; p < kAhead; ++p) {
        const float* from = part + min(first + p, count - 1) * stride;  // past the last: its weight is 0
        tails[p] = *reinterpret_cast<const float2*>(from + problem.head_dim);
#pragma unroll
        for (int span = 0; span < kSpans; ++span) {
          // A lane without columns reads the last ones, and stores nothing.
          more[p][span] = *reinterpret_cast<const float2*>(from + min(64 * span + 2 * lane, problem.head_dim - 2));
        }
      }
      float raised = maximum;
#pragma unroll
      for (int p = 0; p < kAhead; ++p) raised = fmaxf(raised, tails[p].y);
      const float shrink = fast_exp2(maximum - raised);
      maximum = raised;
      sum *= shrink;
#pragma unroll
      for (int span = 0; span < kSpans; ++span) {
        values[span].x *= shrink;
        values[span].y *= shrink;
      }
#pragma unroll
      for (int p = 0; p < kAhead; ++p) {
        const float weight = first + p < count ? fast_exp2(tails[p].y - maximum) : 0.0f;
        sum = fmaf(weight, tails[p].x, sum);
#pragma unroll
        for (int span = 0; span < kSpans; ++span) {
          values[span].x = fmaf(weight, more[p][span].x, values[span].x);
          values[span].y = fmaf(weight, more[p][span].y, values[span].y);
        }
      }
    }
    const float scale = 1.0f / sum;
#pragma unroll
    for (int span = 0; span < kSpans; ++span) {
      const int column = 64 * span + 2 * lane;
      if (column >= problem.head_dim) break;
      if (joined.outputs != nullptr) {
        T* to = joined.outputs + std::int64_t{head} * problem.head_dim + column;
        to[0] = narrow<T>(values[span].x * scale);
        to[1] = narrow<T>(values[span].y * scale);
      } else {
        float* to = joined.part + head * problem.part_stride();
        *reinterpret_cast<float2*>(to + column) = values[span];
        if (column == 0) *reinterpret_cast<float2*>(to + problem.head_dim) = make_float2(sum, maximum);
      }
    }
  }
}

/// From `count` partial results per query in shared memory, [count, problem.width, part_stride], to the outputs:
/// directly if the tile has one work unit, otherwise by the last of its blocks. Called by the team, all of whose
/// threads see the partial results.
template <typename Team, typename T>
__device__ void finish(const float* shared, int count, const KeyRange& range, const Problem& problem, T* o) {
  const int stride = problem.width * problem.part_stride();
  float* parts = problem.parts + std::int64_t{range.work_unit.tile} * problem.schedule.max_splits() * stride;
  const float* from = shared;
  bool whole = range.work_unit.splits == 1;
#pragma unroll 1
  for (;;) {  // twice at most; one copy of the code
    join_parts<Team, T>(
        from, count, stride, range.heads, problem,
        {.outputs = whole ? o + range.queries : nullptr, .part = parts + range.work_unit.split * stride});
    if (whole || !is_last_block<Team>(problem.done + range.work_unit.tile, range.work_unit.splits)) return;
    from = parts;
    count = range.work_unit.splits;
    whole = true;
  }
}

/// The same for the partial results of the team's warps. Shared memory may be reused afterwards.
template <typename Team, typename T>
__device__ void finish(const float* shared, const KeyRange& range, const Problem& problem, T* o) {
  Team::sync();
  finish<Team>(shared, Team::kWarps, range, problem, o);
  Team::sync();
}

}  // namespace decode_split
}  // namespace roofline
