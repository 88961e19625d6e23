// Decode attention on tensor cores (mma.sync m16n8k16, sm_80 and later) for 16-bit types: the queries that share
// keys and values are the columns of a tile of eight, so that a group costs about as much as one query, and memory
// stays the limit. Everything is transposed: scores are keys × queries, outputs columns × queries. Keys and values
// are loaded directly into fragment registers, 16 bytes per load: the order of a summed index is free as long as
// both operands use the same, and so is the order of the output's rows.
#pragma once

#include "kernels/blocks/cuda/mma.cuh"
#include "kernels/decode/parts.cuh"

namespace roofline {

namespace decode_mma {

using decode_split::KeyRange;
using decode_split::Problem;

constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;
constexpr int kKeys = 16;              /// per warp and step
constexpr int kStep = kWarps * kKeys;  /// per block and step

/// Loads from memory, read once.
struct Memory {
  static __device__ uint4 load(const void* from) { return __ldcs(static_cast<const uint4*>(from)); }
};

/// In the fragments a thread is one of four (t = lane % 4) in each of eight groups (g = lane / 4).
///   scores    s[n][i]: key g + 8 (i / 2), query 8 n + 2 t + i % 2
///   operand k a thread has 8 elements, 32 c + 8 t …, of keys g and g + 8: pairs of them serve two steps of 16
///   operand v a thread has 8 elements, 64 c + 8 g …, of keys 2 t, 2 t + 1, 2 t + 8 and 2 t + 9; output tile
///             4 c + j takes the elements 2 j and 2 j + 1, as its rows g and g + 8
/// kTiles: of eight queries. `Source`: how 16 bytes of keys and values are loaded.
template <typename T, int kDim, int kTiles, typename Source>
struct Warp {
  static constexpr int kHeads = 8 * kTiles;
  static constexpr int kKeyChunks = kDim / 32;    /// per thread and key
  static constexpr int kValueChunks = kDim / 64;  /// per thread and value

  std::uint32_t q[kTiles][kKeyChunks][4];
  float o[kTiles][kDim / 16][4] = {};
  float maximum[kTiles][2];  ///< of queries 8 n + 2 t and the next
  float sum[kTiles][2] = {};

  __device__ static int group() { return static_cast<int>(threadIdx.x) % 32 / 4; }
  __device__ static int member() { return static_cast<int>(threadIdx.x) % 4; }

  /// 16 bytes per chunk of row `row`. Rows past the last and columns past head_dim are read from valid addresses
  /// instead: the weight of such a key is 0, as are the query's elements there; such an output column is not
  /// stored.
  template <int kChunks, int kSpan>
  __device__ static void load(const T* rows, int row, int end, int column, int head_dim, uint4 (&raw)[kChunks]) {
    const T* at = rows + std::int64_t{min(row, end - 1)} * head_dim;
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      const int from = column + c * kSpan < head_dim ? column + c * kSpan : 0;
      raw[c] = Source::load(at + from);
    }
  }

  __device__ static void load_keys(uint4 (&raw)[2][kKeyChunks], const T* k, int first, int end, int head_dim) {
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      load<kKeyChunks, 32>(k, first + 8 * n + group(), end, 8 * member(), head_dim, raw[n]);
    }
  }

  __device__ static void load_values(uint4 (&raw)[4][kValueChunks], const T* v, int first, int end, int head_dim) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      load<kValueChunks, 64>(v, first + 2 * member() + i % 2 + i / 2 * 8, end, 8 * group(), head_dim, raw[i]);
    }
  }

  __device__ void start(const T* queries, int heads, int head_dim) {
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
      maximum[n][0] = maximum[n][1] = -INFINITY;
      const int row = 8 * n + group();
#pragma unroll
      for (int c = 0; c < kKeyChunks; ++c) {
        const int column = 32 * c + 8 * member();
        uint4 raw = make_uint4(0, 0, 0, 0);
        if (row < heads && column < head_dim) {
          raw = *reinterpret_cast<const uint4*>(queries + std::int64_t{row} * head_dim + column);
        }
        *reinterpret_cast<uint4*>(q[n][c]) = raw;
      }
    }
  }

  __device__ void scores(const uint4 (&k)[2][kKeyChunks], float (&s)[kTiles][4]) const {
#pragma unroll
    for (int c = 0; c < kKeyChunks; ++c) {
      std::uint32_t first[4], second[4];
      mma::rows_operands(first, second, k[0][c], k[1][c]);
#pragma unroll
      for (int n = 0; n < kTiles; ++n) {
        mma::multiply<T>(s[n], first, q[n][c][0], q[n][c][1]);
        mma::multiply<T>(s[n], second, q[n][c][2], q[n][c][3]);
      }
    }
  }

  /// Turns scores into powers of two and rescales the accumulators.
  __device__ void softmax(float (&s)[4], int n, int keys_left, float scale_log2) {
#pragma unroll
    for (int i = 0; i < 4; ++i) s[i] = group() + i / 2 * 8 < keys_left ? s[i] * scale_log2 : -INFINITY;
#pragma unroll
    for (int query = 0; query < 2; ++query) {
      float highest = fmaxf(maximum[n][query], fmaxf(s[query], s[query + 2]));
#pragma unroll
      for (int offset = 4; offset < 32; offset *= 2) {
        highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, offset));
      }
      const float shrink = fast_exp2(maximum[n][query] - highest);
      maximum[n][query] = highest;
      s[query] = fast_exp2(s[query] - highest);
      s[query + 2] = fast_exp2(s[query + 2] - highest);
      sum[n][query] = fmaf(sum[n][query], shrink, s[query] + s[query + 2]);  // of this thread's keys
