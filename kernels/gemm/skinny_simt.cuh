// GEMM with few rows or columns of c in fp32 on CUDA cores: the large matrix streams through registers, 16 bytes per
// load, with the loads of two steps in flight. With up to eight rows or columns the arithmetic is hidden behind
// memory.
#pragma once

#include "kernels/gemm/skinny.cuh"

namespace roofline::skinny_simt {

using skinny::kThreads;
using skinny::kWarps;

/// More resident blocks, and so more loads in flight, if a thread needs few registers.
constexpr int blocks_for(int few) { return few == 1 ? 6 : few == 4 ? 4 : 3; }

// ---- few rows: c[m, n] = a[m, k] · b[k, n], b streams; n in multiples of 4 ----

/// A thread has four columns of the strip; a warp takes four rows of b per step. kEven: k in multiples of 4.
template <int kFew_, bool kEven>
struct FewRows {
  using T = float;
  static constexpr bool kFewRows = true;
  static constexpr int kFew = kFew_;
  static constexpr int kBlocksPerSm = blocks_for(kFew);
  static constexpr int kStrip = 128;
  static constexpr int kStep = 4;
  static constexpr int kUnit = kStep * kWarps;  ///< rows of b
  static constexpr int kResults = kFew * kStrip;
  static constexpr int kParts = kWarps;

  struct Shared {
    float results[kWarps][kFew][kStrip];
  };
  struct Step {
    float4 b[kStep];
    float4 a[kFew];
  };

  const float* a;
  const float* b;
  const GemmProblem& size;
  Shared& shared;
  float sums[kFew][4] = {};

  static __device__ int column() { return static_cast<int>(threadIdx.x) % 32 * 4; }

  /// Rows and columns past the last are read from valid addresses instead: such a row is multiplied by zeros of
  /// a, and such a column is not stored.
  __device__ void load(Step& step, std::int64_t strip, std::int64_t row, std::int64_t end) const {
    const std::int64_t from = strip + column() < size.n ? strip + column() : 0;
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      step.b[i] = __ldcs(reinterpret_cast<const float4*>(b + min(row + i, end - 1) * size.n + from));
    }
#pragma unroll
    for (int m = 0; m < kFew; ++m) {
      const float* of_row = a + m * size.k + row;
      step.a[m] = make_float4(0, 0, 0, 0);
      if constexpr (kEven) {
        if (m < size.m && row < end) step.a[m] = __ldg(reinterpret_cast<const float4*>(of_row));
      } else {
        float* elements = &step.a[m].x;
#pragma unroll
        for (int i = 0; i < kStep; ++i) {
          if (m < size.m && row + i < end) elements[i] = __ldg(of_row + i);
        }
      }
    }
  }

  __device__ void add(const Step& step) {
#pragma unroll
    for (int m = 0; m < kFew; ++m) {
      const float* factors = &step.a[m].x;
#pragma unroll
      for (int i = 0; i < kStep; ++i) {
        const float* values = &step.b[i].x;
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[m][j] = fmaf(factors[i], values[j], sums[m][j]);
      }
    }
  }

  __device__ void run(std::int64_t strip, std::int64_t row, std::int64_t end) {
    skinny::walk_rows(*this, strip, row, end);
  }

  __device__ const float* leave() const {
#pragma unroll
    for (int m = 0; m < kFew; ++m) {
      *reinterpret_cast<float4*>(&shared.results[threadIdx.x / 32][m][column()]) =
          make_float4(sums[m][0], sums[m][1], sums[m][2], sums[m][3]);
    }
    return &shared.results[0][0][0];
  }
};

// ---- few columns: c[m, n] = a[m, k] · b[k, n], a streams; rows of a are 16-byte aligned ----

