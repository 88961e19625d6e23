// Common to the kernels for few rows or columns of c: the kernel, parameterised by `Work`, and the reduction of a
// tile's splits. A tile is a strip of c: all of its few rows (or columns) and some of its many columns (rows). The
// large matrix streams; all blocks run in one wave (tile_schedule.hpp), each over a range of strips and of k.
#pragma once

#include "kernels/blocks/cuda/element.cuh"
#include "kernels/blocks/cuda/last_block.cuh"
#include "kernels/blocks/cuda/split_plan.cuh"
#include "kernels/gemm/gemm_implementations.hpp"

namespace roofline::skinny {

constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;

/// A warp's part of rows [row, end) of b, if b streams: Work::kStep rows at a time, with the loads of two steps in
/// flight.
template <typename Work>
__device__ void walk_rows(Work& work, std::int64_t strip, std::int64_t row, std::int64_t end) {
  row += static_cast<int>(threadIdx.x) / 32 * Work::kStep;
  if (row >= end) return;
  typename Work::Step steps[2];
  work.load(steps[0], strip, row, end);
  work.load(steps[1], strip, row + Work::kUnit, end);
  for (; row < end; row += 2 * Work::kUnit) {
    work.add(steps[0]);
    work.load(steps[0], strip, row + 2 * Work::kUnit, end);
    work.add(steps[1]);  // past the end: times zeros
    work.load(steps[1], strip, row + 3 * Work::kUnit, end);
  }
}

/// Adds `count` partial results in shared memory, [count, kResults], of which `results` are valid, and then all
/// splits of the tile in order: take(i, sum) for each result, in the last of the tile's blocks. Called by the team,
/// all of whose threads see the partial results.
template <typename Team, int kResults, typename Take>
__device__ void reduce_splits(const float* shared, int count, int results, const WorkUnit& work_unit,
                              const SplitPlan& plan, Take take) {
  constexpr int kAhead = 8;
  float* const parts = plan.partials + std::int64_t{work_unit.tile} * plan.schedule.max_splits() * kResults;
  const float* from = shared;
  bool whole = work_unit.splits == 1;
#pragma unroll 1
  for (;;) {  // at most twice; loops are not unrolled, because this runs once per launch
#pragma unroll 1
    for (int i = Team::thread() * 4; i < results; i += Team::kThreads * 4) {
      float total[4] = {};
#pragma unroll 1
      for (int first = 0; first < count; first += kAhead) {
#pragma unroll
        for (int p = first; p < first + kAhead; ++p) {
          const float4 more = *reinterpret_cast<const float4*>(from + min(p, count - 1) * kResults + i);
          total[0] += p < count ? more.x : 0.0f;
          total[1] += p < count ? more.y : 0.0f;
          total[2] += p < count ? more.z : 0.0f;
          total[3] += p < count ? more.w : 0.0f;
        }
      }
      if (whole) {
#pragma unroll
        for (int j = 0; j < 4; ++j) take(i + j, total[j]);
      } else {
        *reinterpret_cast<float4*>(parts + work_unit.split * kResults + i) = *reinterpret_cast<const float4*>(total);
      }
    }
    if (whole || !is_last_block<Team>(plan.done + work_unit.tile, work_unit.splits)) return;
    from = parts;
    count = work_unit.splits;
    whole = true;
  }
}

/// From the partial results of a work unit, [Work::kParts, Work::kResults], to c. Results are [few, strip] if rows
/// are few, otherwise [strip, few].
template <typename Team, typename Work>
__device__ void finish(const float* shared, const WorkUnit& work_unit, const SplitPlan& plan, typename Work::T* c,
                       const GemmProblem& size) {
  constexpr int kWidth = Work::kFewRows ? Work::kStrip : Work::kFew;
  const std::int64_t strip = std::int64_t{work_unit.tile} * Work::kStrip;
  const int results = Work::kFewRows ? static_cast<int>(size.m) * kWidth : Work::kResults;
  reduce_splits<Team, Work::kResults>(shared, Work::kParts, results, work_unit, plan, [&](int i, float value) {
    const std::int64_t row = i / kWidth + (Work::kFewRows ? 0 : strip);
    const std::int64_t column = i % kWidth + (Work::kFewRows ? strip : 0);
    if (row < size.m && column < size.n) c[row * size.n + column] = narrow<typename Work::T>(value);
  });
}

/// c[m, n] = a[m, k] · b[k, n], directly from memory.
template <typename Work>
__global__ void __launch_bounds__(kThreads, Work::kBlocksPerSm)
    kernel(const typename Work::T* __restrict__ a, const typename Work::T* __restrict__ b,
           typename Work::T* __restrict__ c, GemmProblem size, SplitPlan plan) {
  __shared__ alignas(16) typename Work::Shared shared;
  plan.schedule.for_each_work_unit(static_cast<int>(blockIdx.x), [&](const WorkUnit& work_unit) {
    const std::int64_t strip = std::int64_t{work_unit.tile} * Work::kStrip;
    const std::int64_t first = std::int64_t{work_unit.first} * Work::kUnit;
    Work work{.a = a, .b = b, .size = size, .shared = shared};
    work.run(strip, first, min(first + std::int64_t{work_unit.count} * Work::kUnit, size.k));
    const float* parts = work.leave();
    __syncthreads();
    finish<Team<kThreads>, Work>(parts, work_unit, plan, c, size);
    __syncthreads();
  });
}

}  // namespace roofline::skinny
