// Order statistics, rank autocorrelation and the exact interval of the median. See statistics.hpp.
#include "measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include "measure/repeated_ratio.hpp"
#include "measure/summary.hpp"
#include "model/nan.hpp"

namespace roofline {
namespace {

constexpr std::size_t kFewest = kFewestForInterval;  // nor is there a correlation worth the name
constexpr double kQuietRange = 0.0025;

struct Placed {
  double value;
  std::size_t position;
};

/// The series in ascending order, each value with its index in time: one sort serves quantiles and ranks.
std::vector<Placed> place(std::span<const double> series) {
  std::vector<Placed> placed(series.size());
  for (std::size_t i = 0; i < series.size(); ++i) placed[i] = {series[i], i};
  std::sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) { return a.value < b.value; });
  return placed;
}

/// Ranks in order of time, minus their mean; equal values share the mean of their ranks.
std::vector<double> centred_ranks(const std::vector<Placed>& placed) {
  const std::size_t n = placed.size();
  const double mean = (static_cast<double>(n) - 1) / 2;
  std::vector<double> ranks(n);
  for (std::size_t first = 0; first < n;) {
    std::size_t last = first;
    while (last + 1 < n && placed[last + 1].value == placed[first].value) ++last;
    const double shared = static_cast<double>(first + last) / 2 - mean;
    for (std::size_t i = first; i <= last; ++i) ranks[placed[i].position] = shared;
    first = last + 1;
  }
  return ranks;
}

double rank_autocorrelation(const std::vector<Placed>& placed) {
  const std::size_t n = placed.size();
  if (n < kFewest) return 0;
  const std::vector<double> ranks = centred_ranks(placed);
  double variance = 0;
  double covariance = 0;
  for (std::size_t i = 0; i < n; ++i) variance += ranks[i] * ranks[i];
  for (std::size_t i = 0; i + 1 < n; ++i) covariance += ranks[i] * ranks[i + 1];
  if (variance == 0) return 0;
  const double gaussian = 2 * std::sin(std::numbers::pi / 6 * covariance / variance);
  // An estimate from n samples about their own mean is low by (1+4r)/n (Marriott and Pope 1954).
  const double count = static_cast<double>(n);
  return std::clamp((count * gaussian + 1) / (count - 4), -1.0, 1.0);
}

std::vector<double> values_of(const std::vector<Placed>& placed) {
  std::vector<double> values(placed.size());
  std::transform(placed.begin(), placed.end(), values.begin(), [](const Placed& p) { return p.value; });
  return values;
}

/// The interval of the median of a part of the series after removing its slope.
Interval steady_interval(std::span<const double> stretch) {
  const std::size_t half = stretch.size() / 2;
  const double early = median({stretch.begin(), stretch.begin() + static_cast<std::ptrdiff_t>(half)});
  const double late = median({stretch.end() - static_cast<std::ptrdiff_t>(half), stretch.end()});
  const double slope = (late - early) / static_cast<double>(stretch.size() - half);
  const double middle = (static_cast<double>(stretch.size()) - 1) / 2;
  std::vector<double> level(stretch.size());
  for (std::size_t i = 0; i < level.size(); ++i) level[i] = stretch[i] - slope * (static_cast<double>(i) - middle);
  const MedianEstimate estimate = estimate_median(level);
  if (!std::isnan(estimate.ci95.low)) return estimate.ci95;
  const auto [low, high] = std::minmax_element(level.begin(), level.end());
  return {*low, *high};
}

}  // namespace

double quantile(std::span<const double> ascending, double p) {
  if (ascending.empty()) return kNaN;
  const double place = std::clamp(p, 0.0, 1.0) * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double rest = place - static_cast<double>(below);
  if (rest == 0) return ascending[below];
  return ascending[below] + rest * (ascending[below + 1] - ascending[below]);
}

std::optional<double> clock_of_cycles(std::span<const double> seconds, std::span<const double> clock_hz, double of_s) {
  if (seconds.empty() || clock_hz.size() != seconds.size() || !(of_s > 0)) return std::nullopt;
  std::vector<double> cycles(seconds.size());
  std::transform(seconds.begin(), seconds.end(), clock_hz.begin(), cycles.begin(), std::multiplies<>());
  return median(std::move(cycles)) / of_s;
}

double median(std::vector<double> values) {
  if (values.empty()) return kNaN;
  const auto upper = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), upper, values.end());
  if (values.size() % 2 == 1) return *upper;
  return (*std::max_element(values.begin(), upper) + *upper) / 2;
}

