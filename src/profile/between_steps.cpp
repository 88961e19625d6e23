#include "profile/between_steps.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "measure/statistics.hpp"
#include "model/find.hpp"
#include "profile/actions.hpp"
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

/// Checkpoints of one thread.
struct Checkpoints {
  std::vector<Span> spans;
  std::map<std::string, std::int64_t> lines;  ///< samples of each

  void add(const HostSample& sample, const StackView& stack) {
    constexpr std::uint64_t kSame = 100'000'000;  // ns: between two samples of one checkpoint
    ++lines[stack.place().text()];
    const auto length = static_cast<std::uint64_t>(sample.seconds * 1e9F);
    const std::uint64_t begin = sample.time - std::min(sample.time, length);
    if (spans.empty() || begin > spans.back().end + kSame) spans.push_back({begin, begin});
    spans.back().end = sample.time;
  }
};

/// From one checkpoint to the next, as often as steps run in between: a program that ends saves several things in a
/// row. The host is sampled for longer than the GPU is recorded, which often sees one checkpoint only.
WorkBetweenSteps recurring(const std::vector<Span>& spans, std::uint64_t first_step, double step_s,
                           const std::vector<Span>& programs) {
  constexpr double kStepsBetween = 5;
  WorkBetweenSteps work;
  double loop_s = 0;
  for (std::size_t i = 0; i + 1 < spans.size(); ++i) {
    const Span &span = spans[i], &next = spans[i + 1];
    if (span.start < first_step || seconds(next.start - span.end) < kStepsBetween * step_s) continue;
    ++work.times;
    work.seconds += seconds(total_length(parts_within(span, programs)));
    loop_s += seconds(total_length(parts_within({span.start, next.start}, programs)));
  }
  constexpr std::int64_t kAgain = 2;  // and the last one
  return matters(work, kAgain, loop_s) ? work : WorkBetweenSteps{};
}

std::optional<WorkBetweenSteps> checkpoints(const Recording& recording, const FoundSteps& found,
                                            const HostSamples& samples, double step_s) {
  std::map<int, Checkpoints> threads;
  for (const HostSample& sample : samples.samples) {
    const StackView stack(samples, sample.stack);
    if (stack.saves_state()) threads[sample.thread].add(sample, stack);
  }
  const std::vector<Span> programs =
      uncovered({{recording.start, recording.end}}, covered(counting_spans(recording, found.process)));
  std::optional<WorkBetweenSteps> most;
  for (const auto& [thread, saved] : threads) {
    WorkBetweenSteps work = recurring(saved.spans, found.all.front().span.start, step_s, programs);
    if (work.times == 0 || (most && work.seconds <= most->seconds)) continue;
    work.line = key_of_largest(saved.lines);
    most = work;
  }
  if (most) most->action = action_against(SavingCause::host_native, framework_of(recording), CauseDetail::saved_state);
  return most;
}

}  // namespace

std::optional<WorkBetweenSteps> work_between_steps(const Recording& recording, const FoundSteps& found,
                                                   const HostSamples& samples) {
  std::vector<double> lengths = steady_seconds(found.all);
  if (lengths.empty()) return std::nullopt;
  const double step_s = median(std::move(lengths));
  const std::optional<WorkBetweenSteps> launched = BetweenSteps(recording, found).find(step_s);
  const std::optional<WorkBetweenSteps> saved = checkpoints(recording, found, samples, step_s);
  return launched && (!saved || launched->share >= saved->share) ? launched : saved;
}

}  // namespace roofline
