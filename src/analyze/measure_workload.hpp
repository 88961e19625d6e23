// One workload → its outcome, on an open device: prepare, verify, sample. Independent of machine and roofs.
#pragma once

#include <functional>
#include <string>

#include "config/suite.hpp"
#include "device/device.hpp"
#include "measure/sampler.hpp"
#include "model/error.hpp"
#include "report/report.hpp"

namespace roofline {

/// The error's message and, in parentheses, what to do.
std::string with_hint(const Error& error);

/// Runs an entry without a reason to skip. Every error becomes a failed row, except PoisonedDevice, which is
/// propagated because the device is lost. `after_sampling` is called with a row that was timed and its bench, which is
/// still ready to run further launches.
Outcome measure_workload(const SuiteEntry& entry, Device& device, const SamplerOptions& sampler, bool raw,
                         const std::function<bool()>& cancelled,
                         const std::function<void(Outcome&, const Bench&)>& after_sampling);

}  // namespace roofline
