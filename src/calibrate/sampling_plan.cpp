// Sampling parameters, each with its reason.
#include "calibrate/sampling_plan.hpp"

#include <algorithm>

namespace roofline {

double default_time_s(const Effort& effort, std::span<const Probe* const> probes) {
  constexpr double kLeast = 2;  // a single probe under load, including opening the device
  constexpr double kMost = 60;
  double time_s = 0;
  for (const Probe* probe : probes)
    time_s += effort.quick ? 0.5 : probe->sweep ? 10 : probe->sustained ? 2 + effort.sustain_s : 2;
  return std::clamp(time_s, kLeast, kMost);
}

SamplerOptions search_options() {
  return {.warm_up_s = 0.01, .min_samples = 7, .min_time_s = 0.005, .max_time_s = 0.06, .relative_half_width = 0.01};
}

// Quick: a few hundredths of a second give a median within half a per cent on an idle machine.
SamplerOptions burst_options(const Effort& effort, const Probe& probe) {
  const bool reference = probe.role == Role::reference;
  SamplerOptions options;
  options.warm_up_s = effort.quick ? 0.02 : 0.1;
  options.min_time_s = effort.quick ? 0.02 : 0.1;
  // A pipe that has not converged by then is limited by its limiter or the host; shared memory may still converge.
  const double patience_s = probe.kind == CeilingKind::bandwidth ? 1.0 : 0.6;
  options.max_time_s = effort.quick ? 0.15 : reference ? 0.4 : patience_s;
  options.relative_half_width = effort.quick || reference ? 0.005 : 0.002;
  return options;
}

// A tensor pipe's time scatters by 0.6 % at a constant clock reading (docs/method.md), so no narrower interval.
SamplerOptions rested(SamplerOptions options) {
  options.warm_up_s = 0;
  options.min_time_s = 0;
  options.max_time_s = std::min(options.max_time_s, 0.5);
  options.min_sample_s = 100e-6;
  options.relative_half_width = std::max(options.relative_half_width, 0.0075);
  return options;
}

SamplerOptions doubling_options(const Effort& effort, const Probe& probe) {
  SamplerOptions options = burst_options(effort, probe);
  options.warm_up_s = 0.02;
  options.min_samples = 16;
  options.min_time_s = 0.02;
  options.max_time_s = effort.quick ? 0.1 : 0.3;
  options.relative_half_width = 0.005;
  return options;
}

SamplerOptions sustained_options(const Effort& effort, const Probe& probe) {
  // For memory only the energy is needed in addition, and no limiter acts on it: half the time suffices.
  const double sustain_s = probe.kind == CeilingKind::compute ? effort.sustain_s : effort.sustain_s / 2;
  // Windows of 0.15 s, two agreements: at least 0.45 s, by which time a power limiter has acted.
  return {.min_sample_s = std::min(0.03, sustain_s / 40),
          .warm_up = WarmUpMode::stable,
          .warm_up_s = std::min(0.15, sustain_s / 8),
          .max_warm_up_s = sustain_s / 2,
          .min_samples = 16,
          .min_time_s = sustain_s / 2,
          .max_time_s = 0.6 * sustain_s,
          .relative_half_width = 0.005};
}

// A time slice of another program lasts 1 to 10 ms, so every visit of 40 ms contains free time. Longer visits would
// give fewer rounds, and only rounds detect slowdowns of seconds. If launches wait for each other's time slices, 40
// ms hold three of them, of which a tenth is not meaningful: up to a quarter of a second may be spent on that.
SamplerOptions visit_options(const Effort& effort) {
  return {.warm_up_s = 0.01,
          .min_samples = 24,
          .min_time_s = effort.quick ? 0.02 : 0.04,
          .max_time_s = effort.quick ? 0.1 : 0.25};
}

SamplerOptions sweep_options() {
  return {.warm_up_s = 0.002, .min_samples = 7, .min_time_s = 0.005, .max_time_s = 0.03, .relative_half_width = 0.01};
}

}  // namespace roofline
