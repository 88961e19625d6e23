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

/// Why some of the `n` vectors of `out` differ from the result of write_kernel, copy_kernel (from b) or
/// triad_kernel (of b and c); nothing if none does.
enum class Expect { written, copied, triad };
std::optional<std::string> check_written(CudaDevice& device, Expect expect, const void* out, const void* b,
                                         const void* c, std::int64_t n);

/// Why the checksums of read_kernel do not match the words of `n` vectors; nothing if they do.
std::optional<std::string> check_read(CudaDevice& device, Buffer& sums, const void* x, std::int64_t n);

}  // namespace roofline
