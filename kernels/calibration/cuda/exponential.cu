// Peak of a GPU's special function unit: exponentials (ex2). One result is one operation.
#include <fmt/core.h>

#include <cmath>
#include <cstring>

#include "device/cuda/check.hpp"
#include "kernels/calibration/cuda/chain.cuh"
#include "op/registry.hpp"

namespace roofline::exponential_cuda {
namespace {

/// Chains of x = 2^-x, which converge to the fixed point 0.6412 from any start.
template <int kChains>
__global__ void exponential_kernel(float* out, int rounds) {
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  float x[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) x[c] = random_value(1, thread * 64 + static_cast<std::uint64_t>(c));
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int u = 0; u < kChainUnroll; ++u) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) x[c] = fast_exp2(-x[c]);
    }
  }
  float sum = x[0];
#pragma unroll
  for (int c = 1; c < kChains; ++c) sum += x[c];
  out[thread] = sum;
}

// The unit's rounding is documented as a bound, not bit by bit, so the host cannot replay it exactly. That the time
// doubles with the work shows that every step was executed.
std::optional<std::string> compare(const std::vector<float>& out, int chains) {
  constexpr double kFixedPoint = 0.6411857445049860;  // x = 2^-x
  for (std::size_t thread = 0; thread < out.size(); ++thread) {
    if (std::abs(out[thread] / chains - kFixedPoint) < 1e-5) continue;
    return fmt::format("thread {} ended at {}, expected the fixed point {}", thread, out[thread] / chains, kFixedPoint);
  }
  return std::nullopt;
}

template <int kChains>
ProbeCase exponential_case(CudaDevice& device, const ProbeRequest& request, int threads, int blocks_per_sm) {
  const ChainShape shape{kChains, threads, blocks_per_sm};
  const int rounds = chain_rounds(device, Pipe::sfu, shape, 1, request.scale);
  ProbeCase made = chain_case<float>(
      device, Pipe::sfu, shape, static_cast<double>(rounds) * kChainUnroll * kChains,
      [=, stream = device.stream()](unsigned blocks, float* out) {
        exponential_kernel<kChains><<<blocks, static_cast<unsigned>(threads), 0, stream>>>(out, rounds);
        check_launch("exponential kernel");
      },
      [](const std::vector<float>& out) { return compare(out, kChains); });
  made.instruction = "MUFU.EX2";
  made.code = looks_for(exponential_kernel<kChains>, "MUFU.EX2");
  return made;
}

std::optional<ProbeCase> make(Device& device, const ProbeRequest& request, int variant) {
  CudaDevice& cuda = as_cuda(device);
  if (request.quick && variant > 0) return std::nullopt;
  if (variant == 0) return exponential_case<8>(cuda, request, 256, 4);
  if (variant == 1) return exponential_case<4>(cuda, request, 256, 4);
  return std::nullopt;
}

Probe exponential_probe() {
  Probe probe = chain_probe(Pipe::sfu, 0.93);
  probe.make = make;
  return probe;
}

const ProbeRegistrar kRegistrar({exponential_probe()});

}  // namespace
}  // namespace roofline::exponential_cuda
