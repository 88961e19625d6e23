// GEMM with few rows or columns of c on tensor cores (mma.sync m16n8k16, sm_80 and later) for 16-bit types: the few
// are the columns of tiles of eight, so that up to 16 of them cost about as much as one, and memory stays the limit.
// The large matrix is loaded directly into fragment registers, 16 bytes per load: the order of the summed index is
// free as long as both operands use the same, and so is the order of the result's rows. The loads of two steps are
// in flight. All blocks run in one wave (tile_schedule.hpp).
//
// In the fragments a thread is one of four (t = lane % 4) in each of eight groups (g = lane / 4).
#pragma once

#include "kernels/blocks/cuda/mma.cuh"
#include "kernels/gemm/skinny.cuh"

namespace roofline::skinny_mma {

using skinny::kThreads;
using skinny::kWarps;

__device__ inline int group() { return static_cast<int>(threadIdx.x) % 32 / 4; }
__device__ inline int member() { return static_cast<int>(threadIdx.x) % 4; }

// ---- few rows: c[m, n] = a[m, k] · b[k, n], b streams; n in multiples of 8 ----

/// A tile is a strip of kStrip columns; the block's warps share the rows of b, 16 per step.
///   operand b   a thread has columns 64 j + 8 g … of rows 4 t … 4 t + 3; output tile 4 j + i takes the elements
///               2 i and 2 i + 1 of these eight, as its rows g and g + 8
///   operand a   of row 8 tile + g the elements 4 t … 4 t + 3
///   results     sums[tile][4 j + i][h]: row 8 tile + 2 t + h % 2 of c, column 64 j + 8 g + 2 i + h / 2
/// kEven: k in multiples of 4.
template <typename Element, int kTiles, bool kEven>
struct FewRows {
  using T = Element;
  static constexpr bool kFewRows = true;
  static constexpr int kBlocksPerSm = kTiles == 1 ? 3 : 2;
  static constexpr int kStrip = 128;
  static constexpr int kSpans = kStrip / 64;
  static constexpr int kStep = 16;
  static constexpr int kUnit = kStep * kWarps;  ///< rows of b
  static constexpr int kFew = 8 * kTiles;
  static constexpr int kResults = kFew * kStrip;
  static constexpr int kParts = kWarps;
  struct Shared {
    float results[kWarps][kFew][kStrip];
  };
  struct Step {
    uint4 b[4][kSpans];
    std::uint32_t a[kTiles][2];
  };

  const T* a;
  const T* b;
  const GemmProblem& size;
  Shared& shared;
  float sums[kTiles][4 * kSpans][4] = {};

  /// Rows and columns past the last are read from valid addresses instead: such a row is multiplied by zeros of
  /// a, and such a column is not stored.
  __device__ void load(Step& step, std::int64_t strip, std::int64_t row, std::int64_t end) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const T* from = b + min(row + 4 * member() + i, end - 1) * size.n;
#pragma unroll
      for (int j = 0; j < kSpans; ++j) {
        const std::int64_t column = strip + 64 * j + 8 * group();
        step.b[i][j] = __ldcs(reinterpret_cast<const uint4*>(from + (column < size.n ? column : 0)));
      }
    }
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      const std::int64_t m = 8 * tile + group();
      const std::int64_t first = row + 4 * member();
      const T* from = a + m * size.k + first;
      step.a[tile][0] = step.a[tile][1] = 0;
      if constexpr (kEven) {
        if (m < size.m && first < end)
          *reinterpret_cast<uint2*>(step.a[tile]) = __ldg(reinterpret_cast<const uint2*>(from));
      } else {
        auto* elements = reinterpret_cast<unsigned short*>(step.a[tile]);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          if (m < size.m && first + i < end) elements[i] = __ldg(reinterpret_cast<const unsigned short*>(from + i));
        }
      }
    }
  }

  __device__ void add(const Step& step) {
#pragma unroll
    for (int j = 0; j < kSpans; ++j) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        std::uint32_t rows[4];
        mma::columns_operand(rows, step.b[0][j], step.b[1][j], step.b[2][j], step.b[3][j], i);
#pragma unroll
        for (int tile = 0; tile < kTiles; ++tile) {
          mma::multiply<T>(sums[tile][4 * j + i], rows, step.a[tile][0], step.a[tile][1]);
        }
      }
    }
  }

  __device__ void run(std::int64_t strip, std::int64_t row, std::int64_t end) {
    skinny::walk_rows(*this, strip, row, end);
  }

  __device__ const float* leave() const {
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
      for (int i = 0; i < 4 * kSpans; ++i) {
        const int column = i / 4 * 64 + 8 * group() + i % 4 * 2;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          *reinterpret_cast<float2*>(&shared.results[threadIdx.x / 32][8 * tile + 2 * member() + h][column]) =
              make_float2(sums[tile][i][h], sums[tile][i][h + 2]);
        }
      }
    }
    return &shared.results[0][0][0];
  }
};

// ---- few columns: c[m, n] = a[m, k] · b[k, n], a streams; k in multiples of 8 ----

