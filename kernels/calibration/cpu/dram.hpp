// The plan shared by all DRAM probes of the CPU, so that references and curves are comparable with the roof.
#pragma once

#include <optional>
#include <string>

#include "device/cpu/cpu_device.hpp"
#include "kernels/calibration/cpu/stream_set.hpp"

namespace roofline {

/// Sets that exceed the caches four times in total, for that many threads at the device's best level, with
/// prefetched loads and regular stores unless the caller changes it.
StreamPlan dram_plan(CpuDevice& cpu, int threads, Pattern pattern, double scale);

/// Why such sets are not possible here, or std::nullopt.
std::optional<std::string> no_room_for_dram(const CpuDevice& cpu, Pattern pattern);

}  // namespace roofline
