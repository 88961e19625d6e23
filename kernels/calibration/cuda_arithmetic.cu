// The arithmetic peaks of a GPU's own cores: fp32 and fp64 fused multiply-adds and the exponential of the
// special-function unit. Independent chains in registers, no memory until the end.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <vector>

#include "device/cuda/check.hpp"
#include "device/cuda/throughput.hpp"
#include "kernels/calibration/cuda_probe.cuh"
#include "op/registry.hpp"

namespace roofline {
namespace {

constexpr int kUnroll = 16;

/// Where a chain starts: different in every thread and chain, so that no bits stand still.
template <typename T>
__host__ __device__ T start_of(std::uint64_t thread, int chain) {
  return static_cast<T>(random_value(1, thread * 64 + static_cast<std::uint64_t>(chain)));
}

// What every step multiplies by and adds: |factor| < 1 keeps values bounded for any length. Passed as kernel
// arguments, they stay in uniform registers: with a third operand out of the vector registers, as values of a
// thread's own need it, an H200's fp64 reached 30.7 TFLOP/s of 33.4, whatever the chains and warps; so, 33.4.
constexpr double kFactor = -0.9990234375;
constexpr double kAddend = 0.4375;

__device__ float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
__device__ double multiply_add(double a, double b, double c) { return fma(a, b, c); }

/// out[thread] = the sum of kChains chains of x = x * factor + addend, `rounds` * kUnroll steps each.
template <typename T, int kChains>
__global__ void fma_kernel(T* out, int rounds, T factor, T addend) {
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  T x[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) x[c] = start_of<T>(thread, c);
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) x[c] = multiply_add(x[c], factor, addend);
    }
  }
  T sum = x[0];
#pragma unroll
  for (int c = 1; c < kChains; ++c) sum += x[c];
  out[thread] = sum;
}

/// The same with x = 2^-x, which runs into the fixed point 0.6412 from anywhere.
template <int kChains>
__global__ void exponential_kernel(float* out, int rounds) {
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  float x[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) x[c] = start_of<float>(thread, c);
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) x[c] = fast_exp2(-x[c]);
    }
  }
  float sum = x[0];
#pragma unroll
  for (int c = 1; c < kChains; ++c) sum += x[c];
  out[thread] = sum;
}

struct Shape {
  int chains;
  int threads;  ///< of a block
  int blocks;   ///< of an SM
};

/// What a thread of the FMA kernel computes, step by step on the host: the same roundings, so the same bits.
template <typename T>
T replay(std::uint64_t thread, int chains, std::int64_t steps) {
  T sum = 0;
  for (int c = 0; c < chains; ++c) {
    T x = start_of<T>(thread, c);
    for (std::int64_t i = 0; i < steps; ++i) x = std::fma(x, static_cast<T>(kFactor), static_cast<T>(kAddend));
    sum = c == 0 ? x : sum + x;
  }
  return sum;
}

/// Threads to be verified: both ends, and a spread in between.
std::vector<std::size_t> sample_of(std::size_t threads) {
  std::vector<std::size_t> sample = {0, threads - 1};
  for (std::uint64_t i = 0; i < 30; ++i) sample.push_back(random_bits(4, i) % threads);
  return sample;
}

template <typename T>
std::optional<std::string> compare_fma(const std::vector<T>& out, int chains, std::int64_t steps) {
  for (const std::size_t thread : sample_of(out.size())) {
    const T expected = replay<T>(thread, chains, steps);
    if (out[thread] != expected) {
      return fmt::format("thread {} computed {}, the host {}", thread, out[thread], expected);
    }
  }
  return std::nullopt;
}

std::optional<std::string> compare_exponential(const std::vector<float>& out, int chains) {
  constexpr double kFixedPoint = 0.6411857445049860;  // x = 2^-x
  for (std::size_t thread = 0; thread < out.size(); ++thread) {
    if (std::abs(out[thread] / chains - kFixedPoint) < 1e-5) continue;
    return fmt::format("thread {} ended at {}, not at the fixed point {}", thread, out[thread] / chains, kFixedPoint);
  }
  return std::nullopt;
}

template <typename T, typename Launch, typename Compare>
ProbeCase chain_case(CudaDevice& device, Shape shape, Pipe pipe, double flop_per_step, std::int64_t steps,
                     Launch launch, Compare compare) {
  const auto blocks = static_cast<unsigned>(device.properties().sm_count * shape.blocks);
  const std::size_t threads = std::size_t{blocks} * static_cast<std::size_t>(shape.threads);
  const std::shared_ptr<Buffer> out = shared_buffer(device, static_cast<std::int64_t>(threads * sizeof(T)));
  device.fill(out->data(), std::byte{0xFF}, out->size());
  ProbeCase made;
  made.variant = fmt::format("{} chains, {} blocks of {} per SM", shape.chains, shape.blocks, shape.threads);
  made.amount = flop_per_step * static_cast<double>(steps) * shape.chains * static_cast<double>(threads);
  made.work.flops[pipe] = made.amount;
  made.work.bytes[Level::hbm].write = static_cast<double>(out->size());
  made.run = [=, stream = device.stream()] {
    launch(blocks, stream, static_cast<T*>(out->data()));
    check_launch("arithmetic kernel");
  };
  made.verify = [=, &device]() -> std::optional<std::string> {
    std::vector<T> result(threads);
    device.download(result.data(), out->data(), out->size());
    return compare(result);
  };
  return made;
}

