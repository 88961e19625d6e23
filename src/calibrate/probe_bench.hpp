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

/// A device, the probe that runs on it, and how the user stops it.
struct ProbeBench {
  const Probe& probe;
  Device& device;
  const std::function<bool()>& cancelled;
};

/// Runs the case once and has it verified: the reason why the result is wrong, or nothing.
std::optional<std::string> first_run(const ProbeBench& bench, const ProbeCase& probe_case);

/// Samples the case, with the probe's rests before each sample where it has any.
Samples sample_case(const ProbeBench& bench, const ProbeCase& probe_case, const SamplerOptions& options,
                    StopRule& rule);
/// The same until the median is known as well as the options ask, summed up.
Summary time_case(const ProbeBench& bench, const ProbeCase& probe_case, const SamplerOptions& options);

/// The same under load without rests, and what the device's sensors said meanwhile.
struct LoadedTime {
  Summary time;
  Power power;
  double sampled_s = 0;  ///< wall time of sampling, after settling
  double shift = 0;      ///< of the median from the first half of the samples to the second, as a fraction
};
LoadedTime time_under_load(const ProbeBench& bench, const ProbeCase& probe_case, const SamplerOptions& options);

/// The same beside others who do likewise: until `rule` says so, with the probe's rests unless it is `sustained`.
/// `settled` is called before the first sample, and may wait for the others.
LoadedTime time_beside_others(const ProbeBench& bench, const ProbeCase& probe_case, const SamplerOptions& options,
                              StopRule& rule, Regime regime, const std::function<void()>& warmed_up);

/// Mean power with the device open and nothing running, over half a second; nothing where it has no energy counter.
std::optional<double> measure_idle_watts(Device& device);

}  // namespace roofline
