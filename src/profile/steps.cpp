#include "profile/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "measure/statistics.hpp"
#include "profile/launch_sequence.hpp"
#include "profile/phases.hpp"
#include "profile/ranks.hpp"
#include "profile/repetition.hpp"
#include "profile/step_ranges.hpp"
#include "profile/wall_time.hpp"

namespace roofline {
namespace {

constexpr std::size_t kFewestSteps = 3;

/// Steady segments as steps. Segments whose first activities are out of order on the GPU are none.
std::vector<Step> steps_of(const LaunchSequence& sequence, const Segments& segments) {
  std::vector<Step> steps;
  std::uint64_t ended = 0;
  for (std::size_t i = 0; i < segments.steady.size(); ++i) {
    const std::size_t begin = segments.begins[i], end = segments.begins[i + 1];
    const Span span = {sequence.on_gpu[begin].start, sequence.on_gpu[end].start};
    if (!segments.steady[i] || span.start >= span.end || span.start < ended) continue;
    const auto launches = static_cast<double>(sequence.position[end] - sequence.position[begin]);
    steps.push_back({.span = span, .counted = false, .launches = launches});
    ended = span.end;
  }
  return steps;
}

void keep_recorded(std::vector<Step>& steps, const std::vector<Span>& spans) {
  std::erase_if(steps,
                [&spans](const Step& step) { return common({step.span}, spans) != std::vector<Span>{step.span}; });
}

/// Removes the steps that were not recorded from their beginning to their end; of a job, on all ranks, where that
/// leaves enough.
void keep_recorded(std::vector<Step>& steps, const Recording& recording, int process) {
  std::vector<Span> spans = recorded(recording, process);
  keep_recorded(steps, spans);
  for (const int rank : processes_with_collectives(recording)) spans = common(spans, recorded(recording, rank));
  std::vector<Step> on_all = steps;
  keep_recorded(on_all, spans);
  if (on_all.size() >= kFewestSteps) steps = std::move(on_all);
}

void mark_counted(std::vector<Step>& steps, const Recording& recording, int process) {
  std::vector<Span> counting = counting_spans(recording, process);
  // A rank that is counted delays the others.
  for (const int rank : processes_with_collectives(recording)) {
    const std::vector<Span> spans = counting_spans(recording, rank);
    counting.insert(counting.end(), spans.begin(), spans.end());
  }
  for (const Activity& activity : recording.activities) {
    if (activity.counted) counting.push_back({activity.start, activity.end});
  }
  counting = covered(std::move(counting));
  auto next = counting.begin();
  for (Step& step : steps) {
    while (next != counting.end() && next->end <= step.span.start) ++next;
    step.counted = next != counting.end() && next->start < step.span.end;
  }
}

/// The first steps load modules, compile, tune and allocate: as long as they are slow they belong to the start-up. The
/// profiler makes steps slower, but not by such a factor beside the times that it takes itself.
void drop_slow_first(std::vector<Step>& steps, const ProcessTrace& trace) {
  constexpr double kSlow = 1.3, kSlowBesideProfiler = 10;
  std::vector<double> lengths = steady_seconds(steps);
  if (lengths.empty()) return;
  const double usual = median(std::move(lengths));
  const std::size_t most = std::max(kFewestSteps, steps.size() / 5);
  const std::vector<Span> profiler = profiler_spans(trace);
  const auto slow = [&](const Step& step) {
    const double own = seconds(step.span.length() - total_length(parts_within(step.span, profiler)));
    return own > (step.counted ? kSlowBesideProfiler : kSlow) * usual;
  };
  const auto first = std::find_if_not(steps.begin(), steps.end(), slow);
  if (first - steps.begin() <= static_cast<std::ptrdiff_t>(most)) steps.erase(steps.begin(), first);
}

/// A single event, such as late compilation, may take longer than everything else and make the mean meaningless.
/// Recurring events are part of the steps.
void mark_apart(std::vector<Step>& steps) {
  constexpr std::size_t kMost = 3, kFewest = 10;
  constexpr double kFar = 10, kMatters = 0.05;
  std::vector<std::size_t> order;
  double total = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].counted) continue;
    order.push_back(i);
    total += seconds(steps[i].span.length());
  }
  if (order.size() < kFewest) return;
  const auto length = [&](std::size_t step) { return seconds(steps[step].span.length()); };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return length(a) > length(b); });
  for (std::size_t few = 1; few <= kMost; ++few) {
    const auto [first, last] = std::minmax_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(few));
    if (length(order[few - 1]) < kFar * length(order[few]) || *last - *first != few - 1) continue;
    double taken = 0;
    for (std::size_t i = 0; i < few; ++i) taken += length(order[i]);
    if (taken < kMatters * total) return;
    for (std::size_t i = 0; i < few; ++i) steps[order[i]].apart = true;
    return;
  }
}

