// How long and how tightly a probe is sampled at each step of its measurement. Figures only.
#pragma once

#include <optional>
#include <span>

#include "measure/sampler.hpp"
#include "op/probe.hpp"

namespace roofline {

/// What the user chose about the effort of a calibration.
struct Effort {
  bool quick = false;  ///< fewer variants, shorter sampling; no references, no sweeps, nothing sustained
  /// About how long a probe is kept under load for its sustained ceiling: until it has settled, but half of it at
  /// most, and then sampled for half of it at least. 0: none are measured.
  double sustain_s = 2;
  /// Wall time for a whole calibration in rounds (CPU): all of it is used while plateaus still rise, a third of it at
  /// least. Nothing: default_time_s, and as much more as the first round takes.
  std::optional<double> time_s = {};
};

/// What these probes are given where the user has not said: some 2 s each, half a second with --quick; 2 s at least and
/// 60 s at most.
double default_time_s(const Effort& effort, std::span<const Probe* const> probes);

/// To rank variants that differ by more than a percent.
SamplerOptions search_options();
/// Ceilings are divided by, so they are sampled longer and tighter than points.
SamplerOptions burst_options(const Effort& effort, const Probe& probe);
/// For probes that rest before each sample: no settling, and as few launches as the timer resolves.
SamplerOptions rested(SamplerOptions options);
/// Doubling needs no tight interval: it is judged against 2 %.
SamplerOptions doubling_options(const Effort& effort, const Probe& probe);
/// Settles until clock and time hold still, half of the time at most; samples so long that nearly all is load.
SamplerOptions sustained_options(const Effort& effort, const Probe& probe);
/// One visit to a case in a round, with StopAtLeast.
SamplerOptions visit_options(const Effort& effort);
/// One point of a sweep.
SamplerOptions sweep_options();

}  // namespace roofline
