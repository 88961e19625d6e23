// Flash attention on CUDA cores, in fp32 for every storage type: 128 queries per block, keys in tiles of 64, 8
// queries by 4 keys (then by kDim / 16 columns) per thread in registers. For fp32 there is no faster path: tensor
// cores have no fp32, and tf32 gives different results.
#pragma once

#include "kernels/attention/flash.cuh"

namespace roofline {

namespace flash_simt {

constexpr int kThreads = 256;  ///< 16 x 16: thread (y, x) has queries y + 16 i and keys x + 16 j
constexpr int kQueries = 128;
constexpr int kKeys = 64;
constexpr int kRows = kQueries / 16;
constexpr int kColumns = kKeys / 16;

/// One float4 of padding per row, so that 16-byte reads down a column hit different banks.
template <int kDim>
struct Shared {
  float q[kQueries][kDim + 4];
  float k[kKeys][kDim + 4];
  float v[kKeys][kDim];
  float p[kQueries][kKeys + 4];
};

/// Four elements from global to shared memory, widened; zeros if `valid` is false. fp32 is copied asynchronously.
template <typename T>
__device__ void load4(float* to, const T* from, bool valid) {
  if constexpr (sizeof(T) == 4) {
    mma::copy_async(to, from, valid);
  } else {
    const uint2 raw = valid ? *reinterpret_cast<const uint2*>(from) : make_uint2(0, 0);
    const T* elements = reinterpret_cast<const T*>(&raw);
#pragma unroll
    for (int i = 0; i < 4; ++i) to[i] = widen(elements[i]);
  }
}

/// Starts to load `kCount` rows of a head from `first` on; zeros past its end and past head_dim.
template <int kCount, int kDim, int kStride, typename T>
__device__ void load_rows(float (&to)[kCount][kStride], const T* head, int first, const AttentionProblem& problem) {
  for (int i = threadIdx.x; i < kCount * kDim / 4; i += kThreads) {
    const int row = i / (kDim / 4);
    const int column = i % (kDim / 4) * 4;
    const bool valid = first + row < problem.seq && column < problem.head_dim;
    load4(&to[row][column], valid ? head + std::int64_t{first + row} * problem.head_dim + column : head, valid);
  }
}

__device__ inline float4 read4(const float* at) { return *reinterpret_cast<const float4*>(at); }

__device__ inline float dot4(float4 a, float4 b, float sum) {
  return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
}

template <int kDim>
__device__ void scores(const Shared<kDim>& shared, int y, int x, float (&s)[kRows][kColumns]) {
#pragma unroll 2
  for (int d = 0; d < kDim; d += 4) {
    float4 q[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) q[i] = read4(&shared.q[y + 16 * i][d]);
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const float4 k = read4(&shared.k[x + 16 * j][d]);
#pragma unroll
      for (int i = 0; i < kRows; ++i) s[i][j] = dot4(q[i], k, s[i][j]);
    }
  }
}

/// Turns the scores of the queries from `first` and the keys from `key` on into powers of two in shared memory;
/// returns the rescaling factors of the accumulators.
template <int kDim>
__device__ void softmax(Shared<kDim>& shared, int y, int x, int first, int key, const AttentionProblem& problem,
                        const float (&s)[kRows][kColumns], RunningSoftmax (&rows)[kRows], float (&shrink)[kRows]) {
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const int seen = problem.keys_of(first + y + 16 * i + 1) - key;
    float scaled[kColumns];
    float highest = -INFINITY;
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      scaled[j] = x + 16 * j < seen ? s[i][j] * problem.scale_log2 : -INFINITY;
      highest = fmaxf(highest, scaled[j]);
    }
#pragma unroll
    for (int offset = 8; offset > 0; offset /= 2) {
      highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, offset));
    }
    shrink[i] = rows[i].raise(highest);
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const float power = fast_exp2(scaled[j] - rows[i].maximum);
      rows[i].sum += power;  // this thread's keys; the sixteen threads of a row are reduced at the end
      shared.p[y + 16 * i][x + 16 * j] = power;
    }
  }
}