/// Steps are what the program does most of the time: a tuner's or a compiler's short loops are not.
constexpr double kLeastShareOfTime = 0.2;

/// Fraction of the recorded time from the first step to the end of the process's GPU work, without counting.
double share_of_time(const std::vector<Step>& steps, const Recording& recording, int process) {
  if (steps.empty()) return 0;
  const std::uint64_t first = steps.front().span.start;
  std::uint64_t last = first;
  for (const Activity& activity : recording.activities) {
    if (activity.process == process) last = std::max(last, std::min(activity.end, recording.end));
  }
  std::vector<Span> counting = counting_spans(recording, process);
  const std::vector<Span> all = uncovered(common(recorded(recording, process), {{first, last}}), counting);
  std::vector<Span> spans;
  spans.reserve(steps.size());
  for (const Step& step : steps) spans.push_back(step.span);
  const std::uint64_t in_steps = total_length(common(all, covered(std::move(spans))));
  return seconds(in_steps) / std::max(seconds(total_length(all)), 1e-9);
}

/// Fraction of the process's GPU time, without counted parts, that lies in these steps.
double gpu_share(const FoundSteps& found, const Recording& recording) {
  std::vector<Span> spans;
  for (const Step& step : found.all) spans.push_back(step.span);
  spans = covered(std::move(spans));
  std::vector<Span> busy;
  for (const Activity& activity : recording.activities) {
    if (activity.process == found.process && !activity.counted) busy.push_back({activity.start, activity.end});
  }
  busy = covered(std::move(busy));
  const double all = seconds(total_length(busy));
  return all > 0 ? seconds(total_length(common(busy, spans))) / all : 0;
}

/// Steps with this share of the GPU's time are those of the program.
constexpr double kMostOfGpuTime = 0.5;

bool has_times(const ProcessTrace& trace) { return trace.times == TimeSource::traced; }

/// Copies alone may also repeat, in a loop that fills buffers; this is not a step of a program that runs kernels.
bool have_kernels(const std::vector<Step>& steps, const Recording& recording, int process) {
  std::vector<Span> spans;
  spans.reserve(steps.size());
  for (const Step& step : steps) spans.push_back(step.span);
  spans = covered(std::move(spans));
  const auto has = [&](const Activity& activity) {
    return activity.process == process && activity.what == ActivityKind::kernel &&
           !common({{activity.start, activity.end}}, spans).empty();
  };
  return std::any_of(recording.activities.begin(), recording.activities.end(), has);
}

FoundSteps without_steps(FoundSteps found, std::string why) {
  found.all.clear();
  found.why_none = std::move(why);
  return found;
}