double lag1_autocorrelation(std::span<const double> series) { return rank_autocorrelation(place(series)); }

double effective_samples(std::int64_t n, double autocorrelation) {
  const double count = static_cast<double>(n);
  if (autocorrelation <= 0) return count;
  return count * (1 - autocorrelation) / (1 + autocorrelation);
}

std::optional<std::pair<std::int64_t, std::int64_t>> quantile_ranks(std::int64_t n, double p, double confidence) {
  if (n < 1) return std::nullopt;
  const double count = static_cast<double>(n);
  const double least = (1 - confidence) / 2;
  // Values 20 standard deviations below the middle have a probability of less than 1e-80.
  const double deviation = std::sqrt(count * p * (1 - p));
  const auto first = std::max<std::int64_t>(0, static_cast<std::int64_t>(count * p - 20 * deviation));
  const double log_all = std::lgamma(count + 1);
  double below = 0;  // P(Binomial < k)
  std::int64_t low = first;
  for (std::int64_t k = first; k <= n; ++k) {
    if (below <= least) low = k;
    if (1 - below <= least) return low < 1 ? std::nullopt : std::optional(std::pair{low, k});
    const double successes = static_cast<double>(k);
    const double failures = count - successes;
    below += std::exp(log_all - std::lgamma(successes + 1) - std::lgamma(failures + 1) + successes * std::log(p) +
                      failures * std::log1p(-p));
  }
  return std::nullopt;
}

Interval quantile_interval(std::span<const double> ascending, double p, double effective, double confidence) {
  const auto n = static_cast<std::int64_t>(ascending.size());
  if (!(effective >= 1) || n == 0) return {};
  const std::int64_t worth = std::min(n, static_cast<std::int64_t>(effective));
  const auto ranks = quantile_ranks(worth, p, confidence);
  if (!ranks) return {};
  const std::int64_t low = std::max<std::int64_t>(1, ranks->first * (n + 1) / (worth + 1));
  const std::int64_t high = std::min(n, (ranks->second * (n + 1) + worth) / (worth + 1));
  return {ascending[static_cast<std::size_t>(low - 1)], ascending[static_cast<std::size_t>(high - 1)]};
}

Interval median_interval(std::span<const double> ascending, double effective, double confidence) {
  return quantile_interval(ascending, 0.5, effective, confidence);
}

MedianEstimate estimate_median(std::span<const double> series) {
  const std::vector<Placed> placed = place(series);
  const std::vector<double> ascending = values_of(placed);
  MedianEstimate estimate;
  estimate.median = quantile(ascending, 0.5);
  estimate.autocorrelation = rank_autocorrelation(placed);
  estimate.effective_samples = effective_samples(static_cast<std::int64_t>(series.size()), estimate.autocorrelation);
  estimate.ci95 = median_interval(ascending, estimate.effective_samples);
  if (series.size() < kFewest) return estimate;
  const double range = ascending.back() - ascending.front();
  estimate.quiet = range <= kQuietRange * estimate.median;
  if (estimate.quiet && std::isnan(estimate.ci95.low)) {
    estimate.ci95 = {ascending.front() - range, ascending.back() + range};
  }
  return estimate;
}

Interval mean_interval(std::span<const double> series) {
  const auto n = static_cast<double>(series.size());
  const double effective = effective_samples(static_cast<std::int64_t>(series.size()), lag1_autocorrelation(series));
  if (!(effective >= static_cast<double>(kFewest))) return {};
  const double mean = std::accumulate(series.begin(), series.end(), 0.0) / n;
  double squares = 0;
  for (const double value : series) squares += (value - mean) * (value - mean);
  const double error = std::sqrt(squares / (n - 1) / effective);
  const double half = student_t(0.95, static_cast<std::int64_t>(effective) - 1) * error / mean;
  return {mean * std::exp(-half), mean * std::exp(half)};
}

bool drifts(std::span<const double> series, double threshold) {
  const std::size_t third = series.size() / 3;
  if (third < kFewest) return false;
  const std::span<const double> early = series.first(third);
  const std::span<const double> late = series.last(third);
  const double before = median({early.begin(), early.end()});
  const double after = median({late.begin(), late.end()});
  if (std::abs(after - before) <= threshold * std::min(before, after)) return false;
  const Interval first = steady_interval(early);
  const Interval last = steady_interval(late);
  return first.high < last.low || last.high < first.low;
}

}  // namespace roofline
