#include "profile/cpu/region_times.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace roofline {
namespace {

/// Samples of one thread come once per period, so several periods tell whether two threads run at the same time.
constexpr std::uint64_t kPeriods = 4;
/// So that a thread that is in a region is likely to be seen there.
constexpr std::size_t kSamplesPerThread = 3;

struct RegionSample {
  std::uint64_t time = 0;
  std::int32_t thread = 0;
};

std::uint64_t window_of(const CodeSamples& samples) {
  return static_cast<std::uint64_t>(samples.period_s * 1e9) * kPeriods;
}

/// Number of windows by the minimum number of concurrent threads. Threads that run one after the other within a window
/// have no more samples together than one thread.
std::vector<std::size_t> threads_of_windows(const CodeSamples& samples, std::uint64_t window) {
  std::vector<std::size_t> windows(2, 0);
  std::set<std::int32_t> threads;
  std::size_t size = 0;
  std::uint64_t start = 0;
  const auto close = [&] {
    if (size == 0) return;
    const std::size_t by_samples = std::max<std::size_t>(1, (size + kPeriods / 2) / kPeriods);
    const std::size_t together = std::min(threads.size(), by_samples);
    windows.resize(std::max(windows.size(), together + 1), 0);
    for (std::size_t n = 1; n <= together; ++n) ++windows[n];
    threads.clear();
    size = 0;
  };
  for (const CodeSample& sample : samples.samples) {
    if (size > 0 && sample.time >= start + window) close();
    if (size == 0) start = sample.time;
    threads.insert(sample.thread);
    ++size;
  }
  close();
  return windows;
}

/// Thread time divided by the threads that share it, group by group: a group is a few periods long, and has enough
/// samples to see each of its threads.
double elapsed_of(const std::vector<RegionSample>& samples, std::size_t threads, std::size_t at_once, double period_s,
                  std::uint64_t window) {
  const std::size_t sharing = std::min(threads, at_once);
  if (sharing <= 1) return static_cast<double>(samples.size()) * period_s;
  double elapsed = 0;
  std::set<std::int32_t> seen;
  std::size_t first = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    seen.insert(samples[i].thread);
    const std::size_t size = i + 1 - first;
    const bool is_last = i + 1 == samples.size();
    const bool is_whole = size >= kSamplesPerThread * sharing && samples[i].time - samples[first].time >= window;
    if (!is_last && !is_whole) continue;
    elapsed += static_cast<double>(size) * period_s / static_cast<double>(std::min(seen.size(), at_once));
    seen.clear();
    first = i + 1;
  }
  return elapsed;
}

/// Interval of a sum of binomial counts.
Interval interval_of(double count, double variance) {
  constexpr double k95 = 1.96;
  // With few samples the variance is itself uncertain: one more sample on each side is possible.
  const double half = k95 * std::sqrt(variance + 1);
  return {std::max(0.0, count - half), count + half};
}

}  // namespace

std::int64_t threads_at_once(const CodeSamples& samples) {
  constexpr double kOften = 0.05;
  const std::vector<std::size_t> windows = threads_of_windows(samples, window_of(samples));
  std::size_t most = 1;
  for (std::size_t n = 1; n < windows.size(); ++n) {
    if (static_cast<double>(windows[n]) >= kOften * static_cast<double>(windows[1])) most = n;
  }
  return static_cast<std::int64_t>(most);
}

std::vector<RegionTime> region_times(const CodeSamples& samples, const std::vector<int>& of_code, std::size_t count) {
  std::vector<RegionTime> times(count);
  std::vector<std::vector<RegionSample>> of_region(count);
  std::map<std::int32_t, double> all_of_thread;
  for (const CodeSample& sample : samples.samples) {
    ++all_of_thread[sample.thread];
    const auto region = static_cast<std::size_t>(of_code[static_cast<std::size_t>(sample.code)]);
    of_region[region].push_back({sample.time, sample.thread});
  }
  const std::uint64_t window = window_of(samples);
  const std::size_t at_once = threads_of_windows(samples, window).size() - 1;
  for (std::size_t i = 0; i < count; ++i) {
    RegionTime& time = times[i];
    std::map<std::int32_t, double> by_thread;
    for (const RegionSample& sample : of_region[i]) ++by_thread[sample.thread];
    double variance = 0, most = 0;
    for (const auto& [thread, number] : by_thread) {
      variance += number * (1 - number / all_of_thread.at(thread));
      most = std::max(most, number);
    }
    const auto number = static_cast<double>(of_region[i].size());
    const Interval interval = interval_of(number, variance);
    time.samples = static_cast<std::int64_t>(of_region[i].size());
    time.thread_s = number * samples.period_s;
    time.thread_ci95 = {interval.low * samples.period_s, interval.high * samples.period_s};
    time.threads = static_cast<std::int64_t>(by_thread.size());
    time.elapsed_s = elapsed_of(of_region[i], by_thread.size(), at_once, samples.period_s, window);
    // If threads start and end during the loop, their times do not show how the work was divided.
    const bool together = by_thread.size() > 1 && by_thread.size() <= at_once;
    if (together) time.busiest = most * static_cast<double>(by_thread.size()) / number;
  }
  return times;
}

}  // namespace roofline
