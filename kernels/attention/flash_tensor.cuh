// Flash attention for 16-bit types on tensor cores (mma.sync m16n8k16, sm_80 and later), after FlashAttention-2: a
// block has 128 queries, a warp 16 of them, and iterates over tiles of 64 keys, so that scores never leave the
// registers. K and V are loaded through a two-stage cp.async pipeline.
#pragma once

#include "kernels/attention/flash.cuh"
#include "kernels/blocks/cuda/mma.cuh"

namespace roofline {

namespace flash_tensor {

constexpr int kWarps = 8;
constexpr int kQueries = 16 * kWarps;
constexpr int kKeys = 64;
constexpr int kKeyTiles = kKeys / 8;

/// A tile of kKeys rows of kDim elements in shared memory. 16-byte chunks are swizzled by the row, so that the
/// eight rows that one ldmatrix reads at the same chunk are in eight different groups of banks.
template <typename T, int kDim>
struct Tile {
  static constexpr int kChunks = kDim / 8;
  uint4 chunks[kKeys * kChunks];

  __device__ uint4* at(int row, int chunk) { return chunks + row * kChunks + (chunk ^ (row & 7)); }

  __device__ void load(const T* head, int first, const AttentionProblem& problem) {
#pragma unroll
    for (int i = threadIdx.x; i < kKeys * kChunks; i += kWarps * 32) {
      const int row = i / kChunks;
      const int chunk = i % kChunks;
      const bool valid = first + row < problem.seq && chunk * 8 < problem.head_dim;
      const T* from = valid ? head + std::int64_t{first + row} * problem.head_dim + chunk * 8 : head;
      mma::copy_async(at(row, chunk), from, valid);
    }
  }
};

template <typename T, int kDim>
struct Stage {
  Tile<T, kDim> k;
  Tile<T, kDim> v;
};

/// Accumulators of one warp. In an m16n8 tile a thread holds columns 2t and 2t + 1 (t = lane % 4) of rows g and g +
/// 8 (g = lane / 4).
template <typename T, int kDim>
struct Warp {
  static constexpr int kSteps = kDim / 16;
  std::uint32_t q[kSteps][4];
  float o[kDim / 8][4] = {};
  RunningSoftmax rows[2];

  __device__ void load_queries(const T* head, int first, const AttentionProblem& problem) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int part = 0; part < 4; ++part) {
        const int row = first + lane / 4 + part % 2 * 8;
        const int column = step * 16 + lane % 4 * 2 + part / 2 * 8;
        q[step][part] = 0;
        if (row < problem.seq && column < problem.head_dim) {
          q[step][part] = *reinterpret_cast<const std::uint32_t*>(head + std::int64_t{row} * problem.head_dim + column);
        }
      }
    }
  }

  __device__ void scores(Tile<T, kDim>& k, float (&s)[kKeyTiles][4]) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int tile = 0; tile < kKeyTiles; tile += 2) {
        std::uint32_t b[4];
        mma::read_matrices<false>(b, k.at(tile * 8 + lane % 8 + lane / 16 * 8, step * 2 + lane / 8 % 2));
        mma::multiply<T>(s[tile], q[step], b[0], b[1]);
        mma::multiply<T>(s[tile + 1], q[step], b[2], b[3]);
      }
    }
  }

  /// Masks keys that a query must not see; queries from `first`, keys from `key` on.
  __device__ static void mask(float (&s)[kKeyTiles][4], int first, int key, const AttentionProblem& problem) {
    if (key + kKeys <= problem.keys_of(first + 1)) return;
    const int row = first + static_cast<int>(threadIdx.x) % 32 / 4;
    const int seen[2] = {problem.keys_of(row + 1) - key, problem.keys_of(row + 9) - key};
#pragma unroll
    for (int tile = 0; tile < kKeyTiles; ++tile) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (tile * 8 + static_cast<int>(threadIdx.x % 4) * 2 + i % 2 >= seen[i / 2]) s[tile][i] = -INFINITY;
      }
    }
  }

  /// Turns scores into powers of two under the running maximum, and rescales the accumulators to it.
  __device__ void softmax(float (&s)[kKeyTiles][4], float scale_log2) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float highest = -INFINITY;
