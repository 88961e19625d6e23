// The schedule of a streaming kernel (tile_schedule.hpp) with the workspace in which the splits of a tile are reduced.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/handles.hpp"
#include "kernels/blocks/cuda/element.cuh"
#include "kernels/blocks/tile_schedule.hpp"

namespace roofline {

/// A kernel argument: the schedule and its fixup workspace in global memory.
struct SplitPlan {
  TileSchedule schedule;
  float* partials;  ///< [tiles, max_splits, floats of a tile's partial result]
  unsigned* done;   ///< [tiles], arrivals of work units; zero between launches
};

/// A plan and the owner of its memory, which must outlive the launches.
struct OwnedSplitPlan {
  SplitPlan plan;
  std::shared_ptr<const std::pair<DeviceMemory, DeviceMemory>> memory;
};

/// Splits `tiles` of `iterations` each over `blocks` blocks, or fewer, so that a block has `min_iterations` or more on
/// average. A partial result is `partial_floats` floats.
inline OwnedSplitPlan make_split_plan(std::int64_t tiles, std::int64_t iterations, std::int64_t blocks,
                                      std::int64_t min_iterations, std::int64_t partial_floats, cudaStream_t stream) {
  const auto schedule =
      TileSchedule::make(tiles, iterations, std::min(blocks, ceil_div(tiles * iterations, min_iterations)));
  const auto floats = static_cast<std::size_t>(tiles * schedule.max_splits() * partial_floats);
  const auto counters = static_cast<std::size_t>(tiles) * sizeof(unsigned);
  auto memory = std::make_shared<const std::pair<DeviceMemory, DeviceMemory>>(
      make_device_memory(floats * sizeof(float)), make_device_memory(counters));
  check(cudaMemsetAsync(memory->second.get(), 0, counters, stream), "clearing a streaming kernel's counters");
  const SplitPlan plan{schedule, static_cast<float*>(memory->first.get()),
                       static_cast<unsigned*>(memory->second.get())};
  return {plan, std::move(memory)};
}

/// Resident blocks of a kernel on the whole GPU: one wave.
template <typename Kernel>
std::int64_t blocks_per_wave(const CudaDevice& device, Kernel* kernel, int threads, std::size_t shared_bytes = 0) {
  int per_sm = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, threads, shared_bytes),
        "querying a kernel's occupancy");
  return std::int64_t{per_sm} * device.properties().sm_count;
}

}  // namespace roofline
