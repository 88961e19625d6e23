// The plan that every probe of the CPU's DRAM shares, so that references and curves can be held against the roof.
#pragma once

#include "device/cpu/cpu_device.hpp"
#include "kernels/calibration/cpu/stream_set.hpp"

namespace roofline {

/// Sets that exceed the last-level cache four times in all, for so many threads at the device's best level: prefetched
/// reads, unless the caller changes it.
StreamPlan dram_plan(CpuDevice& cpu, int threads, double scale);

}  // namespace roofline