/// A tile is a strip of kStrip rows, 16 per warp. b goes through shared memory, kDepth of k at a time.
///   operand a   a thread has 8 elements, 32 j + 8 t …, of rows g and g + 8: pairs of them serve two instructions
///   operand b   column g of b's rows in the same order, by ldmatrix
///   results     sums[tile][h]: row g + 8 (h / 2), column 8 tile + 2 t + h % 2
template <typename Element, int kTiles>
struct FewColumns {
  using T = Element;
  static constexpr bool kFewRows = false;
  static constexpr int kBlocksPerSm = 3;
  static constexpr int kStrip = 16 * kWarps;
  static constexpr int kUnit = 128;
  static constexpr int kSpans = kUnit / 32;
  static constexpr int kDepth = 8 * kUnit;
  static constexpr int kFew = 8 * kTiles;
  static constexpr int kResults = kStrip * kFew;
  static constexpr int kParts = 1;
  using Step = uint4[2][kSpans];

  struct Shared {
    T b[kTiles][kDepth][8];  ///< rows at place(row), eight columns each
    float results[kStrip][kFew];
  };
  /// Swizzled so that the rows of one ldmatrix are in different banks.
  static __device__ int place(int row) { return row ^ (row / 8 % 4 * 2); }

  const T* a;
  const T* b;
  const GemmProblem& size;
  Shared& shared;
  float sums[kTiles][4] = {};

  /// Rows past the last are read from valid addresses instead, and not stored; past the end of k there are zeros.
  __device__ void load(Step& step, std::int64_t row, std::int64_t first, std::int64_t end) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const T* from = a + min(row + group() + 8 * half, size.m - 1) * size.k;
#pragma unroll
      for (int j = 0; j < kSpans; ++j) {
        const std::int64_t depth = first + 32 * j + 8 * member();
        step[half][j] = make_uint4(0, 0, 0, 0);
        if (depth < end) step[half][j] = __ldcs(reinterpret_cast<const uint4*>(from + depth));
      }
    }
  }

  /// Eight columns of a row of b; columns that b lacks are zeros.
  __device__ uint4 staged(std::int64_t row, int tile) const {
    uint4 eight = make_uint4(0, 0, 0, 0);
    if (row >= size.k) return eight;
    const T* from = b + row * size.n + 8 * tile;
    if (size.n % 8 == 0) {
      if (8 * tile < size.n) eight = __ldg(reinterpret_cast<const uint4*>(from));
    } else {
      auto* elements = reinterpret_cast<unsigned short*>(&eight);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        if (8 * tile + i < size.n) elements[i] = __ldg(reinterpret_cast<const unsigned short*>(from + i));
      }
    }
    return eight;
  }

  /// Rows [first, first + kDepth) of b.
  __device__ void stage(std::int64_t first) {
    __syncthreads();  // all warps have read the previous contents
#pragma unroll 4
    for (int i = threadIdx.x; i < kTiles * kDepth; i += kThreads) {
      const int row = i / kTiles, tile = i % kTiles;
      *reinterpret_cast<uint4*>(shared.b[tile][place(row)]) = staged(first + row, tile);
    }
    __syncthreads();
  }

  /// `at`: the position of the step in the staged data.
  __device__ void add(const Step& step, int at) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int j = 0; j < kSpans; ++j) {
      std::uint32_t first[4], second[4];
      mma::rows_operands(first, second, step[0][j], step[1][j]);
      const int row = at + 32 * j + lane % 8 / 2 * 8 + lane % 2 + lane / 8 * 2;
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        std::uint32_t factors[4];
        mma::read_matrices<true>(factors, shared.b[tile][place(row)]);
        mma::multiply<T>(sums[tile], first, factors[0], factors[1]);
        mma::multiply<T>(sums[tile], second, factors[2], factors[3]);
      }
    }
  }

  /// Rows from `row` on, [first, end) of k.
  __device__ void run(std::int64_t row, std::int64_t first, std::int64_t end) {
    row += static_cast<int>(threadIdx.x) / 32 * 16;
    Step steps[2];
    load(steps[0], row, first, end);
    load(steps[1], row, first + kUnit, end);
    for (std::int64_t from = first; from < end; from += kDepth) {
      stage(from);
#pragma unroll 1
      for (int at = 0; at < kDepth && from + at < end; at += 2 * kUnit) {
        const std::int64_t next = from + at + 2 * kUnit;
        add(steps[0], at);
        load(steps[0], row, next, end);
        add(steps[1], at + kUnit);  // past the end: zeros
        load(steps[1], row, next + kUnit, end);
      }
    }
  }

  __device__ const float* leave() const {
    const int row = static_cast<int>(threadIdx.x) / 32 * 16 + group();
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        *reinterpret_cast<float2*>(&shared.results[row + 8 * half][8 * tile + 2 * member()]) =
            make_float2(sums[tile][2 * half], sums[tile][2 * half + 1]);
      }
    }
    return &shared.results[0][0];
  }
};

}  // namespace roofline::skinny_mma
