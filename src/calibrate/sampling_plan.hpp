// Duration and precision of each step of a probe's measurement.
#pragma once

#include <optional>
#include <span>

#include "measure/sampler.hpp"
#include "op/probe.hpp"

namespace roofline {

/// The effort of a calibration, chosen by the user.
struct Effort {
  bool quick = false;  ///< fewer variants, shorter sampling; no references, no sweeps, nothing sustained
  /// Approximate time of a probe under load for its sustained ceiling: warm-up for at most half of it, then
  /// sampling for at least half. 0: no sustained ceilings.
  double sustain_s = 2;
  /// Wall time for a whole calibration in rounds (CPU): all of it is used while plateaus still rise, a third of it at
  /// least. Nothing: default_time_s, and as much more as the first round takes.
  std::optional<double> time_s = {};
};

/// Default time of these probes in seconds: about 2 s each, half a second with --quick; 2 s to 60 s in total.
double default_time_s(const Effort& effort, std::span<const Probe* const> probes);

/// For ranking variants that differ by more than a per cent.
SamplerOptions search_options();
/// Ceilings are divisors, so they are sampled longer and more precisely than points.
SamplerOptions burst_options(const Effort& effort, const Probe& probe);
/// For probes with a pause before each sample: no warm-up, and as few launches as the timer resolves.
SamplerOptions rested(SamplerOptions options);
/// The doubling check needs no narrow interval: its limit is 2 %.
SamplerOptions doubling_options(const Effort& effort, const Probe& probe);
/// Warms up until clock and time are stable, for at most half of the time; samples are so long that nearly all is
/// load.
SamplerOptions sustained_options(const Effort& effort, const Probe& probe);
/// One visit to a case in a round, with StopAtLeast.
SamplerOptions visit_options(const Effort& effort);
/// One point of a sweep.
SamplerOptions sweep_options();

}  // namespace roofline