/// o += p · v: a thread has columns 4 x … 4 x + 3 of every 64.
template <int kDim>
__device__ void accumulate(const Shared<kDim>& shared, int y, int x, float (&o)[kRows][kDim / 64][4]) {
#pragma unroll 1
  for (int key = 0; key < kKeys; key += 4) {
    float p[kRows][4];
#pragma unroll
    for (int i = 0; i < kRows; ++i) *reinterpret_cast<float4*>(p[i]) = read4(&shared.p[y + 16 * i][key]);
#pragma unroll
    for (int step = 0; step < 4; ++step) {
#pragma unroll
      for (int part = 0; part < kDim / 64; ++part) {
        const float4 v = read4(&shared.v[key + step][part * 64 + x * 4]);
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
          o[i][part][0] = fmaf(p[i][step], v.x, o[i][part][0]);
          o[i][part][1] = fmaf(p[i][step], v.y, o[i][part][1]);
          o[i][part][2] = fmaf(p[i][step], v.z, o[i][part][2]);
          o[i][part][3] = fmaf(p[i][step], v.w, o[i][part][3]);
        }
      }
    }
  }
}

template <int kDim, typename T>
__device__ void store(T* head, int first, int y, int x, const AttentionProblem& problem,
                      const RunningSoftmax (&rows)[kRows], const float (&o)[kRows][kDim / 64][4]) {
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    float sum = rows[i].sum;
#pragma unroll
    for (int offset = 8; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    const float scale = 1.0f / sum;
    const int row = first + y + 16 * i;
#pragma unroll
    for (int part = 0; part < kDim / 64; ++part) {
      const int column = part * 64 + x * 4;
      if (row < problem.seq && column < problem.head_dim) {
        T* to = head + std::int64_t{row} * problem.head_dim + column;
#pragma unroll
        for (int c = 0; c < 4; ++c) to[c] = narrow<T>(o[i][part][c] * scale);
      }
    }
  }
}

template <typename T, int kDim>
__global__ void __launch_bounds__(kThreads, 1)
    kernel(const T* __restrict__ q, const T* __restrict__ k, const T* __restrict__ v, T* __restrict__ o,
           AttentionProblem problem) {
  extern __shared__ float4 memory[];
  auto& shared = *reinterpret_cast<Shared<kDim>*>(memory);
  const QueryTile<kQueries> tile(problem);
  k += tile.keys;
  v += tile.keys;
  const int y = static_cast<int>(threadIdx.x) / 16;
  const int x = static_cast<int>(threadIdx.x) % 16;

  load_rows<kQueries, kDim>(shared.q, q + tile.queries, tile.first, problem);
  load_rows<kKeys, kDim>(shared.k, k, 0, problem);
  mma::commit_copies();
  RunningSoftmax rows[kRows];
  float accumulated[kRows][kDim / 64][4] = {};
  for (int key = 0; key < tile.end; key += kKeys) {
    load_rows<kKeys, kDim>(shared.v, v, key, problem);  // loads while the scores are computed
    mma::commit_copies();
    mma::wait_copies<1>();
    __syncthreads();
    float s[kRows][kColumns] = {};
    float shrink[kRows];
    scores<kDim>(shared, y, x, s);
    softmax<kDim>(shared, y, x, tile.first, key, problem, s, rows, shrink);
    __syncthreads();  // all warps have read k
    if (key + kKeys < tile.end) load_rows<kKeys, kDim>(shared.k, k, key + kKeys, problem);
    mma::commit_copies();
    mma::wait_copies<1>();
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int c = 0; c < kDim / 16; ++c) accumulated[i][c / 4][c % 4] *= shrink[i];
    }
    accumulate<kDim>(shared, y, x, accumulated);
    __syncthreads();  // all warps have read v and p
  }
  store<kDim>(o + tile.queries, tile.first, y, x, problem, rows, accumulated);
}

}  // namespace flash_simt
}  // namespace roofline