/// `found` with the steps of these segments, or with the reason why they are none.
FoundSteps steps_in(const Recording& recording, FoundSteps found, const LaunchSequence& sequence,
                    const std::optional<Segments>& segments) {
  if (!segments) return without_steps(std::move(found), "most launches do not repeat");
  found.all = steps_of(sequence, *segments);
  keep_recorded(found.all, recording, found.process);
  mark_counted(found.all, recording, found.process);
  drop_slow_first(found.all, recording.traces[static_cast<std::size_t>(found.process)]);
  mark_apart(found.all);
  if (!found.all.empty() && !have_kernels(found.all, recording, found.process)) {
    return without_steps(std::move(found), "the repeating part has no kernels");
  }
  if (share_of_time(found.all, recording, found.process) < kLeastShareOfTime) {
    return without_steps(std::move(found), "the repeating part takes little of the time");
  }
  if (found.all.size() < kFewestSteps) {
    return without_steps(std::move(found), fmt::format("fewer than {} steps are alike", kFewestSteps));
  }
  if (found.steady().size() < kFewestSteps) {
    return without_steps(std::move(found), "counters were read in nearly all steps");
  }
  return found;
}

FoundSteps repeated_steps(const Recording& recording, FoundSteps found, const LaunchSequence& sequence,
                          const std::optional<Segments>& segments) {
  found.source = segments && segments->by_update ? StepSource::optimizer : StepSource::repetition;
  return steps_in(recording, std::move(found), sequence, segments);
}

/// Loads of code, and a tuner's launches of candidates.
std::vector<Span> loads_of_code(const ProcessTrace& trace, const LaunchSequence& sequence) {
  std::vector<Span> loads;
  for (const spool::Call& call : trace.calls) {
    if (call.kind == spool::CallKind::load) loads.push_back({call.start, call.end});
  }
  for (std::size_t i = 0; i < sequence.elements.size(); ++i) {
    if (sequence.of_tuner[i]) loads.push_back({sequence.elements[i].time, sequence.on_gpu[i].end});
  }
  return covered(std::move(loads));
}

/// Of the times without a load of code, from the first launch on, that in which the GPU works longest: a compiler may
/// need more time than all steps.
Span busiest_without_loads(const Recording& recording, int process, const LaunchSequence& sequence,
                           const std::vector<Span>& loads) {
  const std::uint64_t first = sequence.elements.empty() ? 0 : sequence.elements.front().time;
  const std::vector<Span> without = uncovered({{first, recording.end}}, loads);
  Span busiest;
  std::uint64_t most = 0;
  auto activity = recording.activities.begin();
  for (const Span& time : without) {
    std::uint64_t busy = 0;
    for (; activity != recording.activities.end() && activity->start < time.end; ++activity) {
      if (activity->process == process && activity->start >= time.start) busy += activity->end - activity->start;
    }
    if (busy <= most) continue;
    most = busy;
    busiest = time;
  }
  return busiest;
}

/// True if steps like these `segments` of `within` were also there before or after that time without a load, and
/// `often` or more loads came between steps: then code is loaded again and again, and the time between is the
/// program's.
bool repeats_outside(const LaunchSequence& sequence, const LaunchSequence& within, const Segments& segments,
                     const Span& time, const std::vector<Span>& loads, std::size_t often) {
  constexpr std::size_t kSeveral = 10;
  constexpr double kAlike = 0.1;  // difference of the launches in a step
  const std::uint32_t anchor = within.elements[segments.begins.front()].kind;
  std::vector<std::size_t> before, after;
  std::size_t interrupted = 0;
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < sequence.elements.size(); ++i) {
    const std::uint64_t at = sequence.elements[i].time;
    if (sequence.elements[i].kind != anchor) continue;
    if (last != 0 && !common({{last, at}}, loads).empty()) ++interrupted;
    last = at;
    if (at < time.start) before.push_back(i);
    if (at >= time.end) after.push_back(i);
  }
  if (interrupted < often) return false;
  const auto usual_length = [](const std::vector<std::size_t>& at) {
    std::vector<double> lengths;
    for (std::size_t i = 1; i < at.size(); ++i) lengths.push_back(static_cast<double>(at[i] - at[i - 1]));
    return median(std::move(lengths));
  };
  const double length = usual_length(segments.begins);
  const auto alike = [&](const std::vector<std::size_t>& at) {
    return at.size() > kSeveral && std::abs(usual_length(at) - length) <= kAlike * length;
  };
  return alike(before) || alike(after);
}

