// GEMM with few rows or columns of c on tensor cores, with operands loaded by TMA (sm_90): skinny_mma.cuh's
// arithmetic from a ring of stages in shared memory. One block per SM, most of whose shared memory is in flight at
// any time, with warp roles (stream_ring.cuh). k is a multiple of 8; TMA fills elements outside the matrices with
// zeros.
#pragma once

#include "kernels/blocks/cuda/mma.cuh"
#include "kernels/blocks/cuda/stream_ring.cuh"
#include "kernels/gemm/skinny.cuh"

namespace roofline::skinny_tma {

using Roles = StreamRoles<8, 3>;

/// `large` streams; `few` is the other operand.
struct Maps {
  CUtensorMap large, few;
};

__device__ inline int warp() { return static_cast<int>(threadIdx.x) / 32; }
__device__ inline int group() { return static_cast<int>(threadIdx.x) % 32 / 4; }
__device__ inline int member() { return static_cast<int>(threadIdx.x) % 4; }

/// Eight elements, from `column` on, of a row of a tile that was copied with the 128-byte swizzle.
template <typename T, int kRows>
__device__ uint4 swizzled(const T (&tile)[kRows][64], int row, int column) {
  return *reinterpret_cast<const uint4*>(&tile[row][(column / 8 ^ row % 8) * 8]);
}

// ---- few rows: c[m, n] = a[m, k] · b[k, n], b streams; n in multiples of 8 ----

/// A tile is a strip of kSpans times 64 columns, an iteration 16 rows of b. A stage is 32 KiB of b; a warp has 64
/// columns of two of its iterations.
///   operand b   a thread has columns 8 g … of rows 4 t … 4 t + 3; output tile i takes the elements 2 i and 2 i + 1 of
///               these eight, as its rows g and g + 8
///   operand a   of row 8 tile + g the elements 4 t … 4 t + 3
///   results     sums[tile][i][h]: row 8 tile + 2 t + h % 2 of c, column 8 g + 2 i + h / 2
template <typename Element, int kTiles>
struct FewRows {
  using T = Element;
  static constexpr int kSpans = 2;  /// with 4 or 8 the sums of more columns must be reduced: up to 8 % slower
  static constexpr bool kFewRows = true;
  static constexpr int kStrip = 64 * kSpans;
  static constexpr int kUnit = 16;
  static constexpr int kParts = Roles::kConsumerWarps / kSpans;
  static constexpr int kStageUnits = 2 * kParts;
  static constexpr int kStageRows = kStageUnits * kUnit;
  static constexpr int kFew = 8 * kTiles;
  static constexpr int kResults = kFew * kStrip;

  struct Unit {
    T b[kSpans][kUnit][64];
  };
  struct Stage {
    Unit large[kStageUnits];
    T a[kFew][kStageRows];  ///< the first m rows are loaded
  };

  float sums[kTiles][4][4] = {};

  static __device__ std::uint32_t bytes(int units, const GemmProblem& size) {
    return static_cast<std::uint32_t>(units * sizeof(Unit) + size.m * sizeof(Stage::a[0]));
  }

  static __device__ void load(Stage& stage, int units, const Maps& maps, int strip, int row, Barrier& done) {
    for (int unit = 0; unit < units; ++unit) {
#pragma unroll
      for (int span = 0; span < kSpans; ++span) {
        load_tile(stage.large[unit].b[span], &maps.large, done, strip + 64 * span, row + unit * kUnit,
                  CacheHint::first);
      }
    }
    load_tile(stage.a, &maps.few, done, row, 0, CacheHint::last);
  }

  __device__ void add(const Stage& stage, int units, const GemmProblem& size) {
#pragma unroll
    for (int unit = warp() / kSpans; unit < kStageUnits; unit += kParts) {
      if (unit >= units) return;
      uint4 b[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) b[i] = swizzled(stage.large[unit].b[warp() % kSpans], 4 * member() + i, 8 * group());
      uint2 a[kTiles];
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        const int row = 8 * tile + group();
        a[tile] = make_uint2(0, 0);
        if (row < size.m) a[tile] = *reinterpret_cast<const uint2*>(&stage.a[row][unit * kUnit + 4 * member()]);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        std::uint32_t rows[4];
        mma::columns_operand(rows, b[0], b[1], b[2], b[3], i);
#pragma unroll
        for (int tile = 0; tile < kTiles; ++tile) mma::multiply<T>(sums[tile][i], rows, a[tile].x, a[tile].y);
      }
    }
  }

