#include "profile/between_steps.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "measure/statistics.hpp"
#include "model/find.hpp"
#include "profile/actions.hpp"
#include "profile/idle/gap_evidence.hpp"
#include "profile/idle/stack_frames.hpp"
#include "profile/phases.hpp"
#include "profile/rows.hpp"
#include "profile/wall_time.hpp"

namespace roofline {
namespace {

/// Sets the share of a loop of that length. False: it is too little, or does not recur.
bool matters(WorkBetweenSteps& work, std::int64_t least_times, double loop_s) {
  constexpr double kLeastShare = 0.1;
  if (work.times < least_times || !(loop_s > 0) || work.seconds < kLeastShare * loop_s) return false;
  work.share = work.seconds / loop_s;
  return true;
}

/// Gaps between steps, and the launches in them from lines that no step runs.
class BetweenSteps {
 public:
  BetweenSteps(const Recording& recording, const FoundSteps& found)
      : recording_(recording), process_(found.process), trace_(recording.traces[static_cast<std::size_t>(process_)]) {
    for (const Step& step : found.all) steps_.push_back(step.span);
    const Span loop = {steps_.front().start, steps_.back().end};
    gaps_ = uncovered({loop}, steps_);
    std::vector<Span> ours = counting_spans(recording, process_);
    const std::vector<Span> stops = profiler_spans(trace_);
    ours.insert(ours.end(), stops.begin(), stops.end());
    programs_ = uncovered(common({loop}, recorded(recording, process_)), covered(std::move(ours)));
  }

  std::optional<WorkBetweenSteps> find(double step_s) const {
    constexpr std::int64_t kAgain = 2;
    const std::set<spool::Id> of_steps = lines_of_steps();
    std::map<spool::Id, double> lines;
    std::set<std::size_t> with_work;
    for_launches([&](const Activity& activity) {
      const std::size_t gap = span_at(gaps_, activity.start);
      if (gap == gaps_.size()) return;
      const spool::Id line = recording_.place(activity).line;
      if (line == 0 || of_steps.contains(line)) return;
      ++lines[line];
      with_work.insert(gap);
    });
    WorkBetweenSteps work;
    work.times = static_cast<std::int64_t>(with_work.size());
    for (const std::size_t gap : with_work) {
      // A step that other work follows is not told from it.
      const double whole = seconds(total_length(parts_within(gaps_[gap], programs_)));
      work.seconds += std::max(0.0, whole - step_s);
    }
    if (!matters(work, kAgain, seconds(total_length(programs_)))) return std::nullopt;
    work.line = line_text(trace_, key_of_largest(lines));
    return work;
  }

 private:
  template <typename Use>
  void for_launches(Use&& use) const {
    for (const Activity& activity : recording_.activities) {
      if (activity.process == process_ && activity.what == ActivityKind::kernel) use(activity);
    }
  }

  std::set<spool::Id> lines_of_steps() const {
    std::set<spool::Id> lines;
    for_launches([&](const Activity& activity) {
      if (span_at(steps_, activity.start) < steps_.size()) lines.insert(recording_.place(activity).line);
    });
    return lines;
  }

  const Recording& recording_;
  int process_;
  const ProcessTrace& trace_;
  std::vector<Span> steps_, gaps_;
  std::vector<Span> programs_;  ///< time of the loop without the profiler's
};

/// What a thread does instead of launching, as its stack alone shows; `launched`: nothing of the kind.
BetweenWork host_work(const StackView& stack) {
  if (stack.saves_state()) return BetweenWork::saving;
  if (stack.compiles()) return BetweenWork::compiling;
  if (stack.starts_workers()) return BetweenWork::starting_workers;
  return BetweenWork::launched;
}

SavingCause cause_of(BetweenWork work) {
  if (work == BetweenWork::computing) return SavingCause::host_python;
  if (work == BetweenWork::saving) return SavingCause::host_native;
  return work == BetweenWork::compiling ? SavingCause::recompilation : SavingCause::data_loading;
}

CauseDetail detail_of(BetweenWork work, const StackView& stack) {
  if (work == BetweenWork::computing) return CauseDetail::none;
  if (work == BetweenWork::saving) return CauseDetail::saved_state;
  return work == BetweenWork::compiling ? stack.compiler() : CauseDetail::workers_started;
}

/// A kind of work of one thread. Compilation of different functions is not the same work again.
struct HostWork {
  std::vector<Span> spans;  ///< in order, disjoint
  std::map<std::string, double> lines;
  std::map<CauseDetail, double> details;
  double all_s = 0, for_gpu_s = 0;  ///< of samples; launches, or waits for the GPU
  double traced_s = 0;              ///< torch.compile traces a function, in the thread that calls it
  bool open = false;                ///< the thread's latest sample belongs to the last span

