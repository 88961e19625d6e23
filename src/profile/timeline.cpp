#include "profile/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "measure/statistics.hpp"
#include "profile/intervals.hpp"
#include "profile/merge_slices.hpp"
#include "profile/timeline_lanes.hpp"

namespace roofline {
namespace {

/// More bars make a page too large.
constexpr std::size_t kMostSlices = 2000;

/// The window of that length, starting with an activity, that has the most work; empty if there is none.
Span busiest_window(const std::vector<Activity>& activities, std::uint64_t length) {
  Span best;
  std::uint64_t work = 0, most = 0;
  for (std::size_t first = 0, last = 0; first < activities.size(); ++first) {
    const Span span = {activities[first].start, activities[first].start + length};
    for (; last < activities.size() && activities[last].start < span.end; ++last) {
      work += activities[last].end - activities[last].start;
    }
    if (work > most) {
      most = work;
      best = span;
    }
    work -= activities[first].end - activities[first].start;
  }
  // Not longer than what is in it.
  std::uint64_t end = best.start;
  for (const Activity& activity : activities) {
    if (activity.start >= best.start && activity.start < best.end) end = std::max(end, activity.end);
  }
  best.end = std::min(best.end, end);
  return best;
}

}  // namespace

std::optional<std::size_t> typical_step(const FoundSteps& found, const HostSamples& samples) {
  std::vector<double> lengths = steady_seconds(found.all);
  if (lengths.empty()) return std::nullopt;
  const double middle = median(std::move(lengths));
  std::optional<std::size_t> best;
  const auto distance = [&](std::size_t step) { return std::abs(seconds(found.all[step].span.length()) - middle); };
  for (std::size_t i = 0; i < found.all.size(); ++i) {
    if (is_steady(found.all[i]) && (!best || distance(i) < distance(*best))) best = i;
  }
  // Among equally close steps, one with host samples shows more.
  constexpr double kNear = 0.02;
  const auto sampled = [&](std::size_t step) {
    const Span& span = found.all[step].span;
    const auto first = std::ranges::lower_bound(samples.samples, span.start, {}, &HostSample::time);
    return std::ranges::lower_bound(first, samples.samples.end(), span.end, {}, &HostSample::time) - first;
  };
  const double near = std::max(distance(*best), kNear * middle);
  std::size_t chosen = *best;
  auto most = sampled(*best);
  for (std::size_t i = 0; i < found.all.size(); ++i) {
    if (!is_steady(found.all[i]) || distance(i) > near) continue;
    const auto number = sampled(i);
    if (number < most || (number == most && distance(i) >= distance(chosen))) continue;
    chosen = i;
    most = number;
  }
  return chosen;
}

std::optional<Timeline> timeline_of(const Recording& recording, const FoundSteps& found, const HostSamples& samples,
                                    double most_s) {
  const std::optional<std::size_t> step = typical_step(found, samples);
  const Span window =
      step ? found.all[*step].span : busiest_window(recording.activities, static_cast<std::uint64_t>(most_s * 1e9));
  if (window.length() == 0) return std::nullopt;
  Timeline timeline;
  timeline.start_s = seconds(std::max(window.start, recording.start) - recording.start);
  timeline.length_s = seconds(window.length());
  if (step) timeline.step = static_cast<std::int64_t>(*step);
  ThreadLanes threads = thread_lanes(recording, window, samples);
  timeline.hidden_threads = threads.hidden;
  const std::vector<Span> steps = found.steady();
  for (std::vector<Lane> lanes :
       {stream_lanes(recording, window), idle_lanes(recording, window, samples, steps), std::move(threads.lanes)}) {
    std::ranges::move(lanes, std::back_inserter(timeline.lanes));
  }
  merge_slices(timeline.lanes, timeline.length_s, kMostSlices);
  return timeline;
}

}  // namespace roofline
