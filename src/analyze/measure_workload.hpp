// One workload → its outcome, on an open device: prepare, verify, sample. Knows no machine and no roofs.
#pragma once

#include <functional>

#include "config/suite.hpp"
#include "device/device.hpp"
#include "measure/sampler.hpp"
#include "report/report.hpp"

namespace roofline {

/// Runs an entry that has no reason to skip. Every error becomes a failed row, except PoisonedDevice, which is
/// thrown on: the device is lost.
Outcome measure_workload(const SuiteEntry& entry, Device& device, const SamplerOptions& sampler, bool raw,
                         const std::function<bool()>& cancelled);

}  // namespace roofline
