// What the CUDA probes share: buffers of reproducible random data, and limits from the attributes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "device/cuda/cuda_device.hpp"
#include "device/cuda/element.cuh"
#include "device/device.hpp"
#include "op/probe.hpp"

namespace roofline {

/// A 32-bit hash of (seed, index): splitmix64's finaliser.
__host__ __device__ inline std::uint32_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return static_cast<std::uint32_t>((z ^ (z >> 31)) >> 32);
}

/// Uniform in [-1, 1).
__host__ __device__ inline float random_value(std::uint64_t seed, std::uint64_t index) {
  return static_cast<float>(static_cast<std::int32_t>(random_bits(seed, index)) >> 8) * (1.0f / 8388608.0f);
}

/// Fills `count` elements with random values in [-1, 1), rounded to T. Waits.
template <typename T>
void fill_random(CudaDevice& device, void* to, std::int64_t count, std::uint64_t seed);
extern template void fill_random<float>(CudaDevice&, void*, std::int64_t, std::uint64_t);
extern template void fill_random<__half>(CudaDevice&, void*, std::int64_t, std::uint64_t);
extern template void fill_random<__nv_bfloat16>(CudaDevice&, void*, std::int64_t, std::uint64_t);

/// A buffer that a std::function may hold: shared by its copies.
inline std::shared_ptr<Buffer> shared_buffer(Device& device, std::int64_t bytes) {
  return device.allocate(static_cast<std::size_t>(bytes));
}

/// FLOP per cycle of the whole device times the clock, with the formula; nothing without clock or table entry.
std::optional<Limit> cycle_limit(const Device& device, Pipe pipe, std::optional<double> core_hz);

}  // namespace roofline
