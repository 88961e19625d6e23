// One row of a matrix held in the registers of a group of threads, and reductions over such a group: what
// layer norm and softmax share. A group is a power of two of threads, within a warp or of whole warps.
#pragma once

#include "device/cuda/element.cuh"

namespace roofline {

struct Sum {
  static __device__ float identity() { return 0; }
  __device__ float operator()(float a, float b) const { return a + b; }
};

struct Max {
  static __device__ float identity() { return -INFINITY; }
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

/// Reduces over each group of `kGroup` threads, a power of two; every thread gets the result. Groups of
/// more than a warp must be the whole block: they pass through shared memory and a barrier.
template <int kGroup, typename Combine>
__device__ float group_reduce(float value, Combine combine) {
  constexpr int kWidth = kGroup < 32 ? kGroup : 32;
#pragma unroll
  for (int offset = kWidth / 2; offset > 0; offset /= 2) {
    value = combine(value, __shfl_xor_sync(0xffffffffu, value, offset));
  }
  if constexpr (kGroup > 32) {
    constexpr int kWarps = kGroup / 32;
    // Two halves in turn would save the second barrier; one barrier more costs less than it is worth here.
    __shared__ float partial[kWarps];
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    value = combine.identity();
    if (threadIdx.x % 32 < kWarps) value = partial[threadIdx.x % 32];
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) {
      value = combine(value, __shfl_xor_sync(0xffffffffu, value, offset));
    }
    __syncthreads();
  }
  return value;
}

/// A row of up to kGroup * kVectors * kLanes<T> elements: thread `lane` of the group holds 16-byte vectors
/// lane, lane + kGroup, …, so that a warp's accesses are contiguous. Rows must be 16-byte aligned.
template <typename T, int kGroup, int kVectors>
struct RowTile {
  static constexpr int kCount = kLanes<T>;
  float values[kVectors][kCount];

  /// Loads all vectors before the first is used: kVectors loads in flight. What lies past the row is `padding`.
  __device__ void load(const T* row, int vectors, int lane, float padding) {
    uint4 raw[kVectors];
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const int at = lane + i * kGroup;
      if (at < vectors) raw[i] = __ldcs(reinterpret_cast<const uint4*>(row) + at);
    }
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (lane + i * kGroup < vectors) {
        widen_vector<T>(raw[i], values[i]);
      } else {
#pragma unroll
        for (int j = 0; j < kCount; ++j) values[i][j] = padding;
      }
    }
  }

  __device__ void store(T* row, int vectors, int lane) const {
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const int at = lane + i * kGroup;
      if (at < vectors) __stcs(reinterpret_cast<uint4*>(row) + at, narrow_vector<T>(values[i]));
    }
  }
};

/// Calls `launch.template operator()<kGroup, kVectors>()` with the smallest tile that holds a row of
/// `vectors` 16-byte vectors; false when none does.
/// Four vectors in flight a thread keep HBM busy; a warp a row needs no barrier, so it is preferred while
/// it reaches. Eight vectors come last: they cost registers, and so occupancy.
template <typename Launch>
bool with_row_tile(std::int64_t vectors, Launch&& launch) {
  if (vectors <= 32) return launch.template operator()<32, 1>(), true;
  if (vectors <= 64) return launch.template operator()<32, 2>(), true;
  if (vectors <= 128) return launch.template operator()<32, 4>(), true;
  if (vectors <= 256) return launch.template operator()<128, 2>(), true;
  if (vectors <= 512) return launch.template operator()<128, 4>(), true;
  if (vectors <= 1024) return launch.template operator()<256, 4>(), true;
  if (vectors <= 2048) return launch.template operator()<512, 4>(), true;
  if (vectors <= 4096) return launch.template operator()<1024, 4>(), true;
  return false;
}

}  // namespace roofline
