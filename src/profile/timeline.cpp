#include "profile/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "profile/intervals.hpp"

namespace roofline {
namespace {

/// More bars can't be distinguished even when zoomed in, and make the page too large.
constexpr std::size_t kMostSlices = 1500;

struct Window {
  Span span;
  std::size_t first = 0, last = 0;  ///< activities that begin in it
};

/// Of all windows of that length that begin with an activity, the one with most work.
Window busiest(const std::vector<Activity>& activities, std::uint64_t length) {
  Window best;
  std::uint64_t work = 0, most = 0;
  for (std::size_t first = 0, last = 0; first < activities.size(); ++first) {
    const Span span = {activities[first].start, activities[first].start + length};
    for (; last < activities.size() && activities[last].start < span.end; ++last) {
      work += activities[last].end - activities[last].start;
    }
    if (work > most) {
      most = work;
      best = {span, first, last};
    }
    work -= activities[first].end - activities[first].start;
  }
  return best;
}

/// The lanes of a timeline, made as they are needed.
class Lanes {
 public:
  Lanes(const Recording& recording, const Span& window) : recording_(recording), window_(window) {}

  void add(const Activity& activity) {
    const SeenDevice& device = recording_.devices[static_cast<std::size_t>(activity.device)];
    std::string name = fmt::format("GPU {}, stream {}", device.about.index, activity.stream);
    if (recording_.traces.size() > 1) name += fmt::format(", process {}", process(activity.process).process.pid);
    Slice slice = {.start_s = at(activity.start), .end_s = at(activity.end), .point = activity.group, .text = {}};
    if (activity.what == ActivityKind::copy) slice.text = "copy";
    if (activity.what == ActivityKind::fill) slice.text = "memset";
    lane(0, activity.process, activity.device, activity.stream, name).slices.push_back(std::move(slice));
  }

  void add_host(int index) {
    const ProcessTrace& trace = process(index);
    for (const spool::Launch& launch : trace.launches) {
      const bool graph = (trace.kind(launch.kind).flags & spool::kGraph) != 0;
      add_call(index, launch.thread, {launch.start, launch.end}, graph ? "graph launch" : "kernel launch");
    }
    for (const spool::Call& call : trace.calls) {
      add_call(index, call.thread, {call.start, call.end}, std::string(trace.text(call.name)));
    }
  }

  std::vector<Lane> take() {
    std::vector<Lane> lanes;
    for (auto& [key, lane] : lanes_) {
      std::stable_sort(lane.slices.begin(), lane.slices.end(),
                       [](const Slice& a, const Slice& b) { return a.start_s < b.start_s; });
      lanes.push_back(std::move(lane));
    }
    return lanes;
  }

 private:
  const ProcessTrace& process(int index) const { return recording_.traces[static_cast<std::size_t>(index)]; }

  double at(std::uint64_t time) const { return seconds(std::clamp(time, window_.start, window_.end) - window_.start); }

  void add_call(int index, std::uint32_t thread, const Span& span, std::string text) {
    if (span.end <= window_.start || span.start >= window_.end) return;
    Lane& host = lane(1, index, 0, thread, fmt::format("thread {}", thread));
    host.host = true;
    if (host.slices.size() >= kMostSlices) return;
    host.slices.push_back({.start_s = at(span.start), .end_s = at(span.end), .point = -1, .text = std::move(text)});
  }

  Lane& lane(int part, int process, int device, std::uint32_t number, const std::string& name) {
    Lane& found = lanes_[{part, process, device, number}];
    if (found.name.empty()) found.name = name;
    return found;
  }

  const Recording& recording_;
  Span window_;
  std::map<std::tuple<int, int, int, std::uint32_t>, Lane> lanes_;
};

}  // namespace

std::optional<Timeline> busiest_window(const Recording& recording, double most_s) {
  const std::vector<Activity>& activities = recording.activities;
  if (activities.empty()) return std::nullopt;
  auto length = static_cast<std::uint64_t>(most_s * 1e9);
  Window window = busiest(activities, length);
  while (window.last - window.first > kMostSlices && length > 1000) {
    length /= 2;
    window = busiest(activities, length);
  }
  if (window.last == window.first) return std::nullopt;
  // Not longer than what is in it.
  std::uint64_t end = 0;
  for (std::size_t i = window.first; i < window.last; ++i) end = std::max(end, activities[i].end);
  window.span.end = std::min(window.span.end, end);

  Lanes lanes(recording, window.span);
  for (std::size_t i = window.first; i < window.last; ++i) lanes.add(activities[i]);
  for (std::size_t i = 0; i < recording.traces.size(); ++i) lanes.add_host(static_cast<int>(i));
  const std::uint64_t begin = std::max(window.span.start, recording.start);
  return Timeline{
      .start_s = seconds(begin - recording.start), .length_s = seconds(window.span.length()), .lanes = lanes.take()};
}

}  // namespace roofline
