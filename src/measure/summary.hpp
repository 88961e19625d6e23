// Statistics of a sampled time. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/ceiling.hpp"

namespace roofline {

/// Why the sampling of one kernel stopped.
enum class StopReason : std::uint8_t {
  converged,     /// the interval of the median is as narrow as requested
  time_limit,    /// the time for this kernel was used up first
  sample_limit,  /// the maximum number of samples, and still not narrow enough
  cancelled,     /// by the user
  bad_reading,   /// the timer returned invalid durations (zero, negative, NaN)
};
std::string_view to_string(StopReason reason);
std::optional<StopReason> parse_stop_reason(std::string_view text);

/// Below this many samples there is no 95 % interval of a median (2 · 2^-5 > 5 %).
constexpr std::int64_t kFewestForInterval = 6;

/// Seconds per launch, summarised. Every sample after the warm-up is included. The times are NaN without samples,
/// the interval with fewer than 6 effective ones, unless all samples are within 0.25 % of each other
/// (MedianEstimate::quiet in statistics.hpp).
struct Summary {
  double median = 0;
  Interval ci95;  /// exact binomial interval of the median, with n reduced to `effective_samples`
  double min = 0, q05 = 0, q25 = 0, q75 = 0, q95 = 0, max = 0;
  std::int64_t samples = 0;
  double effective_samples = 0;  ///< n(1-r)/(1+r), at most n
  double autocorrelation = 0;    ///< r: lag-1 autocorrelation of the samples
  std::int64_t launches_per_sample = 1;
  double warm_up_s = 0;   /// wall time of the warm-up
  bool drifting = false;  /// the warm-up reached its cap before the windows agreed, or the samples drift
  StopReason stop = StopReason::converged;
  std::optional<double> clock_hz;  ///< median core clock over the samples
  /// Clock among the kernel's instructions: the median of the samples' cycles over `median`, as clock and time of a
  /// sample belong together.
  std::optional<double> work_clock_hz = {};
};

/// The statistics of seconds per launch, in the order taken: all fields that follow from the series alone.
Summary summarize(std::span<const double> seconds);

}  // namespace roofline