  void add(const HostSample& sample) {
    const Span span = span_of(sample);
    if (!open) spans.push_back(span);
    spans.back().end = span.end;
    open = true;
  }
};

/// Times of a program, without the profiler's.
struct ProgramTimes {
  std::vector<Span> all;
  std::vector<Span> loop;     ///< recorded, from the first step to the last
  std::vector<Span> steady;   ///< steps, of which it is known what they lose
  std::vector<Span> outside;  ///< `all` without them
  std::uint64_t first_step = 0, loop_end = 0;
  double step_s = 0;
};

/// Before there are steps: kernels are launched between both, as a program does that uses what it has compiled.
bool works_between(const Recording& recording, const Span& one, const Span& next) {
  constexpr std::ptrdiff_t kLeastLaunches = 50;
  std::ptrdiff_t launches = 0;
  for (const ProcessTrace& trace : recording.traces) {
    launches += std::ranges::count_if(trace.launches, [&](const spool::Launch& launch) {
      return launch.start >= one.end && launch.start < next.start;
    });
  }
  return launches >= kLeastLaunches;
}

/// The functions that run the steps of a Python program, and which of their lines do something else, such as an
/// evaluation on the host.
class LinesOfLoop {
 public:
  explicit LinesOfLoop(const ProgramTimes& times) : times_(times) {}

  void add(const HostSample& sample, const StackView& stack) {
    const bool in_step = span_at(times_.steady, sample.time) < times_.steady.size();
    if (!in_step && span_at(times_.loop, sample.time) == times_.loop.size()) return;
    const auto length = static_cast<double>(sample.seconds);
    if (in_step) in_steps_s_ += length;
    const auto [of_stack, is_new] = stacks_.try_emplace(sample.stack);
    if (is_new) {
      for (const HostPlace& place : stack.python_places()) {
        of_stack->second.emplace_back(&lines_[place.text()], &functions_[function_at(place)]);
      }
    }
    for (const auto& [line, most] : of_stack->second) {
      (in_step ? line->in_steps_s : line->outside_s) += length;
      if (in_step) *most = std::max(*most, line->in_steps_s);
    }
  }

  /// The outermost such line; empty: the stack has none.
  std::string besides_steps(const StackView& stack) const {
    constexpr double kRunsSteps = 0.5, kOfSteps = 0.2;
    const std::vector<HostPlace> places = stack.python_places();
    for (auto place = places.rbegin(); place != places.rend(); ++place) {
      const auto function = functions_.find(function_at(*place));
      if (function == functions_.end() || function->second < kRunsSteps * in_steps_s_) continue;
      std::string text = place->text();
      const auto line = lines_.find(text);
      if (line == lines_.end()) return text;
      const double seen = line->second.in_steps_s + line->second.outside_s;
      if (line->second.in_steps_s < kOfSteps * seen) return text;
    }
    return {};
  }

 private:
  struct OfLine {
    double in_steps_s = 0, outside_s = 0;
  };
  const ProgramTimes& times_;
  double in_steps_s_ = 0;
  std::map<std::string, OfLine> lines_;
  std::map<std::string, double> functions_;  ///< seconds in steps, of the line with most
  std::map<int, std::vector<std::pair<OfLine*, double*>>> stacks_;
};

/// What a stack says.
struct SeenWork {
  BetweenWork work = BetweenWork::launched;
  std::string function, line;  ///< `function`: what distinguishes this work from other work of its kind
  CauseDetail detail = CauseDetail::none;
  bool awaits_queue = false, dispatches = false, traces = false;

