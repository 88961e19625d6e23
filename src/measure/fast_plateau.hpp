// The fast plateau of a case that was timed in rounds: its time without slowdowns. On a CPU noise only slows, so
// this is what the machine can do; the median is what it did. Pure; docs/method.md has the evidence.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "model/ceiling.hpp"

namespace roofline {

/// The samples of one visit to a case.
struct Round {
  std::vector<double> seconds;             ///< per launch, in the order taken
  std::vector<double> clock_hz;            ///< one a sample, or empty
  std::vector<double> work_clock_hz = {};  ///< the same among the kernel's instructions
};

struct FastPlateau {
  /// Seconds per launch: the tenth percentile of the samples of those rounds that agree. NaN without samples. No
  /// sample is dropped from `median_s`.
  double seconds = std::numeric_limits<double>::quiet_NaN();
  Interval ci95;  /// exact binomial interval of that percentile; n is reduced for autocorrelation
  double median_s = std::numeric_limits<double>::quiet_NaN();  ///< median of the medians of all rounds
  std::int64_t rounds = 0;                                     ///< that have samples
  std::int64_t agreeing = 0;       ///< rounds whose own fastest tenth is within 1 % of that of the fastest round
  std::int64_t slowed = 0;         ///< rounds that are more than 3 % slower than the fastest
  std::int64_t samples = 0;        ///< of all rounds
  std::int64_t support = 0;        ///< samples within 1 % of `seconds`, or faster
  std::optional<double> clock_hz;  ///< core clock that a tenth of the support is above: that of `seconds`
  /// Among the kernel's instructions: median cycles of the support over `seconds`. A sample's clock is that of its own
  /// time, however the clock changes between rounds.
  std::optional<double> work_clock_hz;

  /// Two rounds agree, ten samples support the value, and its interval is within 1 %.
  bool supported() const;

  /// The probability that every round was slowed, for that share of slowed rounds.
  double chance_of_missing(double slowed_share) const;

  /// Supported in at least three rounds, with a probability of less than 0.1 % that all were slowed alike; or, in any
  /// number of rounds, within 1 % of `least_s`, the minimum time of the hardware at that clock, with ten supporting
  /// samples: no round can be faster. NaN if that time is unknown.
  bool reached(double slowed_share, double least_s = std::numeric_limits<double>::quiet_NaN()) const;
  bool at_limit(double least_s) const;
};

FastPlateau fast_plateau(std::span<const Round> rounds);

/// The share of time in which a machine is slowed, learnt from all cases with the same causes.
class Slowdowns {
 public:
  void add(const FastPlateau& plateau);
  /// Upper bound of the share of slowed rounds: two standard errors above the observed one. 0 while none was
  /// slowed.
  double slowed_share() const;

 private:
  std::int64_t rounds_ = 0;
  std::int64_t slowed_ = 0;
};

}  // namespace roofline
