// HBM bandwidth on a GPU: read, write, copy, triad, with 16-byte accesses over a set far larger than L2.
// What is counted is what the program asks for; a GPU's L2 fetches nothing for a line that is written whole.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "device/cuda/check.hpp"
#include "device/cuda/row.cuh"
#include "kernels/calibration/cuda_probe.cuh"
#include "op/registry.hpp"

namespace roofline {
namespace {

constexpr std::int64_t kVector = 16;
constexpr float kTriadScalar = 0.4f;
constexpr std::uint32_t kSalt = 0x9E3779B9u;

// --- read: every element into a 32-bit sum, which is exact in any order ---

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

// --- write, copy, triad: one vector a thread ---

__device__ uint4 written_value(std::uint32_t i) {
  const std::uint32_t mixed = i * kSalt;
  return make_uint4(mixed, mixed ^ 0x85EBCA6Bu, ~mixed, mixed + kSalt);
}

__global__ void write_kernel(uint4* to, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) __stcs(to + i, written_value(static_cast<std::uint32_t>(i)));
}

__global__ void copy_kernel(uint4* __restrict__ to, const uint4* __restrict__ from, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) __stcs(to + i, __ldcs(from + i));
}

__device__ float4 triad(float4 b, float4 c) {
  return make_float4(fmaf(kTriadScalar, c.x, b.x), fmaf(kTriadScalar, c.y, b.y), fmaf(kTriadScalar, c.z, b.z),
                     fmaf(kTriadScalar, c.w, b.w));
}

__global__ void triad_kernel(float4* __restrict__ a, const float4* __restrict__ b, const float4* __restrict__ c,
                             std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) __stcs(a + i, triad(__ldcs(b + i), __ldcs(c + i)));
}

// --- verification: plain kernels of another shape, over every element ---

enum class Expect { sum, written, copied, triad };

__device__ bool same_bits(uint4 a, uint4 b) { return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w; }

__device__ uint4 bits(float4 v) {
  return make_uint4(__float_as_uint(v.x), __float_as_uint(v.y), __float_as_uint(v.z), __float_as_uint(v.w));
}

/// Expect::sum: *result gets the sum of all 32-bit words of `out`; the others count elements that are wrong.
__global__ void check_kernel(Expect expect, const uint4* out, const uint4* b, const uint4* c, std::int64_t n,
                             unsigned long long* result) {
  unsigned long long own = 0;
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const uint4 value = out[i];
    if (expect == Expect::sum) {
      own += static_cast<unsigned long long>(value.x) + value.y + value.z + value.w;
      continue;
    }
    uint4 expected = written_value(static_cast<std::uint32_t>(i));
    if (expect == Expect::copied) expected = b[i];
    if (expect == Expect::triad) {
      expected = bits(triad(reinterpret_cast<const float4*>(b)[i], reinterpret_cast<const float4*>(c)[i]));
    }
    own += same_bits(value, expected) ? 0 : 1;
  }
  atomicAdd(result, own);
}

using Buffers = std::vector<std::shared_ptr<Buffer>>;

const uint4* vectors(const Buffers& buffers, std::size_t i) {
  return i < buffers.size() ? static_cast<const uint4*>(buffers[i]->data()) : nullptr;
}

unsigned long long run_check(CudaDevice& device, Expect expect, const Buffers& buffers, std::int64_t n) {
  const auto result = device.allocate(sizeof(unsigned long long));
  device.fill(result->data(), std::byte{0}, result->size());
  const unsigned blocks = static_cast<unsigned>(device.properties().sm_count) * 4;
  check_kernel<<<blocks, 512, 0, device.stream()>>>(expect, vectors(buffers, 0), vectors(buffers, 1),
                                                    vectors(buffers, 2), n,
                                                    static_cast<unsigned long long*>(result->data()));
  check_launch("bandwidth check");
  unsigned long long value = 0;
  device.download(&value, result->data(), sizeof value);
  return value;
}

