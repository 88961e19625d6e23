// Common to the CUDA probes: buffers of reproducible random data, and limits from device attributes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/cuda/cuda_device.hpp"
#include "device/device.hpp"
#include "kernels/blocks/cuda/element.cuh"
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

/// Fills `count` elements with random values in [-1, 1), rounded to T. Synchronous.
template <typename T>
void fill_random(CudaDevice& device, void* to, std::int64_t count, std::uint64_t seed);
extern template void fill_random<float>(CudaDevice&, void*, std::int64_t, std::uint64_t);
extern template void fill_random<__half>(CudaDevice&, void*, std::int64_t, std::uint64_t);
extern template void fill_random<__nv_bfloat16>(CudaDevice&, void*, std::int64_t, std::uint64_t);

/// A buffer for a std::function, shared by its copies.
inline std::shared_ptr<Buffer> shared_buffer(Device& device, std::int64_t bytes) {
  return device.allocate(static_cast<std::size_t>(bytes));
}

/// For ProbeCase::operands: a few KiB from the middle of a buffer, read when requested.
std::function<std::vector<std::byte>()> sample_of(CudaDevice& device, std::shared_ptr<Buffer> buffer);

/// For ProbeCase::code: looks for an instruction of device/cubin.hpp in the machine code of a __global__ function.
std::function<CodeSearch()> looks_for(const void* kernel, std::string instruction);

/// made.code = looks_for(copy_kernel<4>, "LDG.E.128");
template <typename... Parameters>
std::function<CodeSearch()> looks_for(void (*kernel)(Parameters...), std::string instruction) {
  return looks_for(reinterpret_cast<const void*>(kernel), std::move(instruction));
}

/// FLOP per cycle of the whole device times the clock, with the formula; nothing without clock or table entry.
std::optional<Limit> cycle_limit(const Device& device, Pipe pipe, std::optional<double> core_hz);

/// The same for a port of every SM with that many bytes per cycle; nothing without a clock.
std::optional<Limit> port_limit(const Device& device, double bytes_per_cycle, std::optional<double> core_hz);

/// All NVLinks of a GPU, in that many directions at once, packet overhead included; nothing without NVLink.
std::optional<Limit> nvlink_limit(const Device& device, int directions = 1);

}  // namespace roofline
