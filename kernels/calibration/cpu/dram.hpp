// The plan that every probe of the CPU's DRAM shares, so that references and curves can be held against the roof.
#pragma once

#include <optional>
#include <string>

#include "device/cpu/cpu_device.hpp"
#include "kernels/calibration/cpu/stream_set.hpp"

namespace roofline {

/// Sets that exceed the caches four times in all, for so many threads at the device's best level, with prefetched loads
/// and regular stores unless the caller changes it.
StreamPlan dram_plan(CpuDevice& cpu, int threads, Pattern pattern, double scale);

/// Why such sets can't be had here, or nothing.
std::optional<std::string> no_room_for_dram(const CpuDevice& cpu, Pattern pattern);

}  // namespace roofline
