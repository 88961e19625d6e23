// Lower quartiles in ABBA order.
#include "analyze/compare_runs.hpp"

#include <algorithm>
#include <cmath>

#include "host/host.hpp"
#include "host/interrupt.hpp"
#include "measure/statistics.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

constexpr double kLongComparisonS = 1;  // for enough rounds of longer batches
constexpr std::size_t kEnoughRounds = 20;

constexpr double kBatchS = 300e-6;  // short enough that most batches are not interrupted

}  // namespace

void BatchTimer::verify() {
  if (const Verification result = case_.verify(); !result.passed) throw Error(result.failure);
}

double BatchTimer::time() {
  if (!bench_.batch) {
    bench_ = case_.bench_unverified();
    bench_.batch(1);
    const double once = bench_.batch(1).seconds;
    launches_ = static_cast<std::int64_t>(std::clamp(std::ceil(kBatchS / std::max(once, 1e-8)), 1.0, 1e5));
    bench_.batch(launches_);
  }
  const Reading reading = bench_.batch(launches_);
  launched_ += launches_;
  clock_hz_ = reading.clock_hz;
  return reading.seconds / static_cast<double>(launches_);
}

std::vector<TracedAccess> BatchTimer::accesses(const TraceLimits& limits) {
  if (!bench_.batch) bench_ = case_.bench_unverified();
  bench_.batch(1);
  const std::vector<std::span<std::byte>> tensors = case_.tensors();
  return trace_accesses(tensors, limits, [&] { case_.launch(0); });
}

TypicalTime typical_time(std::vector<double> series) {
  std::sort(series.begin(), series.end());
  const auto n = static_cast<double>(series.size());
  const double p = quantile_ranks(static_cast<std::int64_t>(series.size()), 0.25, 0.95) ? 0.25 : 0.5;
  return {quantile(series, p), quantile_interval(series, p, n)};
}

TimeRatio ratio_of(const TypicalTime& changed, const TypicalTime& base) {
  return {changed.value / base.value, {changed.ci95.low / base.ci95.high, changed.ci95.high / base.ci95.low}};
}

TimeRatio compare_times(const std::function<double()>& base, const std::function<double()>& changed) {
  std::vector<double> a, b;
  const double begin = wall_seconds();
  while (a.size() < kMostRounds && !interrupted()) {
    const double took = wall_seconds() - begin;
    if (a.size() >= kLeastRounds && took > (a.size() < kEnoughRounds ? kLongComparisonS : kComparisonS)) break;
    const bool base_first = a.size() % 2 == 0;
    if (base_first) a.push_back(base());
    b.push_back(changed());
    if (!base_first) a.push_back(base());
  }
  return ratio_of(typical_time(std::move(b)), typical_time(std::move(a)));
}

}  // namespace roofline
