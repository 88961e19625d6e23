#include "profile/phases.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "measure/statistics.hpp"

namespace roofline {
namespace {

/// Upper bound of what a callback costs, s: a larger estimate is noise.
constexpr double kMostPerCallback = 2e-6;
constexpr std::size_t kFewestTimed = 5;  // steps whose median means something

/// The start of the first activity of the process in the span; its end without any.
std::uint64_t first_activity(const Recording& recording, int process, const Span& span) {
  const std::vector<Activity>& all = recording.activities;
  auto activity = std::lower_bound(all.begin(), all.end(), span.start,
                                   [](const Activity& a, std::uint64_t time) { return a.start < time; });
  while (activity != all.end() && activity->process != process) ++activity;
  return activity != all.end() ? std::min(activity->start, span.end) : span.end;
}

/// When nothing was recorded of a process.
std::vector<Span> unrecorded(const Recording& recording, int process) {
  const ProcessTrace& trace = recording.traces[static_cast<std::size_t>(process)];
  std::vector<Span> spans;
  std::optional<std::uint64_t> ended;
  for (const ProcessTrace::Note& note : trace.notes) {
    if (note.code == spool::NoteCode::recording_ended && !ended) ended = note.time;
    if (note.code != spool::NoteCode::recording_began || !ended) continue;
    spans.push_back({*ended, std::max(*ended, first_activity(recording, process, {note.time, recording.end}))});
    ended.reset();
  }
  // A process that has ended launched nothing more.
  if (ended) spans.push_back({*ended, std::max(*ended, trace.torn ? recording.end : trace.last_time)});
  return covered(std::move(spans));
}

/// The times of the marker's launches or calls in the recorded parts, in order.
std::vector<std::uint64_t> recorded_marks(const ProcessTrace& trace, const spool::Marker& marker) {
  std::vector<std::uint64_t> times;
  const spool::Kind& wanted = trace.kind(marker.kind);
  for (const spool::Launch& launch : trace.launches) {
    const spool::Kind& kind = trace.kind(launch.kind);
    if ((launch.flags & spool::kCaptured) != 0) continue;
    const bool graph = (kind.flags & spool::kGraph) != 0;
    const bool same = !graph && kind.name == wanted.name && std::equal(kind.grid, kind.grid + 3, wanted.grid) &&
                      std::equal(kind.block, kind.block + 3, wanted.block);
    if (marker.kind != 0 ? same : graph && trace.text(marker.call) == spool::kGraphLaunchCall)
      times.push_back(launch.start);
  }
  for (const spool::Call& call : trace.calls) {
    if (marker.kind == 0 && call.name == marker.call) times.push_back(call.start);
  }
  std::sort(times.begin(), times.end());
  return times;
}

/// The median number of these sorted times per span.
double usual_count(const std::vector<std::uint64_t>& times, const std::vector<Span>& spans) {
  std::vector<double> counts;
  for (const Span& span : spans) {
    const auto begin = std::lower_bound(times.begin(), times.end(), span.start);
    counts.push_back(static_cast<double>(std::lower_bound(begin, times.end(), span.end) - begin));
  }
  return counts.empty() ? 0 : median(counts);
}

/// Marks per step, as the recorded steps have them: below 1 for a mark of several steps. 0 if unknown.
double marks_per_step(const ProcessTrace& trace, const spool::Marker& marker, const std::vector<Span>& steps) {
  const std::vector<std::uint64_t> marks = recorded_marks(trace, marker);
  const double per_step = usual_count(marks, steps);
  if (per_step >= 1) return per_step;
  std::vector<std::uint64_t> begins;
  for (const Span& step : steps) begins.push_back(step.start);
  std::sort(begins.begin(), begins.end());
  std::vector<Span> between;
  for (std::size_t i = 1; i < marks.size(); ++i) between.push_back({marks[i - 1], marks[i]});
  const double steps_per_mark = usual_count(begins, between);
  return steps_per_mark >= 1 ? 1 / steps_per_mark : 0;
}

struct TimedStep {
  double seconds = 0, callbacks = 0;
};

/// The steps between these marks, in order: records with fewer marks than a step has are joined.
std::vector<TimedStep> timed_steps(const ProcessTrace& trace, const spool::Marker& marker, double per_step) {
  std::vector<TimedStep> steps;
  std::uint64_t start = 0, end = 0;
  double marks = 0, callbacks = 0;
  for (const spool::Marks& one : trace.marks) {
    if (one.marker != marker.id || one.marks == 0) continue;
    if (marks == 0 || one.start != end) {
      start = one.start;
      marks = callbacks = 0;
    }
    end = one.end;
    marks += one.marks;
    callbacks += one.callbacks;
    if (marks < per_step) continue;
    steps.push_back({seconds(end - start) * per_step / marks, callbacks * per_step / marks});
    marks = 0;
  }
  return steps;
}

/// Subtracts what callbacks added: the difference between steps with callbacks enabled throughout and the others gives
/// the cost of one.
std::vector<double> without_callbacks(const std::vector<TimedStep>& steps) {
  double most = 0;
  for (const TimedStep& step : steps) most = std::max(most, step.callbacks);
  std::vector<double> watched, skipped, watched_callbacks, skipped_callbacks;
  for (const TimedStep& step : steps) {
    const bool all = step.callbacks > 0.9 * most;
    (all ? watched : skipped).push_back(step.seconds);
    (all ? watched_callbacks : skipped_callbacks).push_back(step.callbacks);
  }
  if (watched.size() < kFewestTimed || skipped.size() < kFewestTimed)
    return skipped.size() < kFewestTimed ? watched : skipped;
  const double apart = median(watched_callbacks) - median(skipped_callbacks);
  const double cost = std::clamp((median(watched) - median(skipped)) / apart, 0.0, kMostPerCallback);
  std::vector<double> result;
  for (std::size_t i = 0; i < skipped.size(); ++i) {
    result.push_back(std::max(0.0, skipped[i] - cost * skipped_callbacks[i]));
  }
  return result;
}

}  // namespace

std::vector<Span> recorded(const Recording& recording, int process) {
  return uncovered({{recording.start, recording.end}}, unrecorded(recording, process));
}

std::vector<Span> recorded(const Recording& recording) {
  std::vector<Span> spans = {{recording.start, recording.end}};
  if (recording.end <= recording.start) return {};
  for (std::size_t process = 0; process < recording.traces.size(); ++process) {
    if (recording.traces[process].counts_only) continue;
    spans = uncovered(spans, unrecorded(recording, static_cast<int>(process)));
  }
  return spans;
}

double recorded_share(const Recording& recording) {
  if (recording.end <= recording.start) return 1;
  return seconds(total_length(recorded(recording))) / seconds(recording.end - recording.start);
}

std::vector<double> untouched_steps(const Recording& recording, const std::vector<Span>& steps) {
  std::vector<double> result;
  for (const ProcessTrace& trace : recording.traces) {
    if (trace.counts_only) continue;
    for (const spool::Marker& marker : trace.markers) {
      const double per_step = marks_per_step(trace, marker, steps);
      if (!(per_step > 0)) continue;
      const std::vector<double> steps_s = without_callbacks(timed_steps(trace, marker, per_step));
      result.insert(result.end(), steps_s.begin(), steps_s.end());
    }
  }
  return result;
}

}  // namespace roofline
