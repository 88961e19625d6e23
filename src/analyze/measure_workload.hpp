// One workload → one row, on an open device: prepare, verify, sample. Knows no machine and no roofs.
#pragma once

#include <functional>

#include "config/suite.hpp"
#include "device/device.hpp"
#include "measure/sampler.hpp"
#include "report/report.hpp"

namespace roofline {

/// A row with everything that is known before a workload has run: names, work model, the suite's reason to skip.
Point planned_point(const SuiteEntry& entry, DeviceKind device);

/// Runs it. Every error becomes a failed row, except PoisonedDevice, which is thrown on: the device is lost.
Point measure_workload(const SuiteEntry& entry, Device& device, const SamplerOptions& sampler, bool raw,
                       const std::function<bool()>& cancelled);

}  // namespace roofline
