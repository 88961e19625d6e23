// One pass over arrays far larger than any cache, with 16-byte accesses: kernels of the HBM and NVLink probes, and
// differently shaped kernels that check their results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "device/cuda/cuda_device.hpp"

namespace roofline {

constexpr std::int64_t kVectorBytes = 16;

/// All elements into 32-bit checksums, one per block: exact in any order. A chunk is kThreads x kInFlight vectors.
template <int kThreads, int kInFlight>
__global__ void __launch_bounds__(kThreads)
    read_kernel(const uint4* __restrict__ x, std::int64_t chunks, unsigned* __restrict__ sums) {
  __shared__ unsigned total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  unsigned sum = 0;
  for (std::int64_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    const uint4* at = x + chunk * (kThreads * kInFlight) + threadIdx.x;
    uint4 value[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) value[i] = __ldcs(at + i * kThreads);
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) sum += (value[i].x + value[i].y) + (value[i].z + value[i].w);
  }
  atomicAdd(&total, __reduce_add_sync(0xffffffffu, sum) * (threadIdx.x % 32 == 0));
  __syncthreads();
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

/// What write_kernel writes: a pseudo-random function of the index.
__device__ inline uint4 written_value(std::uint32_t i) {
  constexpr std::uint32_t kSalt = 0x9E3779B9u;
  const std::uint32_t mixed = i * kSalt;
  return make_uint4(mixed, mixed ^ 0x85EBCA6Bu, ~mixed, mixed + kSalt);
}

/// One vector per thread: written_value of its index, a copy of its source, or b + 0.4 c.
__global__ void write_kernel(uint4* to, std::int64_t n);
__global__ void copy_kernel(uint4* __restrict__ to, const uint4* __restrict__ from, std::int64_t n);
__global__ void triad_kernel(float4* __restrict__ a, const float4* __restrict__ b, const float4* __restrict__ c,
                             std::int64_t n);

/// b + 0.4 c.
__device__ inline float4 triad(float4 b, float4 c) {
  return make_float4(fmaf(0.4f, c.x, b.x), fmaf(0.4f, c.y, b.y), fmaf(0.4f, c.z, b.z), fmaf(0.4f, c.w, b.w));
}

__device__ inline uint4 bits(float4 v) {
  return make_uint4(__float_as_uint(v.x), __float_as_uint(v.y), __float_as_uint(v.z), __float_as_uint(v.w));
}

/// The w-th vector that is written for the vectors that were read.
template <int kReads, int kWrites>
__device__ uint4 mixed(const uint4 (&in)[kReads], int w) {
  if constexpr (kReads == 2 && kWrites == 1) {
    const auto number = [](uint4 v) {
      return make_float4(__uint_as_float(v.x), __uint_as_float(v.y), __uint_as_float(v.z), __uint_as_float(v.w));
    };
    return bits(triad(number(in[0]), number(in[1])));
  } else {
    uint4 sum = make_uint4(w, w, w, w);
#pragma unroll
    for (int r = 0; r < kReads; ++r) {
      sum = make_uint4(sum.x + in[r].x, sum.y + in[r].y, sum.z + in[r].z, sum.w + in[r].w);
    }
    return sum;
  }
}

/// kReads vectors of one stream to kWrites of another, per thread: the vectors of a block are adjacent in both, so that
/// memory sees one stream of each direction, whatever the mix. Two to one is a triad whose operands alternate.
template <int kReads, int kWrites>
__global__ void mix_kernel(uint4* __restrict__ to, const uint4* __restrict__ from) {
  const std::int64_t block = blockIdx.x;
  uint4 in[kReads];
#pragma unroll
  for (int r = 0; r < kReads; ++r) in[r] = __ldcs(from + (block * kReads + r) * blockDim.x + threadIdx.x);
#pragma unroll
  for (int w = 0; w < kWrites; ++w)
    __stcs(to + (block * kWrites + w) * blockDim.x + threadIdx.x, mixed<kReads, kWrites>(in, w));
}

/// Why some of what `n` threads of mix_kernel wrote, in blocks of `threads`, is wrong; nothing if none is.
template <int kReads, int kWrites>
std::optional<std::string> check_mixed(CudaDevice& device, const void* out, const void* from, std::int64_t n,
                                       int threads);

/// Why some of the `n` vectors of `out` differ from the result of write_kernel, copy_kernel (from b) or
/// triad_kernel (of b and c); nothing if none does.
enum class Expect { written, copied, triad };
std::optional<std::string> check_written(CudaDevice& device, Expect expect, const void* out, const void* b,
                                         const void* c, std::int64_t n);

/// Why the checksums of read_kernel do not match the words of `n` vectors; nothing if they do.
std::optional<std::string> check_read(CudaDevice& device, Buffer& sums, const void* x, std::int64_t n);

}  // namespace roofline
