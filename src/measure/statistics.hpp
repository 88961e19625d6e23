// Statistics of a series of timings: pure functions, independent of clocks and devices. The evidence for each choice
// is in docs/method.md, and tests/unit/sampler_evidence_test.cpp recomputes it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/ceiling.hpp"

namespace roofline {

/// The quantile `p` in [0, 1] of ascending values, linear between order statistics; NaN for none.
double quantile(std::span<const double> ascending, double p);

/// The middle value (the mean of the two middle ones); NaN for none.
double median(std::vector<double> values);

/// The middle value; for an even number, the upper of the middle two; `none` if empty.
template <typename Value>
Value upper_median(std::vector<Value> values, Value none = {}) {
  if (values.empty()) return none;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The clock at which `of_s` seconds equal the median cycles of samples with these seconds and clocks. std::nullopt
/// without samples, or if some lack a clock. Uses the median because an interruption of a clock reading hardly moves
/// it.
std::optional<double> clock_of_cycles(std::span<const double> seconds, std::span<const double> clock_hz, double of_s);

/// Lag-1 autocorrelation of a series from ranks: Spearman's coefficient of neighbours, converted to the coefficient
/// of a Gaussian series by 2 sin(pi/6 · rho_s) and corrected for its bias in short series. From ranks, because one
/// spike of ×3 outweighs a thousand samples in the usual sum of squares and hides their correlation. In [-1, 1]; 0
/// for fewer than 6 values and for constant series.
double lag1_autocorrelation(std::span<const double> series);

/// Effective sample size n(1-r)/(1+r), at most n.
double effective_samples(std::int64_t n, double autocorrelation);

/// The 1-based ranks (l, u) of the order statistics of n independent samples that enclose the quantile `p` with at
/// least that confidence, for any distribution: the largest l with P(Binomial(n, p) < l) <= (1-confidence)/2, and
/// the smallest u with P(Binomial(n, p) >= u) <= (1-confidence)/2. std::nullopt if n is too small for one of them (at
/// 95 % below 6 for the median, below 36 for the tenth percentile).
std::optional<std::pair<std::int64_t, std::int64_t>> quantile_ranks(std::int64_t n, double p, double confidence);

/// The interval of the quantile `p` of ascending values with the effective sample size `effective`. The ranks for m
/// = floor(effective) samples are scaled to the full series, l(n+1)/(m+1), and rounded outwards: the l-th of m
/// order statistics estimates the quantile l/(m+1), and the full series is the best place to read that quantile.
/// For m = n it is the exact interval. NaN bounds if m is too small.
Interval quantile_interval(std::span<const double> ascending, double p, double effective, double confidence = 0.95);

/// The same for the median.
Interval median_interval(std::span<const double> ascending, double effective, double confidence = 0.95);

/// The median of a series and its precision.
struct MedianEstimate {
  double median = 0;  ///< NaN for an empty series
  Interval ci95;
  double autocorrelation = 0;
  double effective_samples = 0;
  /// All values are within 0.25 % of each other, so their correlation matters little. If they are too correlated
  /// for an exact interval, it is their range, widened by its own width on both sides (at least 6 values).
  bool quiet = false;
};
MedianEstimate estimate_median(std::span<const double> series);

/// The 95 % interval of the arithmetic mean, in the order taken: Student's t with the effective sample size, on the
/// logarithm, so that it is positive. Few large values widen it: they may be chance. NaN bounds with fewer than 6
/// effective samples.
Interval mean_interval(std::span<const double> series);

/// True if the first and the last third of a series differ: their medians by more than `threshold` (relative), and
/// beyond the 95 % intervals of both. A third's own slope is removed before its interval is computed, because a steady
/// drift would otherwise count as autocorrelation and hide itself. False for fewer than 18 samples.
bool drifts(std::span<const double> series, double threshold = 0.01);

}  // namespace roofline
