// How a streaming kernel's work is cut into one wave of stretches (stretches.hpp), and the memory in which the pieces
// of a task meet.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/handles.hpp"
#include "kernels/blocks/cuda/element.cuh"
#include "kernels/blocks/stretches.hpp"

namespace roofline {

struct StretchPlan {
  Stretches stretches;
  float* parts;    ///< [tasks, most pieces, floats of a task's part]
  unsigned* done;  ///< [tasks], zero between launches
};

/// A plan, and what it points to: to be kept for as long as kernels use it.
struct PlannedStretches {
  StretchPlan plan;
  std::shared_ptr<const std::pair<DeviceMemory, DeviceMemory>> memory;
};

/// `tasks` of `units` each for `blocks` blocks, or for fewer where a block would have less than `least` units. A
/// task's part is `part` floats.
inline PlannedStretches plan_stretches(std::int64_t tasks, std::int64_t units, std::int64_t blocks, std::int64_t least,
                                       std::int64_t part, cudaStream_t stream) {
  const auto stretches = Stretches::cut(tasks, units, std::min(blocks, ceil_div(tasks * units, least)));
  const auto floats = static_cast<std::size_t>(tasks * stretches.most_pieces() * part);
  const auto counters = static_cast<std::size_t>(tasks) * sizeof(unsigned);
  auto memory = std::make_shared<const std::pair<DeviceMemory, DeviceMemory>>(
      make_device_memory(floats * sizeof(float)), make_device_memory(counters));
  check(cudaMemsetAsync(memory->second.get(), 0, counters, stream), "clearing a streaming kernel's counters");
  const StretchPlan plan{stretches, static_cast<float*>(memory->first.get()),
                         static_cast<unsigned*>(memory->second.get())};
  return {plan, std::move(memory)};
}

/// Blocks of a kernel that the GPU runs at once.
template <typename Kernel>
std::int64_t blocks_a_wave(const CudaDevice& device, Kernel* kernel, int threads, std::size_t shared_bytes = 0) {
  int per_sm = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, threads, shared_bytes),
        "asking for a kernel's occupancy");
  return std::int64_t{per_sm} * device.properties().sm_count;
}

}  // namespace roofline