/// True if the GPU's time is that of several kernels, of which each is launched many times in a row, once or twice, as
/// in a benchmark of kernels: what repeats is one of them.
bool is_series(const LaunchSequence& sequence) {
  constexpr std::size_t kRow = 8, kMostRows = 2;
  constexpr double kNearlyAll = 0.8, kMatters = 0.05;  // of the GPU's time
  struct Rows {
    std::size_t count = 0;
    std::uint64_t time = 0;  // ns
  };
  std::map<std::uint32_t, Rows> kinds;
  std::uint64_t all = 0, in_row = 0;
  std::size_t row = 0;
  const SequenceElement* last = nullptr;
  for (const SequenceElement& element : sequence.elements) {
    if (element.copy) continue;
    const bool goes_on = last != nullptr && last->kind == element.kind;
    row = goes_on ? row + 1 : 1;
    in_row = (goes_on ? in_row : 0) + element.on_gpu;
    all += element.on_gpu;
    last = &element;
    if (row < kRow) continue;
    Rows& of = kinds[element.kind];
    of.count += row == kRow ? 1 : 0;
    of.time += row == kRow ? in_row : element.on_gpu;
  }
  double of_rows = 0;
  std::size_t kernels = 0;
  for (const auto& [kind, rows] : kinds) {
    if (rows.count > kMostRows) continue;
    of_rows += static_cast<double>(rows.time);
    if (static_cast<double>(rows.time) >= kMatters * static_cast<double>(all)) ++kernels;
  }
  return kernels >= 2 && of_rows >= kNearlyAll * static_cast<double>(all);
}

/// True if each step is one kernel, and others take most GPU time between the first step and the last: the program
/// launches its kernels in turn, each an irregular number of times.
bool is_one_of_several_kernels(const FoundSteps& found, const Recording& recording) {
  if (found.all.empty()) return false;
  std::vector<Span> steps;
  for (const Step& step : found.all) steps.push_back(step.span);
  steps = covered(std::move(steps));
  const Span loop = {steps.front().start, steps.back().end};
  std::set<int> kernels;
  std::vector<Span> busy;
  for (const Activity& activity : recording.activities) {
    if (activity.process != found.process || activity.counted) continue;
    busy.push_back({activity.start, activity.end});
    if (activity.what != ActivityKind::kernel || span_at(steps, activity.start) == steps.size()) continue;
    kernels.insert(activity.group);
    if (kernels.size() > 1 || activity.graph >= 0) return false;
  }
  busy = common(covered(std::move(busy)), {loop});
  return seconds(total_length(common(busy, steps))) < kMostOfGpuTime * seconds(total_length(busy));
}

/// True if a tuner launched something in most of these steps.
bool are_of_tuner(const FoundSteps& found, const LaunchSequence& sequence) {
  std::vector<Span> steps;
  for (const Step& step : found.all) steps.push_back(step.span);
  std::vector<bool> tuned(steps.size());
  for (std::size_t i = 0; i < sequence.elements.size(); ++i) {
    const std::size_t step = sequence.of_tuner[i] ? span_at(steps, sequence.on_gpu[i].start) : steps.size();
    if (step < steps.size()) tuned[step] = true;
  }
  return 2 * std::ranges::count(tuned, true) > std::ssize(tuned);
}

