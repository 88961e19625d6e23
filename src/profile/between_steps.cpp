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

/// A recording of a few seconds has one checkpoint, if any, but the host was sampled for longer.
std::optional<WorkBetweenSteps> checkpoints(const Recording& recording, const FoundSteps& found,
                                            const HostSamples& samples) {
  constexpr std::int64_t kAgain = 3;
  std::map<int, Checkpoints> threads;
  for (const HostSample& sample : samples.samples) {
    const StackView stack(samples, sample.stack);
    if (stack.saves_state()) threads[sample.thread].add(sample, stack);
  }
  if (threads.empty()) return std::nullopt;
  std::uint64_t end = found.all.back().span.end;
  for (const Activity& activity : recording.activities) end = std::max(end, std::min(activity.end, recording.end));
  const Span whole = {found.all.front().span.start, end};
  const std::vector<Span> loop = uncovered({whole}, covered(counting_spans(recording, found.process)));
  std::optional<WorkBetweenSteps> most;
  for (const auto& [thread, saved] : threads) {
    WorkBetweenSteps work;
    for (const Span& span : saved.spans) {
      const double in_loop = seconds(total_length(parts_within(span, loop)));
      work.times += in_loop > 0 ? 1 : 0;
      work.seconds += in_loop;
    }
    if (!matters(work, kAgain, seconds(total_length(loop))) || (most && work.seconds <= most->seconds)) continue;
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
  const std::optional<WorkBetweenSteps> launched = BetweenSteps(recording, found).find(median(std::move(lengths)));
  const std::optional<WorkBetweenSteps> saved = checkpoints(recording, found, samples);
  return launched && (!saved || launched->share >= saved->share) ? launched : saved;
}

}  // namespace roofline