template <typename T, int kChains>
ProbeCase fma_case(CudaDevice& device, Pipe pipe, int threads, int blocks_per_sm, int rounds) {
  const std::int64_t steps = std::int64_t{rounds} * kUnroll;
  return chain_case<T>(
      device, {kChains, threads, blocks_per_sm}, pipe, 2, steps,
      [=](unsigned blocks, cudaStream_t stream, T* out) {
        fma_kernel<T, kChains><<<blocks, static_cast<unsigned>(threads), 0, stream>>>(
            out, rounds, static_cast<T>(kFactor), static_cast<T>(kAddend));
      },
      [=](const std::vector<T>& out) { return compare_fma(out, kChains, steps); });
}

template <int kChains>
ProbeCase exponential_case(CudaDevice& device, int threads, int blocks_per_sm, int rounds) {
  return chain_case<float>(
      device, {kChains, threads, blocks_per_sm}, Pipe::sfu, 1, std::int64_t{rounds} * kUnroll,
      [=](unsigned blocks, cudaStream_t stream, float* out) {
        exponential_kernel<kChains><<<blocks, static_cast<unsigned>(threads), 0, stream>>>(out, rounds);
      },
      [=](const std::vector<float>& out) { return compare_exponential(out, kChains); });
}

/// Rounds that make a launch last about a millisecond at `per_cycle` FLOP per SM and cycle.
int rounds_for(const CudaDevice& device, double scale, int chains, int threads_per_sm, double flop_per_step,
               Pipe pipe) {
  const CudaProperties& gpu = device.properties();
  const double per_cycle = flops_per_cycle(gpu.major, gpu.minor, pipe).value_or(128);
  const double cycles = 1e-3 * (gpu.max_core_hz > 0 ? gpu.max_core_hz : 1.5e9);
  const double rounds = cycles * per_cycle / (flop_per_step * chains * threads_per_sm * kUnroll);
  return static_cast<int>(std::max(1.0, std::round(rounds)) * scale);
}

// An FMA takes 4 cycles and an SM's partition issues one a cycle, so 4 chains would do with one warp; more of both hide
// the loop's own instructions. Threads an SM: half of 2048 leaves every chain its registers.
template <typename T>
std::optional<ProbeCase> make_fma(Device& device, const ProbeRequest& request, int variant, Pipe pipe) {
  CudaDevice& cuda = as_cuda(device);
  const auto rounds = [&](int chains, int threads) {
    return rounds_for(cuda, request.scale, chains, threads, 2, pipe);
  };
  switch (variant) {
    case 0:
      return fma_case<T, 8>(cuda, pipe, 256, 4, rounds(8, 1024));
    case 1:
      return fma_case<T, 16>(cuda, pipe, 256, 2, rounds(16, 512));
    case 2:
      if (request.quick) return std::nullopt;
      return fma_case<T, 4>(cuda, pipe, 256, 4, rounds(4, 1024));
    case 3:
      return fma_case<T, 8>(cuda, pipe, 256, 2, rounds(8, 512));
    case 4:
      return fma_case<T, 8>(cuda, pipe, 128, 8, rounds(8, 1024));
    default:
      return std::nullopt;
  }
}

std::optional<ProbeCase> make_exponential(Device& device, const ProbeRequest& request, int variant) {
  CudaDevice& cuda = as_cuda(device);
  const auto rounds = [&](int chains, int threads) {
    return rounds_for(cuda, request.scale, chains, threads, 1, Pipe::sfu);
  };
  switch (variant) {
    case 0:
      return exponential_case<4>(cuda, 256, 4, rounds(4, 1024));
    case 1:
      if (request.quick) return std::nullopt;
      return exponential_case<8>(cuda, 256, 4, rounds(8, 1024));
    case 2:
      return exponential_case<8>(cuda, 256, 2, rounds(8, 512));
    default:
      return std::nullopt;
  }
}

Probe arithmetic_probe(Pipe pipe) {
  Probe probe;
  probe.name = std::string(to_string(pipe));
  probe.device = DeviceKind::cuda;
  probe.kind = CeilingKind::compute;
  probe.pipe = pipe;
  probe.make = [pipe](Device& device, const ProbeRequest& request, int variant) {
    if (pipe == Pipe::sfu) return make_exponential(device, request, variant);
    return pipe == Pipe::fp64 ? make_fma<double>(device, request, variant, pipe)
                              : make_fma<float>(device, request, variant, pipe);
  };
  probe.limit = [pipe](const Device& device, std::optional<double> core_hz) {
    return cycle_limit(device, pipe, core_hz);
  };
  return probe;
}

const ProbeRegistrar kRegistrar({arithmetic_probe(Pipe::fp32), arithmetic_probe(Pipe::fp64),
                                 arithmetic_probe(Pipe::sfu)});

}  // namespace
}  // namespace roofline
