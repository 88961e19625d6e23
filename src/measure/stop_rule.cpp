// Stopping rule of the median's interval.
#include "measure/stop_rule.hpp"

#include <algorithm>

#include "measure/statistics.hpp"

namespace roofline {

bool MedianStop::converged(std::span<const double> series) {
  // Each evaluation sorts the series. Evaluating after another tenth limits the total to about 11 sorts of the
  // final series, and reduces the chance of stopping by chance.
  const auto n = static_cast<std::int64_t>(series.size());
  next_look_ = n + std::max<std::int64_t>(1, n / 10);
  const MedianEstimate estimate = estimate_median(series);
  if (estimate.effective_samples < min_effective_ && !estimate.quiet) return false;
  const double room = relative_half_width_ * estimate.median;
  return estimate.median - estimate.ci95.low <= room && estimate.ci95.high - estimate.median <= room;
}

}  // namespace roofline
