// Shared memory of a GPU: every thread repeatedly reads 16 bytes at a time from 32 KiB, without conflicts.
#include <fmt/core.h>

#include <vector>

#include "device/cuda/check.hpp"
#include "kernels/calibration/cuda/probe.cuh"
#include "kernels/calibration/probes.hpp"
#include "op/registry.hpp"

namespace roofline::shared_cuda {
namespace {

constexpr int kThreads = 1024;
constexpr int kPerThread = 2;
constexpr int kVectors = kThreads * kPerThread;
constexpr std::uint64_t kSeed = 1;
constexpr double kBytesPerLaunch = 16.0 * (1 << 30);

__host__ __device__ inline std::uint32_t word(int vector, int i) {
  return random_bits(kSeed, static_cast<std::uint64_t>(vector) * 4 + static_cast<std::uint64_t>(i));
}

__global__ void __launch_bounds__(kThreads) shared_read_kernel(std::uint32_t rounds, std::uint32_t* sums) {
  __shared__ uint4 set[kVectors];
  for (int i = threadIdx.x; i < kVectors; i += kThreads)
    set[i] = make_uint4(word(i, 0), word(i, 1), word(i, 2), word(i, 3));
  __syncthreads();
  const auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(set + threadIdx.x));
  std::uint32_t sum = 0;
#pragma unroll 4
  for (std::uint32_t round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
      uint4 value;
      // The same address is read repeatedly, and every read must be executed: ptxas, which does not see C++'s
      // volatile, merged four reads into one until the PTX said volatile as well (the audit reported 360 % of
      // the limit).
      asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                   : "r"(at + i * kThreads * 16));
      sum += (value.x + value.y) + (value.z + value.w);
    }
  }
  sums[blockIdx.x * kThreads + threadIdx.x] = sum;
}

/// Every thread's checksum, from the words that it must have read.
std::optional<std::string> check_sums(CudaDevice& device, Buffer& buffer, std::uint32_t rounds) {
  std::vector<std::uint32_t> sums(buffer.size() / sizeof(std::uint32_t));
  device.download(sums.data(), buffer.data(), buffer.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const int thread = static_cast<int>(i % kThreads);
    std::uint32_t once = 0;
    for (int vector = thread; vector < kVectors; vector += kThreads) {
      for (int w = 0; w < 4; ++w) once += word(vector, w);
    }
    if (sums[i] == once * rounds) continue;
    return fmt::format("thread {} of block {}: checksum {:#x}, expected {:#x}", thread, i / kThreads, sums[i],
                       once * rounds);
  }
  return std::nullopt;
}

std::vector<std::byte> set_sample() {
  std::vector<std::byte> sample;
  for (int vector = 0; vector < 1024; ++vector) {
    for (int i = 0; i < 16; ++i) sample.push_back(static_cast<std::byte>(word(vector, i / 4) >> (i % 4 * 8)));
  }
  return sample;
}

std::optional<ProbeCase> make(Device& device, const ProbeRequest& request, int variant) {
  if (variant > 1 || (request.quick && variant > 0)) return std::nullopt;
  const int per_sm = variant == 0 ? 1 : 2;
  CudaDevice& cuda = as_cuda(device);
  const auto blocks = static_cast<unsigned>(cuda.properties().sm_count * per_sm);
  const double bytes_per_round = 16.0 * kVectors * blocks;
  const auto rounds = static_cast<std::uint32_t>(kBytesPerLaunch * request.scale / bytes_per_round);
  const std::shared_ptr<Buffer> sums = shared_buffer(device, std::int64_t{blocks} * kThreads * 4);
  ProbeCase made;
  made.variant = fmt::format("{} KiB set, {} x 16 B in flight, {} blocks of {} per SM", kVectors * 16 / 1024,
                             kPerThread, per_sm, kThreads);
  made.amount = bytes_per_round * rounds;
  made.work.bytes[Level::shared].read = made.amount;
  made.working_set_bytes = 16.0 * kVectors * blocks;
  made.nearer_cache_bytes = 0;
  made.instruction = "LDS.128";
  made.code = looks_for(shared_read_kernel, made.instruction);
  made.operands = set_sample;
  made.run = [=, stream = cuda.stream()] {
    shared_read_kernel<<<blocks, kThreads, 0, stream>>>(rounds, static_cast<std::uint32_t*>(sums->data()));
    check_launch("shared memory kernel");
  };
  made.verify = [=, &cuda] { return check_sums(cuda, *sums, rounds); };
  return made;
}

Probe shared_probe() {
  Probe probe = bandwidth_probe(DeviceKind::cuda, "shared.read", Level::shared, Pattern::read);
  probe.least_of_limit = 0.85;
  probe.make = make;
  // 32 banks of 4 bytes.
  probe.limit = [](const Device& device, std::optional<double> hz) { return port_limit(device, 128, hz); };
  return probe;
}

const ProbeRegistrar kRegistrar({shared_probe()});

}  // namespace
}  // namespace roofline::shared_cuda
