// Decode attention on CUDA cores: each thread of a key's group has 16 bytes of it, several keys are in flight, and
// every thread keeps a softmax and outputs for its keys. Keys and values go from memory to registers only. With up
// to four queries per key, the fp32 arithmetic is hidden behind memory.
#pragma once

#include "kernels/decode/parts.cuh"

namespace roofline {

namespace decode_simt {

using decode_split::KeyRange;
using decode_split::Problem;

constexpr int kWarps = 8;
constexpr int kThreads = 32 * kWarps;

/// Target number of resident blocks per SM, which limits registers per thread: as many as possible without
/// spilling.
constexpr int blocks_for(int heads) { return heads == 1 ? 3 : heads <= 4 ? 2 : 1; }

/// One thread's iteration over the keys of a work unit, with kHeads queries; kWidth threads share a key.
template <typename T, int kWidth, int kHeads>
struct Walk {
  static constexpr int kColumns = kLanes<T>;
  static constexpr int kStep = kThreads / kWidth;  ///< keys of the block, one a thread
  /// Keys, and as many values, in flight per thread: as registers allow.
  static constexpr int kUnroll = kHeads * kColumns <= 16 ? 4 : 2;

  float q[kHeads][kColumns];
  float maximum[kHeads];
  float sum[kHeads];
  float o[kHeads][kColumns];

  __device__ static int column() { return static_cast<int>(threadIdx.x) % kWidth * kColumns; }

  __device__ void start(const T* queries, int heads, const Problem& problem) {
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      maximum[h] = -INFINITY;
      sum[h] = 0;
      uint4 raw = make_uint4(0, 0, 0, 0);
      if (h < heads && column() < problem.head_dim) {
        raw = *reinterpret_cast<const uint4*>(queries + std::int64_t{h} * problem.head_dim + column());
      }
      widen_vector<T>(raw, q[h]);
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        q[h][c] *= problem.scale_log2;
        o[h][c] = 0;
      }
    }
  }

  /// kUnroll rows, kStep apart, from `row` on. Rows past the last and columns past head_dim are read from valid
  /// addresses instead: the weight of such a key is 0, as are the query's elements there; such an output is not
  /// stored.
  __device__ static void load(const T* rows, int row, int end, int head_dim, uint4 (&raw)[kUnroll]) {
    const int from = column() < head_dim ? column() : 0;
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const std::int64_t at = min(row + u * kStep, end - 1);
      raw[u] = __ldcs(reinterpret_cast<const uint4*>(rows + at * head_dim + from));
    }
  }

  /// The scores of a key, the same in all of its threads.
  __device__ void score(uint4 raw, bool valid, float (&s)[kHeads]) const {
    float key[kColumns];
    widen_vector<T>(raw, key);
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      float dot = 0;
#pragma unroll
      for (int c = 0; c < kColumns; ++c) dot = fmaf(q[h][c], key[c], dot);
#pragma unroll
      for (int offset = kWidth / 2; offset > 0; offset /= 2) dot += __shfl_xor_sync(0xffffffffu, dot, offset);
      s[h] = valid ? dot : -INFINITY;
    }
  }

  /// Rescales so that scores up to `seen` of query h have weights of at most 1.
  __device__ void raise(int h, float seen) {
    const float raised = fmaxf(maximum[h], seen);
    const float shrink = raised == -INFINITY ? 1.0f : fast_exp2(maximum[h] - raised);
    maximum[h] = raised;
    sum[h] *= shrink;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) o[h][c] *= shrink;
  }

  __device__ void add(const float (&s)[kHeads], uint4 raw) {
    float value[kColumns];
    widen_vector<T>(raw, value);
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      // A thread without a key so far has no maximum, and its score is minus infinity.
      const float weight = maximum[h] == -INFINITY ? 0.0f : fast_exp2(s[h] - maximum[h]);
      sum[h] += weight;
#pragma unroll
      for (int c = 0; c < kColumns; ++c) o[h][c] = fmaf(weight, value[c], o[h][c]);
    }
  }

  /// The next keys are loaded while the outputs are computed, and the next values during the scores.
  __device__ void run(const T* k, const T* v, int end, int head_dim) {
    uint4 keys[kUnroll];
    uint4 values[kUnroll];
    int row = static_cast<int>(threadIdx.x) / kWidth;
    load(k, row, end, head_dim, keys);
    load(v, row, end, head_dim, values);
    for (int at = 0; at < end; at += kUnroll * kStep, row += kUnroll * kStep) {
      const int next = row + kUnroll * kStep;
      float s[kUnroll][kHeads];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) score(keys[u], row + u * kStep < end, s[u]);
      load(k, next, end, head_dim, keys);
#pragma unroll
      for (int h = 0; h < kHeads; ++h) {
        float seen = s[0][h];
#pragma unroll
        for (int u = 1; u < kUnroll; ++u) seen = fmaxf(seen, s[u][h]);
        raise(h, seen);
      }
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) add(s[u], values[u]);
      load(v, next, end, head_dim, values);
    }
  }

  /// Reduces over the keys of a warp, and stores its partial result.
  __device__ void leave(float* parts, const Problem& problem) {
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
#pragma unroll
      for (int offset = kWidth; offset < 32; offset *= 2) {
        raise(h, __shfl_xor_sync(0xffffffffu, maximum[h], offset));
        sum[h] += __shfl_xor_sync(0xffffffffu, sum[h], offset);
#pragma unroll
        for (int c = 0; c < kColumns; ++c) o[h][c] += __shfl_xor_sync(0xffffffffu, o[h][c], offset);
      }
    }
    if (threadIdx.x % 32 >= kWidth || column() >= problem.head_dim) return;
    float* part = parts + static_cast<int>(threadIdx.x) / 32 * kHeads * problem.part_stride();
#pragma unroll
    for (int h = 0; h < kHeads; ++h, part += problem.part_stride()) {
#pragma unroll
      for (int c = 0; c < kColumns; ++c) part[column() + c] = o[h][c];
      if (column() == 0) part[problem.head_dim] = sum[h];
      if (column() == 0) part[problem.head_dim + 1] = maximum[h];
    }
  }
};

template <typename T, int kWidth, int kHeads>
__global__ void __launch_bounds__(kThreads, blocks_for(kHeads))
    kernel(const T* __restrict__ q, const T* __restrict__ k, const T* __restrict__ v, T* __restrict__ o,
           Problem problem) {
  __shared__ alignas(8) float parts[kWarps * kHeads * (kWidth * kLanes<T> + 2)];
  problem.schedule.for_each_work_unit(static_cast<int>(blockIdx.x), [&](const WorkUnit& work_unit) {
    const KeyRange range(problem, work_unit);
    Walk<T, kWidth, kHeads> walk;
    walk.start(q + range.queries, range.heads, problem);
    walk.run(k + range.keys, v + range.keys, range.end, problem.head_dim);
    walk.leave(parts, problem);
    decode_split::finish<Team<kThreads>>(parts, range, problem, o);
  });
}

}  // namespace decode_simt
}  // namespace roofline