  __device__ void leave(float (&parts)[kParts][kResults]) const {
    float* part = parts[warp() / kSpans];
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int column = warp() % kSpans * 64 + 8 * group() + 2 * i;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          *reinterpret_cast<float2*>(part + (8 * tile + 2 * member() + h) * kStrip + column) =
              make_float2(sums[tile][i][h], sums[tile][i][h + 2]);
        }
      }
    }
  }
};

// ---- few columns: c[m, n] = a[m, k] · b[k, n], a streams; one column, or multiples of 8 ----

/// A tile is a strip of 32 kSpans rows, an iteration 64 of k. A stage is 32 KiB of a; a warp has 32 rows of one of
/// its iterations, in two tiles.
///   operand a   a thread has 8 elements, 32 j + 8 t …, of rows g and g + 8: pairs of them serve two instructions
///   operand b   column g of b's rows in the same order; by ldmatrix where there are several
///   results     sums[half][tile][h]: row 16 half + g + 8 (h / 2), column 8 tile + 2 t + h % 2
template <typename Element, int kTiles, bool kOne>
struct FewColumns {
  using T = Element;
  static constexpr int kSpans = 4;  /// 2 is as fast; with 8, rows are read 128 bytes at a time, which is 5 % slower
  static constexpr bool kFewRows = false;
  static constexpr int kStrip = 32 * kSpans;
  static constexpr int kUnit = 64;
  static constexpr int kStageUnits = Roles::kConsumerWarps / kSpans;
  static constexpr int kFew = kOne ? 1 : 8 * kTiles;
  static constexpr int kBox = kOne ? 1 : 8;  /// columns of b per copy
  static constexpr int kResults = kStrip * kFew;
  static constexpr int kParts = kStageUnits;
  static_assert(!kOne || kTiles == 1);

  struct Unit {
    T a[kStrip][64];
  };
  struct Stage {
    Unit large[kStageUnits];
    alignas(128) T b[kStageUnits][kTiles][kUnit][kBox];
  };
  float sums[2][kTiles][4] = {};

  static __device__ std::uint32_t bytes(int units, const GemmProblem&) {
    return static_cast<std::uint32_t>(units * (sizeof(Unit) + sizeof(Stage::b[0])));
  }

  static __device__ void load(Stage& stage, int units, const Maps& maps, int strip, int first, Barrier& done) {
    for (int unit = 0; unit < units; ++unit) {
      const int depth = first + unit * kUnit;
      load_tile(stage.large[unit].a, &maps.large, done, depth, strip, CacheHint::first);
      if constexpr (kOne) {
        load_tile(stage.b[unit], &maps.few, done, depth, 0, CacheHint::last);
      } else {
#pragma unroll
        for (int tile = 0; tile < kTiles; ++tile) {
          load_tile(stage.b[unit][tile], &maps.few, done, 8 * tile, depth, CacheHint::last);
        }
      }
    }
  }

  /// Column g of the rows of b from `from` on for one access of a: for the first instruction, for the second.
  static __device__ void factors(std::uint32_t (&out)[4], const T (&b)[kUnit][kBox], int from) {
    if constexpr (kOne) {
      uint4 eight = make_uint4(0, 0, 0, 0);
      if (group() == 0) eight = *reinterpret_cast<const uint4*>(b[from + 8 * member()]);
      *reinterpret_cast<uint4*>(out) = eight;
    } else {
      const int lane = static_cast<int>(threadIdx.x) % 32;
      mma::read_matrices<true>(out, b[from + lane % 8 / 2 * 8 + lane % 2 + lane / 8 * 2]);
    }
  }