  SeenWork(const StackView& stack, const LinesOfLoop& loop)
      : work(host_work(stack)),
        awaits_queue(stack.awaits_queue()),
        dispatches(stack.dispatches()),
        traces(stack.traces_for_compiler()) {
    if (work == BetweenWork::launched) {
      function = loop.besides_steps(stack);
      if (function.empty()) return;
      work = BetweenWork::computing;
    }
    const HostPlace place = stack.place();
    if (work == BetweenWork::compiling) function = function_at(place);
    line = place.text();
    detail = detail_of(work, stack);
  }
};

class HostWorks {
 public:
  using Key = std::pair<BetweenWork, std::string>;  ///< with SeenWork::function

  void add(const HostSample& sample, const SeenWork& seen) {
    const Key key = {seen.work, seen.function};
    for (auto& [other, work] : works_) {
      if (other == key || !work.open) continue;
      // The first item comes once the workers have begun.
      if (other.first == BetweenWork::starting_workers && seen.awaits_queue) {
        work.add(sample);
      } else {
        work.open = false;
      }
    }
    if (seen.work == BetweenWork::launched) return;
    HostWork& work = works_[key];
    work.add(sample);
    const auto length = static_cast<double>(sample.seconds);
    work.lines[seen.line] += length;
    work.details[seen.detail] += length;
    work.all_s += length;
    if (seen.dispatches || sample.state == ThreadState::gpu) work.for_gpu_s += length;
    if (seen.traces) work.traced_s += length;
  }

  const std::map<Key, HostWork>& all() const { return works_; }

