// Times one case of a probe on its device: the bridge between op/probe.hpp and the sampler.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "device/device.hpp"
#include "measure/sampler.hpp"
#include "measure/stop_rule.hpp"
#include "op/probe.hpp"

namespace roofline {

/// A device, the probe that runs on it, and the user's cancellation.
struct ProbeBench {
  const Probe& probe;
  Device& device;
  const std::function<bool()>& cancelled;
};

/// Runs and verifies the case once: the reason if the result is wrong, or std::nullopt.
std::optional<std::string> first_run(const ProbeBench& bench, const ProbeCase& probe_case);

/// Samples the case, with the probe's pause before each sample if it has one.
Samples sample_case(const ProbeBench& bench, const ProbeCase& probe_case, const SamplerOptions& options,
                    StopRule& rule);
/// The same until the median is as precise as the options require, summarised.
Summary time_case(const ProbeBench& bench, const ProbeCase& probe_case, const SamplerOptions& options);

/// The same under load without pauses, with the device's sensor readings.
struct LoadedTime {
  Summary time;
  Power power;
  double sampled_s = 0;  /// wall time of sampling, after the warm-up
  double shift = 0;      ///< of the median from the first half of the samples to the second, as a fraction
};
LoadedTime time_under_load(const ProbeBench& bench, const ProbeCase& probe_case, const SamplerOptions& options);

/// The same concurrently with other devices, until `rule` ends it, with the probe's pauses unless it is
/// `sustained`. `warmed_up` is called before the first sample, and may wait for the others.
LoadedTime time_concurrently(const ProbeBench& bench, const ProbeCase& probe_case, const SamplerOptions& options,
                             StopRule& rule, Regime regime, const std::function<void()>& warmed_up);

/// Mean power with the device open and idle, over half a second; std::nullopt without an energy counter.
std::optional<double> measure_idle_watts(Device& device);

}  // namespace roofline