  __device__ void add(const Stage& stage, int units, const GemmProblem&) {
    const int unit = warp() / kSpans;
    if (unit >= units) return;
    const auto& a = stage.large[unit].a;
    const int row = warp() % kSpans * 32 + group();
#pragma unroll
    for (int j = 0; j < kUnit; j += 32) {
      uint4 above[2], below[2];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        above[half] = swizzled(a, row + 16 * half, j + 8 * member());
        below[half] = swizzled(a, row + 16 * half + 8, j + 8 * member());
      }
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        alignas(16) std::uint32_t b[4];
        factors(b, stage.b[unit][tile], j);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          std::uint32_t first[4], second[4];
          mma::rows_operands(first, second, above[half], below[half]);
          mma::multiply<T>(sums[half][tile], first, b[0], b[1]);
          mma::multiply<T>(sums[half][tile], second, b[2], b[3]);
        }
      }
    }
  }

  __device__ void leave(float (&parts)[kParts][kResults]) const {
    float* part = parts[warp() / kSpans];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
        for (int h = 0; h < 4; ++h) {
          const int row = warp() % kSpans * 32 + 16 * half + group() + h / 2 * 8;
          const int column = 8 * tile + 2 * member() + h % 2;
          if (column < kFew) part[row * kFew + column] = sums[half][tile][h];
        }
      }
    }
  }
};

template <typename Work>
struct Shared {
  static constexpr int kStageBytes = (static_cast<int>(sizeof(typename Work::Stage)) + 1023) / 1024 * 1024;
  static constexpr int kStages = (226 * 1024 - Work::kParts * Work::kResults * 4) / kStageBytes;

  StreamRing<kStages, kStageBytes> ring;
  alignas(16) float parts[Work::kParts][Work::kResults];
  Handover parts_handed;
};

template <typename Work>
__device__ void feed(Shared<Work>& shared, const Maps& maps, const GemmProblem& size, const SplitPlan& plan) {
  typename decltype(shared.ring)::Position at;
  plan.schedule.for_each_work_unit(static_cast<int>(blockIdx.x), [&](const WorkUnit& work_unit) {
    for (int from = 0; from < work_unit.count; from += Work::kStageUnits) {
      const int units = min(Work::kStageUnits, work_unit.count - from);
      shared.ring.fill(at, Work::bytes(units, size), [&](std::byte* stage, Barrier& done) {
        Work::load(*reinterpret_cast<typename Work::Stage*>(stage), units, maps, work_unit.tile * Work::kStrip,
                   (work_unit.first + from) * Work::kUnit, done);
      });
    }
  });
}

template <typename Work>
__device__ void consume(Shared<Work>& shared, const GemmProblem& size, const SplitPlan& plan) {
  typename decltype(shared.ring)::Position at;
  std::uint32_t parity = 0;
  plan.schedule.for_each_work_unit(static_cast<int>(blockIdx.x), [&](const WorkUnit& work_unit) {
    Work work;
    for (int from = 0; from < work_unit.count; from += Work::kStageUnits) {
      const std::byte* stage = shared.ring.await(at);
      work.add(*reinterpret_cast<const typename Work::Stage*>(stage), min(Work::kStageUnits, work_unit.count - from),
               size);
      shared.ring.release(at);
    }
    shared.parts_handed.empty.wait(parity ^ 1);
    parity ^= 1;
    work.leave(shared.parts);
    shared.parts_handed.full.arrive();
  });
}

template <typename Work>
__device__ void join(Shared<Work>& shared, typename Work::T* c, const GemmProblem& size, const SplitPlan& plan) {
  std::uint32_t parity = 0;
  plan.schedule.for_each_work_unit(static_cast<int>(blockIdx.x), [&](const WorkUnit& work_unit) {
    shared.parts_handed.full.wait(parity);
    parity ^= 1;
    skinny::finish<Roles::Joiners, Work>(&shared.parts[0][0], work_unit, plan, c, size);
    shared.parts_handed.empty.arrive();
  });
}

template <typename Work>
__global__ void __launch_bounds__(Roles::kThreads, 1)
    kernel(const __grid_constant__ Maps maps, typename Work::T* __restrict__ c, GemmProblem size, SplitPlan plan) {
  extern __shared__ __align__(1024) std::byte raw[];
  auto& shared = *reinterpret_cast<Shared<Work>*>(raw);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    shared.ring.init(Roles::kConsumerWarps);
    shared.parts_handed.init(Roles::kConsumers, Roles::Joiners::kThreads);
  }
  __syncthreads();
  if (thread < Roles::kConsumers) {
    consume(shared, size, plan);
  } else if (thread < Roles::kFeeder) {
    join(shared, c, size, plan);
  } else if (thread == Roles::kFeeder) {
    prefetch_map(&maps.large);
    prefetch_map(&maps.few);
    feed(shared, maps, size, plan);
  }
}

}  // namespace roofline::skinny_tma