// --- cases ---

/// Bytes that all arrays of a case take: 4 GiB, or what a smaller GPU has room for, so that the ends of a launch
/// don't show; 4 x L2 at the very least.
std::int64_t set_bytes(const CudaDevice& device, double scale) {
  const double room = device.free_memory_bytes() / 3;  // the audit doubles the set
  const double wanted = std::max(std::min(4.0 * (1u << 30), room), 4 * device.properties().l2_bytes);
  return static_cast<std::int64_t>(wanted * scale);
}

/// Random arrays of `vectors` 16-byte vectors each; those to be written start as NaN-like poison.
Buffers make_arrays(CudaDevice& device, std::int64_t count, int outputs, int inputs) {
  Buffers buffers;
  for (int i = 0; i < outputs + inputs; ++i) {
    buffers.push_back(shared_buffer(device, count * kVector));
    if (i < outputs) {
      device.fill(buffers.back()->data(), std::byte{0xFF}, buffers.back()->size());
    } else {
      fill_random<float>(device, buffers.back()->data(), count * 4, static_cast<std::uint64_t>(i) + 1);
    }
  }
  return buffers;
}

template <int kThreads, int kInFlight>
ProbeCase read_case(CudaDevice& device, double scale, int blocks_per_sm) {
  constexpr std::int64_t kChunk = kThreads * kInFlight;
  const std::int64_t chunks = set_bytes(device, scale) / (kChunk * kVector);
  const std::int64_t n = chunks * kChunk;
  const Buffers buffers = make_arrays(device, n, 0, 1);
  const auto blocks = static_cast<unsigned>(device.properties().sm_count * blocks_per_sm);
  const std::shared_ptr<Buffer> sums = shared_buffer(device, blocks * sizeof(unsigned));
  ProbeCase made;
  made.variant = fmt::format("{} x 16 B in flight, {} blocks of {} per SM", kInFlight, blocks_per_sm, kThreads);
  made.amount = static_cast<double>(n * kVector);
  made.work.bytes[Level::hbm].read = made.amount;
  made.working_set_bytes = made.amount;
  made.run = [=, stream = device.stream()] {
    read_kernel<kThreads, kInFlight>
        <<<blocks, kThreads, 0, stream>>>(vectors(buffers, 0), chunks, static_cast<unsigned*>(sums->data()));
    check_launch("read kernel");
  };
  made.verify = [=, &device]() -> std::optional<std::string> {
    std::vector<unsigned> parts(blocks);
    device.download(parts.data(), sums->data(), parts.size() * sizeof(unsigned));
    const unsigned sum = std::accumulate(parts.begin(), parts.end(), 0u);
    const auto expected = static_cast<unsigned>(run_check(device, Expect::sum, buffers, n));
    if (sum == expected) return std::nullopt;
    return fmt::format("the sum of all words is {:#x}, not {:#x}", sum, expected);
  };
  return made;
}

constexpr std::array<int, 4> kBlockSizes = {512, 256, 1024, 128};