 private:
  std::map<Key, HostWork> works_;
};

/// True if the GPU goes on with its steps during most of such work that was recorded.
bool is_beside_steps(const std::vector<Span>& spans, const ProgramTimes& times) {
  constexpr double kMost = 0.5;
  double recorded_s = 0, beside_s = 0;
  for (const Span& span : spans) {
    recorded_s += seconds(total_length(parts_within(span, times.loop)));
    beside_s += seconds(total_length(parts_within(span, times.steady)));
  }
  return beside_s > kMost * recorded_s;
}

/// From one time of such work to the next, as often as steps run in between: a program that ends saves several things
/// in a row. The host is sampled for longer than the GPU is recorded, which often sees it once only. `begin`: of the
/// loop; before there are steps, launches tell that the program does its work in between.
WorkBetweenSteps recurring(const std::vector<Span>& spans, BetweenWork kind, const Recording& recording,
                           const ProgramTimes& times, std::uint64_t begin) {
  constexpr double kStepsBetween = 5, kSameCheckpoint = 0.1;  // seconds between parts of one
  const double same_s = kind == BetweenWork::saving ? kSameCheckpoint : 0;
  const double apart_s = std::max(same_s, kStepsBetween * times.step_s);
  const bool before_steps = begin < times.first_step;
  WorkBetweenSteps work;
  double loop_s = 0, group_s = 0;
  std::size_t first = 0;  // of those that are one time
  while (first < spans.size() && spans[first].start < begin) ++first;
  for (std::size_t i = first; i + 1 < spans.size(); ++i) {
    const Span &span = spans[i], &next = spans[i + 1];
    group_s += seconds(total_length(parts_within(span, times.outside)));
    if (seconds(next.start - span.end) < apart_s) continue;
    if (before_steps && !works_between(recording, span, next)) continue;
    loop_s += seconds(total_length(parts_within({spans[first].start, next.start}, times.all)));
    work.seconds += group_s;
    if (group_s > 0) ++work.times;
    first = i + 1;
    group_s = 0;
  }
  // Code that is compiled late belongs to the start-up, although some steps run before it.
  constexpr double kLeastPart = 0.5;
  const std::uint64_t end = std::max(times.loop_end, spans.empty() ? 0 : spans.back().start);
  if (loop_s < kLeastPart * seconds(total_length(parts_within({begin, end}, times.all)))) return {};
  constexpr std::int64_t kAgain = 2, kAgainBefore = 3;  // and the last one
  return matters(work, before_steps ? kAgainBefore : kAgain, loop_s) ? work : WorkBetweenSteps{};
}

/// A function that is compiled for each shape may have no steps that are alike before the last one.
WorkBetweenSteps recurring(const HostWork& of, BetweenWork kind, const Recording& recording,
                           const ProgramTimes& times) {
  constexpr double kMostlyTraced = 0.5;
  WorkBetweenSteps work = recurring(of.spans, kind, recording, times, times.first_step);
  if (work.times > 0 || kind != BetweenWork::compiling || of.traced_s < kMostlyTraced * of.all_s) return work;
  return recurring(of.spans, kind, recording, times, std::min(times.first_step, of.spans.front().end));
}

/// Threads of that process that launch, and its main thread, which may wait for them.
std::set<std::int64_t> launching_threads(const ProcessTrace& trace) {
  std::set<std::int64_t> threads = {trace.process.pid};
  for (const spool::Launch& launch : trace.launches) threads.insert(launch.thread);
  return threads;
}

ProgramTimes times_of(const Recording& recording, const FoundSteps& found, double step_s) {
  ProgramTimes times;
  times.all = uncovered({{recording.start, recording.end}}, covered(counting_spans(recording, found.process)));
  const Span loop = {found.all.front().span.start, found.all.back().span.end};
  times.loop = common(common({loop}, recorded(recording, found.process)), times.all);
  times.steady = found.steady();
  times.outside = uncovered(times.all, times.steady);
  times.first_step = loop.start;
  times.loop_end = loop.end;
  times.step_s = step_s;
  return times;
}

/// What keeps a thread of that process from launching: checkpoints, compilation, starts of workers, and other code of
/// the program.
std::optional<WorkBetweenSteps> host_work_between(const ProcessTrace& trace, const Recording& recording,
                                                  const ProgramTimes& times, const HostSamples& samples,
                                                  const std::vector<const HostSample*>& of_process) {
  const std::set<std::int64_t> launching = launching_threads(trace);
  std::vector<const HostSample*> of_threads;
  LinesOfLoop loop(times);
  for (const HostSample* sample : of_process) {
    if (!launching.contains(samples.threads[static_cast<std::size_t>(sample->thread)].tid)) continue;
    of_threads.push_back(sample);
    loop.add(*sample, StackView(samples, sample->stack));
  }
  std::map<int, HostWorks> threads;
  std::map<int, SeenWork> stacks;
  for (const HostSample* sample : of_threads) {
    const auto [seen, is_new] = stacks.try_emplace(sample->stack, StackView(samples, sample->stack), loop);
    threads[sample->thread].add(*sample, seen->second);
  }
  constexpr double kMostlyForGpu = 0.5;
  std::optional<WorkBetweenSteps> most;
  for (const auto& [thread, works] : threads) {
    for (const auto& [key, of] : works.all()) {
      const auto& [kind, function] = key;
      if (is_beside_steps(of.spans, times)) continue;
      WorkBetweenSteps work = recurring(of, kind, recording, times);
      if (work.times == 0 || (most && work.seconds <= most->seconds)) continue;
      work.line = key_of_largest(of.lines);
      if (kind != BetweenWork::computing || of.for_gpu_s < kMostlyForGpu * of.all_s) {
        work.work = kind;
        work.action = action_against(cause_of(kind), framework_of(recording), key_of_largest(of.details));
      }
      most = work;
    }
  }
  return most;
}

}  // namespace

std::optional<WorkBetweenSteps> work_between_steps(const Recording& recording, const FoundSteps& found,
                                                   const HostSamples& samples) {
  std::vector<double> lengths = steady_seconds(found.all);
  if (lengths.empty()) return std::nullopt;
  const double step_s = median(std::move(lengths));
  const std::optional<WorkBetweenSteps> launched = BetweenSteps(recording, found).find(step_s);
  const ProgramTimes times = times_of(recording, found, step_s);
  std::map<std::int64_t, std::vector<const HostSample*>> by_process;
  for (const HostSample& sample : samples.samples) {
    by_process[samples.threads[static_cast<std::size_t>(sample.thread)].pid].push_back(&sample);
  }
  std::optional<WorkBetweenSteps> host;
  for (const ProcessTrace& trace : recording.traces) {
    // One rank saves the state of all, which wait for it.
    const bool runs_steps = &trace == &recording.traces[static_cast<std::size_t>(found.process)] || trace.rank;
    if (!runs_steps) continue;
    std::optional<WorkBetweenSteps> work =
        host_work_between(trace, recording, times, samples, by_process[trace.process.pid]);
    if (work && (!host || work->share > host->share)) host = std::move(work);
  }
  return launched && (!host || launched->share >= host->share) ? launched : host;
}

}  // namespace roofline
