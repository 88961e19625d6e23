#include "profile/step_sums.hpp"

#include <algorithm>
#include <numeric>

#include "measure/statistics.hpp"
#include "profile/between_steps.hpp"
#include "profile/idle/stack_frames.hpp"
#include "profile/phases.hpp"
#include "profile/slow_steps.hpp"
#include "profile/wall_time.hpp"

namespace roofline {
namespace {

constexpr std::size_t kFewestUntouched = 5;  // steps whose median means something
constexpr double kSameSteps = 1.1;           // longer than the recorded ones: they did something else
constexpr double kLeastOfWork = 0.9;         // of the GPU's work in a step: what is shorter is no step

/// Times in which a thread of the process ran a compiler, or its main thread waited for one.
std::vector<Span> compiling_spans(const HostSamples& samples, std::int64_t pid) {
  std::vector<bool> compiles(samples.stacks.size(), false);
  for (std::size_t i = 0; i < compiles.size(); ++i) compiles[i] = StackView(samples, static_cast<int>(i)).compiles();
  std::vector<Span> spans;
  for (const HostSample& sample : samples.samples) {
    if (sample.stack < 0 || !compiles[static_cast<std::size_t>(sample.stack)]) continue;
    const HostThread& thread = samples.threads[static_cast<std::size_t>(sample.thread)];
    if (thread.pid != pid || (!thread.main && sample.state != ThreadState::running)) continue;
    spans.push_back(span_of(sample));
  }
  return spans;
}

/// Host and GPU activity before the first step, each moment counted once.
std::vector<StartUpShare> start_up_of(const Recording& recording, int process, std::uint64_t first_step,
                                      const HostSamples& samples) {
  const ProcessTrace& trace = recording.traces[static_cast<std::size_t>(process)];
  std::vector<Span> loading, allocating, busy;
  for (const spool::Call& call : trace.calls) {
    if (call.kind == spool::CallKind::load) loading.push_back({call.start, call.end});
    const bool memory = call.kind == spool::CallKind::allocate || call.kind == spool::CallKind::release;
    if (memory) allocating.push_back({call.start, call.end});
  }
  for (const Activity& activity : recording.activities) busy.push_back({activity.start, activity.end});

  std::vector<StartUpShare> shares;
  std::vector<Span> left = covered({{recording.start, std::max(recording.start, first_step)}});
  const auto take = [&](StartUpPart part, std::vector<Span> by) {
    by = covered(std::move(by));
    const double time = seconds(total_length(common(left, by)));
    if (time > 0) shares.push_back({part, time});
    left = uncovered(left, by);
  };
  take(StartUpPart::before_cuda, {{0, std::max(trace.process.start, recording.start)}});
  take(StartUpPart::counting, profiler_spans(trace));
  take(StartUpPart::loading, std::move(loading));
  take(StartUpPart::allocating, std::move(allocating));
  take(StartUpPart::compiling, compiling_spans(samples, trace.process.pid));
  take(StartUpPart::gpu, std::move(busy));
  take(StartUpPart::host, left);
  std::stable_sort(shares.begin(), shares.end(),
                   [](const StartUpShare& a, const StartUpShare& b) { return a.seconds > b.seconds; });
  return shares;
}

/// Seconds per step in which the GPU that works longest runs kernels or copies.
double work_per_step(const Steps& steps) {
  double most = 0;
  for (const WallTime& wall : steps.devices) most = std::max(most, wall.kernels_s + wall.copies_s);
  return most / static_cast<double>(steps.count);
}

}  // namespace

void time_untouched(Steps& steps, const std::vector<double>& marks_s) {
  if (marks_s.size() < kFewestUntouched) return;
  const double least = kLeastOfWork * work_per_step(steps);
  double length = median(std::vector<double>(marks_s));
  Interval interval = estimate_median(marks_s).ci95;
  if (length < least) {
    length = std::reduce(marks_s.begin(), marks_s.end()) / static_cast<double>(marks_s.size());
    interval = mean_interval(marks_s);
  }
  if (length < least || length > kSameSteps * steps.median_s) return;
  steps.untouched_s = length;
  steps.untouched_ci95 = interval;
}

void take_out_recording(Steps& steps) {
  if (!steps.untouched_s) return;
  const double added = (steps.median_s - *steps.untouched_s) * static_cast<double>(steps.count);
  for (WallTime& wall : steps.devices) {
    const double idle = idle_seconds(wall);
    if (!(added > 0 && idle > 0)) continue;
    wall.recording_s = std::min(added, idle);
    const double left = 1 - wall.recording_s / idle;
    for (double* const part :
         {&wall.idle_launching_s, &wall.idle_waiting_s, &wall.idle_elsewhere_s, &wall.idle_unknown_s}) {
      *part *= left;
    }
  }
}

std::optional<Steps> sum_steps(const Recording& recording, const FoundSteps& found, const RowTimes& rows,
                               const std::vector<Point>& points, const HostSamples& samples) {
  std::vector<double> lengths = steady_seconds(found.all);
  if (lengths.empty()) return std::nullopt;
  Steps steps;
  for (const double length : lengths) steps.total_s += length;
  for (const Step& step : found.all) steps.launches += is_steady(step) ? step.launches : 0;
  steps.ci95 = estimate_median(lengths).ci95;
  steps.mean_ci95 = mean_interval(lengths);
  std::sort(lengths.begin(), lengths.end());
  steps.source = found.source;
  steps.count = static_cast<std::int64_t>(lengths.size());
  steps.launches /= static_cast<double>(lengths.size());
  steps.median_s = quantile(lengths, 0.5);
  steps.low_s = quantile(lengths, 0.05);
  steps.high_s = quantile(lengths, 0.95);
  const std::uint64_t first = found.all.front().span.start, last = found.all.back().span.end;
  steps.start_up_s = first > recording.start ? seconds(first - recording.start) : 0;
  steps.tear_down_s = recording.end > last ? seconds(recording.end - last) : 0;
  steps.start_up = start_up_of(recording, found.process, first, samples);
  steps.devices = wall_times(recording, found.steady());
  add_roofs(steps.devices, rows, points);
  for (const WallTime& wall : steps.devices) steps.at_roof_s += wall.at_roof_s / static_cast<double>(steps.count);
  time_untouched(steps, untouched_steps(recording, found.steady()));
  take_out_recording(steps);
  steps.slow = explain_slow_steps(recording, found, samples);
  steps.between = work_between_steps(recording, found, samples);
  return steps;
}

}  // namespace roofline
