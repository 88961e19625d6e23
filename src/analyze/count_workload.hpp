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

/// Prepares the workload, runs it once unseen and once between the marks that Device::run_profiled sets. Returns how
/// many kernels a launch consists of (0 on a CPU). Throws Error.
std::int64_t run_workload_profiled(const SuiteEntry& entry, Device& device);

}  // namespace roofline
