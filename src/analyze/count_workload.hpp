// One workload, run for its hardware counters, or for an outside profiler: prepared, never timed.
#pragma once

#include <cstdint>
#include <functional>

#include "config/suite.hpp"
#include "device/counter_reader.hpp"
#include "device/device.hpp"

namespace roofline {

/// Prepares the workload and counts one launch. Throws Error.
Counters count_workload(const SuiteEntry& entry, Device& device, CounterReader& reader);

/// Prepares the workload, runs it once unseen and once between the marks that Device::run_profiled sets. Throws Error.
void run_workload_profiled(const SuiteEntry& entry, Device& device);

}  // namespace roofline
