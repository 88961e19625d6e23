// One workload → its outcome, on an open device: prepare, verify, sample. Independent of machine and roofs.
#pragma once

#include <functional>

#include "config/suite.hpp"
#include "device/device.hpp"
#include "measure/sampler.hpp"
#include "report/report.hpp"

namespace roofline {

/// Runs an entry without a reason to skip. Every error becomes a failed row, except PoisonedDevice, which is
/// propagated because the device is lost.
Outcome measure_workload(const SuiteEntry& entry, Device& device, const SamplerOptions& sampler, bool raw,
                         const std::function<bool()>& cancelled);

}  // namespace roofline
