#include "profile/memory_growth.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "measure/statistics.hpp"

namespace roofline {
namespace {

constexpr std::size_t kFewestWindows = 8, kMostWindows = 32;
constexpr double kLeastGrowth = 32 << 20;
/// Fraction of the windows that must grow by at least kSomeGrowth of the mean growth.
constexpr double kMostOfWindows = 0.7, kSomeGrowth = 0.2;
/// Minimum rate in the last third, relative to the mean.
constexpr double kPaceAtTheEnd = 0.5;

std::size_t windows_for(std::size_t samples, double seconds, double step_s) {
  double windows = std::min(static_cast<double>(samples) / 2, static_cast<double>(kMostWindows));
  if (step_s > 0) windows = std::min(windows, seconds / (1.5 * step_s));
  return windows > 0 ? static_cast<std::size_t>(windows) : 0;
}

double slope_of(const std::vector<double>& values) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j) {
      slopes.push_back((values[j] - values[i]) / static_cast<double>(j - i));
    }
  }
  return median(std::move(slopes));
}

/// Minimum per window; infinite without samples.
std::vector<double> least_of_windows(const std::vector<LeastMemory>& samples, double begin_s, double end_s,
                                     std::size_t windows) {
  std::vector<double> least(windows, std::numeric_limits<double>::infinity());
  for (const LeastMemory& sample : samples) {
    const double at = (sample.time_s - begin_s) / (end_s - begin_s) * static_cast<double>(windows);
    if (!(at >= 0) || !(at < static_cast<double>(windows)) || !std::isfinite(sample.bytes)) continue;
    double& of = least[static_cast<std::size_t>(at)];
    of = std::min(of, sample.bytes);
  }
  return least;
}

/// For each window, the least that is in use from there on. At most `most_windows`: samples may lie closely together
/// in one part of the time and far apart in another, and in a window without any there would be no growth.
std::vector<double> never_freed(const std::vector<LeastMemory>& samples, double begin_s, double end_s,
                                std::size_t most_windows) {
  std::vector<double> least = least_of_windows(samples, begin_s, end_s, most_windows);
  const auto is_empty = [](double bytes) { return !std::isfinite(bytes); };
  while (least.size() > kFewestWindows && std::any_of(least.begin(), least.end(), is_empty)) {
    least = least_of_windows(samples, begin_s, end_s, least.size() - 1);
  }
  for (std::size_t i = least.size() - 1; i-- > 0;) least[i] = std::min(least[i], least[i + 1]);
  return least;
}

}  // namespace

std::optional<MemoryTrend> growth_of(const std::vector<LeastMemory>& samples, double begin_s, double end_s,
                                     double step_s) {
  if (!(end_s > begin_s)) return std::nullopt;
  const auto within = static_cast<std::size_t>(std::count_if(
      samples.begin(), samples.end(), [&](const LeastMemory& s) { return s.time_s >= begin_s && s.time_s < end_s; }));
  const std::size_t most_windows = windows_for(within, end_s - begin_s, step_s);
  if (most_windows < kFewestWindows) return std::nullopt;
  const std::vector<double> kept = never_freed(samples, begin_s, end_s, most_windows);
  const std::size_t windows = kept.size();
  if (!std::isfinite(kept.back())) return std::nullopt;
  const double total = kept.back() - kept.front();
  if (!(total >= kLeastGrowth)) return std::nullopt;
  const double mean = total / static_cast<double>(windows - 1);
  std::size_t growing = 0;
  for (std::size_t i = 1; i < windows; ++i) growing += kept[i] - kept[i - 1] >= kSomeGrowth * mean ? 1 : 0;
  if (static_cast<double>(growing) < kMostOfWindows * static_cast<double>(windows - 1)) return std::nullopt;
  const std::size_t third = windows / 3;
  const double at_the_end = (kept.back() - kept[windows - 1 - third]) / static_cast<double>(third);
  if (at_the_end < kPaceAtTheEnd * mean) return std::nullopt;
  const double window_s = (end_s - begin_s) / static_cast<double>(windows);
  return MemoryTrend{total, window_s * static_cast<double>(windows - 1), slope_of(kept) / window_s};
}

}  // namespace roofline
