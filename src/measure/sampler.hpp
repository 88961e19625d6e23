// The sampler: calibrate → warm up → sample → stop. It is given a function that times a batch and a wall clock, so
// that tests run it on synthetic series.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "measure/summary.hpp"

namespace roofline {

class StopRule;

/// One timed batch of launches.
struct Reading {
  double seconds = 0;              ///< total time of the batch's launches
  std::optional<double> clock_hz;  ///< core clock during the batch, if it could be measured
  std::optional<double> work_clock_hz =
      {};  ///< clock measured among the kernel's own instructions; std::nullopt: not measured
};

/// The sampler's environment.
struct Bench {
  /// Runs that many launches back to back and returns their total time.
  std::function<Reading(std::int64_t launches)> batch;
  /// Monotonic wall time in seconds, from any origin.
  std::function<double()> now;
  /// True once the user has cancelled.
  std::function<bool()> cancelled = [] { return false; };
  /// Called once, after the warm-up and before the first sample.
  std::function<void()> warmed_up = [] {};
  double timer_resolution_s = 1e-6;
  /// Launches per sample are a multiple of this (the number of rotating buffer sets).
  std::int64_t launch_quantum = 1;
};

enum class WarmUpMode : std::uint8_t {
  fixed,  ///< for `warm_up_s` of wall time: burst
  /// until clock and median of adjacent windows of `warm_up_s` agree within 0.5 % twice in a row, at most
  /// `max_warm_up_s`: sustained
  stable,
};

/// The defaults are those of docs/method.md, which gives the evidence for each.
struct SamplerOptions {
  double resolution_multiple = 100;  ///< a sample lasts at least that many timer resolutions
  double min_sample_s = 200e-6;      ///< and at least this
  WarmUpMode warm_up = WarmUpMode::fixed;
  double warm_up_s = 0.3;
  double max_warm_up_s = 3.0;
  std::int64_t min_samples = 32;  /// and, to converge, effective samples
  double min_time_s = 0.05;       ///< sampling goes on at least that long
  double max_time_s = 3.0;        /// and at most that long (without the warm-up),
  /// or, if there are fewer samples than these by then, until there are, but at most three times as long
  std::int64_t least_samples = 1;
  std::int64_t max_samples = 20000;
  double relative_half_width = 0.005;  ///< of the median's 95 % interval
};

struct Samples {
  std::vector<double> seconds;        ///< per launch, in the order taken
  std::vector<double> clock_hz;       /// one per sample, or empty
  std::vector<double> work_clock_hz;  /// one per sample, or empty
  Summary summary;
};

/// Times a kernel. Terminates for any readings: after calibrating (two batches, for a kernel that needs one launch
/// per sample), the warm-up or its cap, max_time_s (three times that for least_samples), and the current batch.
/// Exceptions of the bench propagate.
Samples sample(const Bench& bench, const SamplerOptions& options);

/// The same with a stop rule other than MedianStop, which interprets `relative_half_width` itself.
Samples sample(const Bench& bench, const SamplerOptions& options, StopRule& rule);

}  // namespace roofline