#pragma unroll
      for (int tile = 0; tile < kDim / 16; ++tile) {
        o[n][tile][query] *= shrink;
        o[n][tile][query + 2] *= shrink;
      }
    }
  }

  /// Transposes an 8 x 8 tile of 16-bit values, one row per group of four threads.
  __device__ static std::uint32_t transpose(std::uint32_t row) {
    std::uint32_t column;
    asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(column) : "r"(row));
    return column;
  }

  __device__ void outputs(const uint4 (&v)[4][kValueChunks], const float (&s)[kTiles][4]) {
    std::uint32_t p[kTiles][2];
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
      p[n][0] = transpose(mma::pack<T>(s[n][0], s[n][1]));
      p[n][1] = transpose(mma::pack<T>(s[n][2], s[n][3]));
    }
#pragma unroll
    for (int c = 0; c < kValueChunks; ++c) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        std::uint32_t rows[4];
        mma::columns_operand(rows, v[0][c], v[1][c], v[2][c], v[3][c], j);
#pragma unroll
        for (int n = 0; n < kTiles; ++n) mma::multiply<T>(o[n][4 * c + j], rows, p[n][0], p[n][1]);
      }
    }
  }

  /// The next keys are loaded while the outputs are computed, and the next values during the scores.
  __device__ void run(const T* k, const T* v, int end, const Problem& problem) {
    uint4 keys[2][kKeyChunks];
    uint4 values[4][kValueChunks];
    int first = static_cast<int>(threadIdx.x) / 32 * kKeys;
    if (first >= end) return;
    load_keys(keys, k, first, end, problem.head_dim);
    load_values(values, v, first, end, problem.head_dim);
    for (; first < end; first += kStep) {
      const int next = first + kStep;
      float s[kTiles][4] = {};
      scores(keys, s);
      load_keys(keys, k, next, end, problem.head_dim);
#pragma unroll
      for (int n = 0; n < kTiles; ++n) softmax(s[n], n, end - first, problem.scale_log2);
      outputs(values, s);
      load_values(values, v, next, end, problem.head_dim);
    }
  }

  __device__ void leave(float* parts, const Problem& problem) {
    float* warp = parts + static_cast<int>(threadIdx.x) / 32 * kHeads * problem.part_stride();
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
#pragma unroll
      for (int query = 0; query < 2; ++query) {
        float* part = warp + (8 * n + 2 * member() + query) * problem.part_stride();
        float total = sum[n][query];
#pragma unroll
        for (int offset = 4; offset < 32; offset *= 2) total += __shfl_xor_sync(0xffffffffu, total, offset);
        if (group() == 0) part[problem.head_dim] = total;
        if (group() == 0) part[problem.head_dim + 1] = maximum[n][query];
#pragma unroll
        for (int tile = 0; tile < kDim / 16; ++tile) {
          const int column = tile / 4 * 64 + 8 * group() + tile % 4 * 2;
          if (column >= problem.head_dim) continue;
          part[column] = o[n][tile][query];
          part[column + 1] = o[n][tile][query + 2];
        }
      }
    }
  }
};

template <typename T, int kDim, int kTiles>
__global__ void __launch_bounds__(kThreads, kTiles == 1 ? 3 : 2)
    kernel(const T* __restrict__ q, const T* __restrict__ k, const T* __restrict__ v, T* __restrict__ o,
           Problem problem) {
  __shared__ alignas(8) float parts[kWarps * Warp<T, kDim, kTiles, Memory>::kHeads * (kDim + 2)];
  problem.schedule.for_each_work_unit(static_cast<int>(blockIdx.x), [&](const WorkUnit& work_unit) {
    const KeyRange range(problem, work_unit);
    Warp<T, kDim, kTiles, Memory> warp;
    warp.start(q + range.queries, range.heads, problem.head_dim);
    warp.run(k + range.keys, v + range.keys, range.end, problem);
    warp.leave(parts, problem);
    decode_split::finish<Team<kThreads>>(parts, range, problem, o);
  });
}

}  // namespace decode_mma
}  // namespace roofline
