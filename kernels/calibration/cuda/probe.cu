// Random fills and limits for the CUDA probes.
#include "kernels/calibration/cuda/probe.cuh"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "device/cuda/check.hpp"
#include "device/cuda/handles.hpp"
#include "device/cuda/machine_code.hpp"
#include "device/cuda/nvml.hpp"
#include "device/cuda/throughput.hpp"

namespace roofline {
namespace {

template <typename T>
__global__ void fill_kernel(T* to, std::int64_t count, std::uint64_t seed) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    to[i] = narrow<T>(random_value(seed, static_cast<std::uint64_t>(i)));
  }
}

}  // namespace

template <typename T>
void fill_random(CudaDevice& device, void* to, std::int64_t count, std::uint64_t seed) {
  const CurrentDevice guard(device.properties().index);
  const unsigned blocks = static_cast<unsigned>(device.properties().sm_count) * 8;
  fill_kernel<T><<<blocks, 256, 0, device.stream()>>>(static_cast<T*>(to), count, seed);
  check_launch("random fill");
  device.synchronize();
}

template void fill_random<float>(CudaDevice&, void*, std::int64_t, std::uint64_t);
template void fill_random<__half>(CudaDevice&, void*, std::int64_t, std::uint64_t);
template void fill_random<__nv_bfloat16>(CudaDevice&, void*, std::int64_t, std::uint64_t);

std::function<std::vector<std::byte>()> sample_of(CudaDevice& device, std::shared_ptr<Buffer> buffer) {
  return [&device, buffer = std::move(buffer)] {
    std::vector<std::byte> sample(std::min<std::size_t>(buffer->size(), 16384));
    const std::size_t at = (buffer->size() - sample.size()) / 2;
    device.download(sample.data(), static_cast<const std::byte*>(buffer->data()) + at, sample.size());
    return sample;
  };
}

std::function<CodeSearch()> looks_for(const void* kernel, std::string instruction) {
  return [kernel, instruction = std::move(instruction)] {
    const InstructionCount found = find_instruction(kernel, instruction);
    return CodeSearch{.instruction = instruction, .where = found.where, .found = found.count};
  };
}

std::optional<Limit> cycle_limit(const Device& device, Pipe pipe, std::optional<double> core_hz) {
  const CudaProperties& gpu = as_cuda(device).properties();
  const auto per_cycle = flops_per_cycle(gpu.major, gpu.minor, pipe);
  if (!per_cycle || !core_hz) return std::nullopt;
  return Limit{.value = gpu.sm_count * *per_cycle * *core_hz,
               .basis = fmt::format("{} SMs x {:.0f} FLOP/cycle x {:.0f} MHz measured", gpu.sm_count, *per_cycle,
                                    *core_hz * 1e-6)};
}

std::optional<Limit> port_limit(const Device& device, double bytes_per_cycle, std::optional<double> core_hz) {
  if (!core_hz) return std::nullopt;
  const int sms = as_cuda(device).properties().sm_count;
  return Limit{
      .value = sms * bytes_per_cycle * *core_hz,
      .basis = fmt::format("{} SMs x {:g} byte/cycle x {:.0f} MHz measured", sms, bytes_per_cycle, *core_hz * 1e-6)};
}

std::optional<Limit> nvlink_limit(const Device& device, int directions) {
  const Nvml* const nvml = as_cuda(device).nvml();
  const auto links = nvml != nullptr ? nvml->nvlinks() : std::nullopt;
  if (!links || links->links == 0 || links->bytes_per_s <= 0) return std::nullopt;
  return Limit{.value = directions * links->links * links->bytes_per_s,
               .basis = fmt::format("{}{} links x {:.2f} GB/s", directions == 2 ? "2 directions x " : "", links->links,
                                    links->bytes_per_s * 1e-9)};
}

}  // namespace roofline
