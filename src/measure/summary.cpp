// Summary of a series of timings, and the names of the stop reasons.
#include "measure/summary.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "measure/statistics.hpp"

namespace roofline {
namespace {

constexpr std::array<std::pair<StopReason, std::string_view>, 5> kReasons{{
    {StopReason::converged, "converged"},
    {StopReason::time_limit, "time_limit"},
    {StopReason::sample_limit, "sample_limit"},
    {StopReason::cancelled, "cancelled"},
    {StopReason::bad_reading, "bad_reading"},
}};

}  // namespace

std::string_view to_string(StopReason reason) {
  for (const auto& [value, text] : kReasons) {
    if (value == reason) return text;
  }
  return "unknown";
}

std::optional<StopReason> parse_stop_reason(std::string_view text) {
  for (const auto& [value, name] : kReasons) {
    if (name == text) return value;
  }
  return std::nullopt;
}

Summary summarize(std::span<const double> seconds) {
  std::vector<double> ascending(seconds.begin(), seconds.end());
  std::sort(ascending.begin(), ascending.end());
  const MedianEstimate estimate = estimate_median(seconds);

  Summary summary;
  summary.median = estimate.median;
  summary.ci95 = estimate.ci95;
  summary.autocorrelation = estimate.autocorrelation;
  summary.effective_samples = estimate.effective_samples;
  summary.min = quantile(ascending, 0);
  summary.q05 = quantile(ascending, 0.05);
  summary.q25 = quantile(ascending, 0.25);
  summary.q75 = quantile(ascending, 0.75);
  summary.q95 = quantile(ascending, 0.95);
  summary.max = quantile(ascending, 1);
  summary.samples = static_cast<std::int64_t>(seconds.size());
  summary.drifting = drifts(seconds);
  return summary;
}

}  // namespace roofline
