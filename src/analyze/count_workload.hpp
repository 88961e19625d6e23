// Workloads run for their hardware counters, or for an outside profiler: prepared, never timed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "config/suite.hpp"
#include "device/counter_reader.hpp"
#include "device/device.hpp"

namespace roofline {

/// Prepares the workloads, all of them at once, and counts one launch of each. Throws Error.
std::vector<Counters> count_workloads(std::span<const SuiteEntry* const> entries, Device& device,
                                      CounterReader& reader);

/// What run_workload_profiled() launches on a CPU.
inline constexpr int kProfiledLaunches = 2;

/// Prepares the workload, runs it once outside and once between the marks of Device::run_profiled. Returns the
/// number of kernels of a launch (0 on a CPU). Throws Error.
std::int64_t run_workload_profiled(const SuiteEntry& entry, Device& device);

}  // namespace roofline
