// The streaming kernels and their checks (stream.cuh).
#include "kernels/calibration/cuda/stream.cuh"

#include <fmt/core.h>

#include <numeric>
#include <vector>

#include "device/cuda/check.hpp"
#include "kernels/blocks/cuda/element.cuh"

namespace roofline {
namespace {

__device__ bool same_bits(uint4 a, uint4 b) { return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w; }

/// A thread per written vector, unlike mix_kernel.
template <int kReads, int kWrites>
__global__ void wrong_mix_kernel(const uint4* out, const uint4* from, std::int64_t n, int threads,
                                 unsigned long long* wrong) {
  unsigned long long own = 0;
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n * kWrites; i += stride) {
    const std::int64_t block = i / (std::int64_t{kWrites} * threads);
    const int w = static_cast<int>(i / threads % kWrites);
    uint4 in[kReads];
    for (int r = 0; r < kReads; ++r) in[r] = from[(block * kReads + r) * threads + i % threads];
    own += same_bits(out[i], mixed<kReads, kWrites>(in, w)) ? 0 : 1;
  }
  atomicAdd(wrong, own);
}

__global__ void wrong_kernel(Expect expect, const uint4* out, const uint4* b, const uint4* c, std::int64_t n,
                             unsigned long long* wrong) {
  unsigned long long own = 0;
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    uint4 expected = written_value(static_cast<std::uint32_t>(i));
    if (expect == Expect::copied) expected = b[i];
    if (expect == Expect::triad) {
      expected = bits(triad(reinterpret_cast<const float4*>(b)[i], reinterpret_cast<const float4*>(c)[i]));
    }
    own += same_bits(out[i], expected) ? 0 : 1;
  }
  atomicAdd(wrong, own);
}

__global__ void sum_kernel(const uint4* x, std::int64_t n, unsigned long long* sum) {
  unsigned own = 0;
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const uint4 value = x[i];
    own += value.x + value.y + value.z + value.w;
  }
  atomicAdd(sum, static_cast<unsigned long long>(own));
}

/// Runs `launch(blocks, counter)` on a counter that is zero, and reads it.
template <typename Launch>
unsigned long long counted(CudaDevice& device, const Launch& launch) {
  const auto counter = device.allocate(sizeof(unsigned long long));
  device.fill(counter->data(), std::byte{0}, counter->size());
  launch(static_cast<unsigned>(device.properties().sm_count) * 4, static_cast<unsigned long long*>(counter->data()));
  check_launch("checking kernel");
  unsigned long long value = 0;
  device.download(&value, counter->data(), sizeof value);
  return value;
}

}  // namespace

__global__ void write_kernel(uint4* to, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) __stcs(to + i, written_value(static_cast<std::uint32_t>(i)));
}

__global__ void copy_kernel(uint4* __restrict__ to, const uint4* __restrict__ from, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) __stcs(to + i, load_streaming(from + i));
}

__global__ void triad_kernel(float4* __restrict__ a, const float4* __restrict__ b, const float4* __restrict__ c,
                             std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) __stcs(a + i, triad(__ldcs(b + i), __ldcs(c + i)));
}

template <int kReads, int kWrites>
std::optional<std::string> check_mixed(CudaDevice& device, const void* out, const void* from, std::int64_t n,
                                       int threads) {
  const unsigned long long wrong = counted(device, [&](unsigned blocks, unsigned long long* counter) {
    wrong_mix_kernel<kReads, kWrites><<<blocks, 512, 0, device.stream()>>>(
        static_cast<const uint4*>(out), static_cast<const uint4*>(from), n, threads, counter);
  });
  if (wrong == 0) return std::nullopt;
  return fmt::format("{} of {} 16-byte elements are wrong", wrong, n * kWrites);
}

template std::optional<std::string> check_mixed<4, 1>(CudaDevice&, const void*, const void*, std::int64_t, int);
template std::optional<std::string> check_mixed<2, 1>(CudaDevice&, const void*, const void*, std::int64_t, int);
template std::optional<std::string> check_mixed<1, 2>(CudaDevice&, const void*, const void*, std::int64_t, int);
template std::optional<std::string> check_mixed<1, 4>(CudaDevice&, const void*, const void*, std::int64_t, int);

std::optional<std::string> check_written(CudaDevice& device, Expect expect, const void* out, const void* b,
                                         const void* c, std::int64_t n) {
  const unsigned long long wrong = counted(device, [&](unsigned blocks, unsigned long long* counter) {
    wrong_kernel<<<blocks, 512, 0, device.stream()>>>(
        expect, static_cast<const uint4*>(out), static_cast<const uint4*>(b), static_cast<const uint4*>(c), n, counter);
  });
  if (wrong == 0) return std::nullopt;
  return fmt::format("{} of {} 16-byte elements are wrong", wrong, n);
}

std::optional<std::string> check_read(CudaDevice& device, Buffer& sums, const void* x, std::int64_t n) {
  std::vector<unsigned> parts(sums.size() / sizeof(unsigned));
  device.download(parts.data(), sums.data(), sums.size());
  const unsigned sum = std::accumulate(parts.begin(), parts.end(), 0u);
  const auto expected = static_cast<unsigned>(counted(device, [&](unsigned blocks, unsigned long long* counter) {
    sum_kernel<<<blocks, 512, 0, device.stream()>>>(static_cast<const uint4*>(x), n, counter);
  }));
  if (sum == expected) return std::nullopt;
  return fmt::format("checksum {:#x}, expected {:#x}", sum, expected);
}

}  // namespace roofline
