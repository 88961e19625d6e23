// The fast plateau of a case that was timed in rounds: what it takes where nothing else slows it. On a CPU noise only
// slows, so that is what the machine can do; the median beside it is what the machine did. Pure; docs/method.md has the
// evidence.
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
  std::vector<double> seconds;   ///< per launch, in the order taken
  std::vector<double> clock_hz;  ///< one a sample, or empty
};

struct FastPlateau {
  /// Seconds per launch: the time that a tenth of the samples stay below, in those rounds that agree about it. Of all
  /// samples taken, none is dropped from `median_s`. NaN without samples.
  double seconds = std::numeric_limits<double>::quiet_NaN();
  Interval ci95;  ///< exact binomial interval of that tenth; n is shrunk for how samples below it follow one another
  double median_s = std::numeric_limits<double>::quiet_NaN();  ///< median of the medians of all rounds
  std::int64_t rounds = 0;                                     ///< that have samples
  std::int64_t agreeing = 0;       ///< rounds whose own fastest tenth is within 1 % of that of the fastest round
  std::int64_t slowed = 0;         ///< rounds that are more than 3 % slower than the fastest
  std::int64_t samples = 0;        ///< of all rounds
  std::int64_t support = 0;        ///< samples within 1 % of `seconds`, or faster
  std::optional<double> clock_hz;  ///< core clock that a tenth of the support is above: that of `seconds`

  /// Two rounds agree, ten samples stand behind the value, and its interval lies within 1 %: no lucky reading.
  bool supported() const;

  /// The chance that every round was slowed and none has seen the plateau, where that is the share of slowed rounds.
  double chance_of_missing(double slowed_share) const;

  /// Supported in at least three rounds, with a chance of less than 0.1 % that all of them were slowed alike; or within
  /// 1 % of `least_s`, the least that the hardware could take at that clock, with ten samples behind it: whatever
  /// slowed the other rounds, there was no more to be seen. NaN where no such time is known.
  bool reached(double slowed_share, double least_s = std::numeric_limits<double>::quiet_NaN()) const;
  bool at_limit(double least_s) const;
};

FastPlateau fast_plateau(std::span<const Round> rounds);

/// How much of the time a machine is disturbed, learnt from all cases that are slowed by the same things.
class Slowdowns {
 public:
  void add(const FastPlateau& plateau);
  /// The share of slowed rounds, at the most: two standard errors above what was seen. 0 while none was.
  double slowed_share() const;

 private:
  std::int64_t rounds_ = 0;
  std::int64_t slowed_ = 0;
};

}  // namespace roofline