#pragma unroll
      for (int tile = 0; tile < kKeyTiles; ++tile) {
        highest = fmaxf(highest, fmaxf(s[tile][half * 2], s[tile][half * 2 + 1]));
      }
      highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, 1));
      highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, 2));
      const float shrink = rows[half].raise(highest * scale_log2);
#pragma unroll
      for (int tile = 0; tile < kDim / 8; ++tile) {
        o[tile][half * 2] *= shrink;
        o[tile][half * 2 + 1] *= shrink;
      }
#pragma unroll
      for (int tile = 0; tile < kKeyTiles; ++tile) {
#pragma unroll
        for (int i = half * 2; i < half * 2 + 2; ++i) {
          s[tile][i] = fast_exp2(fmaf(s[tile][i], scale_log2, -rows[half].maximum));
          rows[half].sum += s[tile][i];  // this thread's columns; the four threads of a row are reduced at the end
        }
      }
    }
  }

  /// o += p · v. A pair of accumulator tiles of p already has the layout of the left operand of a step over 16
  /// keys.
  __device__ void accumulate(Tile<T, kDim>& v, const float (&p)[kKeyTiles][4]) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int step = 0; step < kKeys / 16; ++step) {
      const std::uint32_t a[4] = {
          mma::pack<T>(p[step * 2][0], p[step * 2][1]), mma::pack<T>(p[step * 2][2], p[step * 2][3]),
          mma::pack<T>(p[step * 2 + 1][0], p[step * 2 + 1][1]), mma::pack<T>(p[step * 2 + 1][2], p[step * 2 + 1][3])};
#pragma unroll
      for (int tile = 0; tile < kDim / 8; tile += 2) {
        std::uint32_t b[4];
        mma::read_matrices<true>(b, v.at(step * 16 + lane % 16, tile + lane / 16));
        mma::multiply<T>(o[tile], a, b[0], b[1]);
        mma::multiply<T>(o[tile + 1], a, b[2], b[3]);
      }
    }
  }

  __device__ void store(T* head, int first, const AttentionProblem& problem) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float sum = rows[half].sum;
      sum += __shfl_xor_sync(0xffffffffu, sum, 1);
      sum += __shfl_xor_sync(0xffffffffu, sum, 2);
      const float scale = 1.0f / sum;
      const int row = first + lane / 4 + half * 8;
#pragma unroll
      for (int tile = 0; tile < kDim / 8; ++tile) {
        const int column = tile * 8 + lane % 4 * 2;
        if (row < problem.seq && column < problem.head_dim) {
          *reinterpret_cast<std::uint32_t*>(head + std::int64_t{row} * problem.head_dim + column) =
              mma::pack<T>(o[tile][half * 2] * scale, o[tile][half * 2 + 1] * scale);
        }
      }
    }
  }
};

template <typename T, int kDim>
__global__ void __launch_bounds__(kWarps * 32, 1)
    kernel(const T* __restrict__ q, const T* __restrict__ k, const T* __restrict__ v, T* __restrict__ o,
           AttentionProblem problem) {
  extern __shared__ uint4 shared[];
  auto* stages = reinterpret_cast<Stage<T, kDim>*>(shared);
  const QueryTile<kQueries> tile(problem);
  const int first = tile.first + static_cast<int>(threadIdx.x / 32) * 16;
  k += tile.keys;
  v += tile.keys;

  stages[0].k.load(k, 0, problem);
  stages[0].v.load(v, 0, problem);
  mma::commit_copies();
  Warp<T, kDim> warp;
  warp.load_queries(q + tile.queries, first, problem);
  int current = 0;
  for (int key = 0; key < tile.end; key += kKeys, current ^= 1) {
    if (key + kKeys < tile.end) {
      stages[current ^ 1].k.load(k, key + kKeys, problem);
      stages[current ^ 1].v.load(v, key + kKeys, problem);
    }
    mma::commit_copies();  // empty for the last tile, so that the count of pending groups below is right
    mma::wait_copies<1>();
    __syncthreads();
    float s[kKeyTiles][4] = {};
    warp.scores(stages[current].k, s);
    Warp<T, kDim>::mask(s, first, key, problem);
    warp.softmax(s, problem.scale_log2);
    warp.accumulate(stages[current].v, s);
    __syncthreads();  // all warps have read this stage before it is loaded again
  }
  warp.store(o + tile.queries, first, problem);
}

}  // namespace flash_tensor
}  // namespace roofline