/// A compiler that tunes kernels launches more than the steps of a short run do, and between them where it compiles
/// again. What the program launches itself, and what it launches in its busiest time without a load of code, shows
/// steps nevertheless. So small a part of the launches needs more steps for evidence.
FoundSteps steps_beside_start_up(const Recording& recording, const FoundSteps& found, const LaunchSequence& sequence) {
  constexpr std::size_t kFewestBeside = 10;
  constexpr std::size_t kOften = 3;  // the first evaluation compiles, too, and the first checkpoint
  const std::vector<Span> loads = loads_of_code(recording.traces[static_cast<std::size_t>(found.process)], sequence);
  const Span quiet = busiest_without_loads(recording, found.process, sequence, loads);
  const LaunchSequence own = of_program(sequence);
  const LaunchSequence parts[] = {own, launched_within(own, quiet), launched_within(sequence, quiet)};
  for (const LaunchSequence& part : parts) {
    if (part.elements.size() == sequence.elements.size()) continue;
    const std::size_t often = &part == &parts[0] ? 0 : kOften;
    const std::optional<Segments> segments = find_repetition(part.elements);
    FoundSteps steps = repeated_steps(recording, found, part, segments);
    if (steps.all.size() >= kFewestBeside && !repeats_outside(sequence, part, *segments, quiet, loads, often))
      return steps;
  }
  return without_steps(found, {});
}

}  // namespace

bool is_steady(const Step& step) { return !step.counted && !step.apart; }

std::vector<double> steady_seconds(const std::vector<Step>& steps) {
  std::vector<double> lengths;
  for (const Step& step : steps) {
    if (is_steady(step)) lengths.push_back(seconds(step.span.length()));
  }
  return lengths;
}

std::vector<Span> FoundSteps::steady() const {
  std::vector<Span> spans;
  for (const Step& step : all) {
    if (is_steady(step)) spans.push_back(step.span);
  }
  return spans;
}

FoundSteps find_steps(const Recording& recording, const std::string& range) {
  FoundSteps found;
  found.process = busiest_process(recording);
  if (found.process < 0) {
    const bool untimed = std::any_of(recording.traces.begin(), recording.traces.end(),
                                     [](const ProcessTrace& trace) { return !trace.kernels.empty(); });
    return without_steps(std::move(found), untimed ? "no kernel has a time" : "no kernel was recorded");
  }
  const ProcessTrace& trace = recording.traces[static_cast<std::size_t>(found.process)];
  if (!has_times(trace)) return without_steps(std::move(found), "the file has no start times");
  const LaunchSequence sequence = launch_sequence(recording, found.process);
  if (const auto segments = segments_by_range(sequence.elements, trace, range, kFewestSteps)) {
    found.source = StepSource::range;
    return steps_in(recording, std::move(found), sequence, segments);
  }
  if (!range.empty()) {
    return without_steps(std::move(found), fmt::format("no range is named \"{}\", or it occurs fewer than {} times",
                                                       range, kFewestSteps + 1));
  }
  FoundSteps of_all = repeated_steps(recording, found, sequence, find_repetition(sequence.elements));
  const double share = gpu_share(of_all, recording);
  const bool tuner = are_of_tuner(of_all, sequence);
  if (share >= kMostOfGpuTime && !tuner) return of_all;
  if (is_series(sequence)) return without_steps(std::move(found), "kernels run one after the other, each many times");
  if (is_one_of_several_kernels(of_all, recording)) {
    return without_steps(std::move(of_all), "what repeats is one of several kernels that run in turn");
  }
  FoundSteps beside = steps_beside_start_up(recording, found, sequence);
  if (beside.all.empty()) return of_all;
  // Launches of a tuner also repeat, but rarely for most of the GPU time.
  return of_all.all.empty() || tuner || gpu_share(beside, recording) > share ? beside : of_all;
}

FoundSteps find_undisturbed_steps(Recording& recording, const std::string& range) {
  FoundSteps found = find_steps(recording, range);
  const bool sampled = std::any_of(recording.traces.begin(), recording.traces.end(),
                                   [](const ProcessTrace& trace) { return !trace.instruction_phases.empty(); });
  if (!found.all.empty() || !sampled) return found;
  recording.sampling_disturbs = false;
  FoundSteps also_sampled = find_steps(recording, range);
  // Without steps the phases of a long compile may be most of the run.
  return also_sampled.all.empty() ? found : also_sampled;
}

}  // namespace roofline