/// A warp has eight rows of the strip, and its lanes 16 bytes of each per step. b goes through shared memory,
/// kDepth of k at a time.
template <typename Element, int kFew_>
struct FewColumns {
  using T = Element;
  static constexpr bool kFewRows = false;
  static constexpr int kFew = kFew_;
  static constexpr int kBlocksPerSm = kFew == 1 ? 3 : 2;
  static constexpr int kWidth = kLanes<T>;
  static constexpr int kRows = 8;  /// per warp: the reuse of an element of b read from shared memory
  static constexpr int kStrip = kRows * kWarps;
  static constexpr int kUnit = 32 * kWidth;
  static constexpr int kUnits = 8;
  static constexpr int kDepth = kUnits * kUnit;
  static constexpr int kResults = kStrip * kFew;
  static constexpr int kParts = 1;
  using Step = uint4[kRows];

  /// b in the order of the lanes: element kWidth * lane + j of a unit at [unit][j][column][lane]. Rows of 33
  /// avoid bank conflicts for writes and reads.
  struct Shared {
    float b[kUnits][kWidth][kFew][33];
    float results[kStrip][kFew];
  };

  const T* a;
  const T* b;
  const GemmProblem& size;
  Shared& shared;
  float sums[kRows][kFew] = {};

  static __device__ int lane() { return static_cast<int>(threadIdx.x) % 32; }

  /// Rows past the last are read from valid addresses instead, and not stored; past the end of k there are zeros.
  __device__ void load(Step& step, std::int64_t row, std::int64_t first, std::int64_t end) const {
    const std::int64_t depth = first + kWidth * lane();
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      step[r] = make_uint4(0, 0, 0, 0);
      const T* from = a + min(row + r, size.m - 1) * size.k + depth;
      if (depth < end) step[r] = __ldcs(reinterpret_cast<const uint4*>(from));
    }
  }

  /// Rows [first, first + kDepth) of b; rows past the last, and columns that b lacks, are zeros.
  __device__ void stage(std::int64_t first) {
    __syncthreads();  // all warps have read the previous contents
#pragma unroll 8
    for (int i = threadIdx.x; i < kDepth * kFew; i += kThreads) {
      const int row = i / kFew, column = i % kFew;
      const bool inside = first + row < size.k && column < size.n;
      shared.b[row / kUnit][row % kWidth][column][row % kUnit / kWidth] =
          inside ? widen(b[(first + row) * size.n + column]) : 0.0f;
    }
    __syncthreads();
  }

  __device__ void add(const Step& step, int unit) {
    float values[kRows][kWidth];
#pragma unroll
    for (int r = 0; r < kRows; ++r) widen_vector<T>(step[r], values[r]);
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
#pragma unroll
      for (int column = 0; column < kFew; ++column) {
        const float factor = shared.b[unit][j][column][lane()];
#pragma unroll
        for (int r = 0; r < kRows; ++r) sums[r][column] = fmaf(values[r][j], factor, sums[r][column]);
      }
    }
  }

  /// Rows from `row` on, [first, end) of k.
  __device__ void run(std::int64_t row, std::int64_t first, std::int64_t end) {
    row += static_cast<int>(threadIdx.x) / 32 * kRows;
    Step steps[2];
    load(steps[0], row, first, end);
    load(steps[1], row, first + kUnit, end);
    for (std::int64_t staged = first; staged < end; staged += kDepth) {
      stage(staged);
#pragma unroll 1
      for (int unit = 0; unit < kUnits && staged + unit * kUnit < end; unit += 2) {
        const std::int64_t next = staged + (unit + 2) * kUnit;
        add(steps[0], unit);
        load(steps[0], row, next, end);
        add(steps[1], unit + 1);  // past the end: zeros
        load(steps[1], row, next + kUnit, end);
      }
    }
  }

  __device__ const float* leave() const {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int column = 0; column < kFew; ++column) {
        float sum = sums[r][column];
#pragma unroll
        for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0U, sum, step);
        if (lane() == 0) shared.results[threadIdx.x / 32 * kRows + r][column] = sum;
      }
    }
    return &shared.results[0][0];
  }
};

}  // namespace roofline::skinny_simt
