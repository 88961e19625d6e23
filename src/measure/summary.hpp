// The statistics that a sampled time is reported with. Plain data.
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
  converged,     ///< the interval of the median is as narrow as was asked for
  time_limit,    ///< the time for this kernel was used up first
  sample_limit,  ///< so many samples, and still not narrow enough
  cancelled,     ///< the user ended it
  bad_reading,   ///< the timer gave readings that are no durations (zero, negative, NaN)
};
std::string_view to_string(StopReason reason);
std::optional<StopReason> parse_stop_reason(std::string_view text);

/// Below this many samples there is no 95 % interval of a median (2 · 2^-5 > 5 %).
constexpr std::int64_t kFewestForInterval = 6;

/// Seconds per launch, summed up. Every sample taken after settling is in it; none is ever dropped.
/// The times are NaN when there is no sample, the interval when there are fewer than 6 effective
/// ones, unless all samples lie within 0.25 % of each other (MedianEstimate::quiet in statistics.hpp).
struct Summary {
  double median = 0;
  Interval ci95;  ///< exact binomial interval of the median, with n shrunk to `effective_samples`
  double min = 0, q05 = 0, q25 = 0, q75 = 0, q95 = 0, max = 0;
  std::int64_t samples = 0;
  double effective_samples = 0;  ///< n(1-r)/(1+r), at most n
  double autocorrelation = 0;    ///< r: lag-1 autocorrelation of the samples
  std::int64_t launches_per_sample = 1;
  double warm_up_s = 0;   ///< wall time spent settling
  bool drifting = false;  ///< settling reached its cap before the windows agreed, or the samples themselves drift
  StopReason stop = StopReason::converged;
  std::optional<double> clock_hz;  ///< median core clock over the samples
};

/// The statistics of seconds per launch, in the order taken: all fields that follow from the series alone.
Summary summarize(std::span<const double> seconds);

}  // namespace roofline