/// The cases that write: `streams` arrays in all, the first of which is the output.
ProbeCase writing_case(CudaDevice& device, double scale, Pattern pattern, int threads) {
  const int inputs = pattern == Pattern::write ? 0 : pattern == Pattern::copy ? 1 : 2;
  const std::int64_t n = set_bytes(device, scale) / ((1 + inputs) * kVector);
  const Buffers buffers = make_arrays(device, n, 1, inputs);
  const auto blocks = static_cast<unsigned>(ceil_div(n, threads));
  ProbeCase made;
  made.variant = fmt::format("16 B a thread, blocks of {}", threads);
  made.amount = static_cast<double>((1 + inputs) * n * kVector);
  made.work.bytes[Level::hbm] = {.read = static_cast<double>(inputs * n * kVector),
                                 .write = static_cast<double>(n * kVector)};
  if (pattern == Pattern::triad) made.work.flops[Pipe::fp32] = 8.0 * static_cast<double>(n);
  made.working_set_bytes = made.amount;
  made.run = [=, stream = device.stream()] {
    void* out = buffers[0]->data();
    if (pattern == Pattern::write) {
      write_kernel<<<blocks, threads, 0, stream>>>(static_cast<uint4*>(out), n);
    } else if (pattern == Pattern::copy) {
      copy_kernel<<<blocks, threads, 0, stream>>>(static_cast<uint4*>(out), vectors(buffers, 1), n);
    } else {
      triad_kernel<<<blocks, threads, 0, stream>>>(static_cast<float4*>(out),
                                                   static_cast<const float4*>(buffers[1]->data()),
                                                   static_cast<const float4*>(buffers[2]->data()), n);
    }
    check_launch("bandwidth kernel");
  };
  const Expect expect = pattern == Pattern::write  ? Expect::written
                        : pattern == Pattern::copy ? Expect::copied
                                                   : Expect::triad;
  made.verify = [=, &device]() -> std::optional<std::string> {
    const unsigned long long wrong = run_check(device, expect, buffers, n);
    if (wrong == 0) return std::nullopt;
    return fmt::format("{} of {} 16-byte elements are wrong", wrong, n);
  };
  return made;
}

std::optional<ProbeCase> make_read(Device& device, const ProbeRequest& request, int variant) {
  CudaDevice& cuda = as_cuda(device);
  switch (variant) {
    case 0:
      return read_case<512, 4>(cuda, request.scale, 32);
    case 1:
      return read_case<512, 8>(cuda, request.scale, 32);
    case 2:
      if (request.quick) return std::nullopt;
      return read_case<512, 4>(cuda, request.scale, 4);
    case 3:
      return read_case<256, 8>(cuda, request.scale, 8);
    case 4:
      return read_case<1024, 4>(cuda, request.scale, 16);
    default:
      return std::nullopt;
  }
}

std::optional<ProbeCase> make_writing(Device& device, const ProbeRequest& request, int variant, Pattern pattern) {
  const std::size_t variants = request.quick ? 2 : kBlockSizes.size();
  if (static_cast<std::size_t>(variant) >= variants) return std::nullopt;
  return writing_case(as_cuda(device), request.scale, pattern, kBlockSizes[static_cast<std::size_t>(variant)]);
}

/// Two transfers a cycle of the memory clock, on every DDR-like memory that GPUs have.
std::optional<Limit> memory_limit(const Device& device, std::optional<double>) {
  const CudaProperties& gpu = as_cuda(device).properties();
  if (gpu.max_memory_hz <= 0 || gpu.memory_bus_bits <= 0) return std::nullopt;
  return Limit{.value = 2 * gpu.max_memory_hz * gpu.memory_bus_bits / 8,
               .basis = fmt::format("2 x {:.0f} MHz x {} bit", gpu.max_memory_hz * 1e-6, gpu.memory_bus_bits)};
}

Probe bandwidth_probe(Pattern pattern) {
  Probe probe;
  probe.name = fmt::format("hbm.{}", to_string(pattern));
  probe.device = DeviceKind::cuda;
  probe.kind = CeilingKind::bandwidth;
  probe.level = Level::hbm;
  probe.pattern = pattern;
  probe.make = [pattern](Device& device, const ProbeRequest& request, int variant) {
    return pattern == Pattern::read ? make_read(device, request, variant)
                                    : make_writing(device, request, variant, pattern);
  };
  probe.limit = memory_limit;
  return probe;
}

const ProbeRegistrar kRegistrar({bandwidth_probe(Pattern::read), bandwidth_probe(Pattern::write),
                                 bandwidth_probe(Pattern::copy), bandwidth_probe(Pattern::triad)});

}  // namespace
}  // namespace roofline
