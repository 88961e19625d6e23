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
    constexpr double kLeastShare = 0.1;
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
    const double loop_s = seconds(total_length(programs_));
    if (work.times < kAgain || !(loop_s > 0) || work.seconds < kLeastShare * loop_s) return std::nullopt;
    work.share = work.seconds / loop_s;
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

/// Checkpoints of one thread: a recording of a few seconds has one of them, if any, but the host was sampled for
/// longer.
class Checkpoints {
 public:
  Checkpoints(const HostSamples& samples, int thread) : samples_(samples) {
    for (std::size_t i = 0; i < samples.samples.size(); ++i) {
      const HostSample& sample = samples.samples[i];
      if (sample.thread == thread) add(sample);
    }
  }

  /// `loop`: the program's own time from its first step on.
  std::optional<WorkBetweenSteps> within(const std::vector<Span>& loop) const {
    constexpr std::int64_t kAgain = 3;
    constexpr double kLeastShare = 0.1;
    WorkBetweenSteps work;
    for (const Span& span : spans_) {
      const double seconds_of = seconds(total_length(parts_within(span, loop)));
      work.times += seconds_of > 0 ? 1 : 0;
      work.seconds += seconds_of;
    }
    const double loop_s = seconds(total_length(loop));
    if (work.times < kAgain || !(loop_s > 0) || work.seconds < kLeastShare * loop_s) return std::nullopt;
    work.share = work.seconds / loop_s;
    work.line = key_of_largest(lines_);
    return work;
  }

 private:
  void add(const HostSample& sample) {
    constexpr std::uint64_t kSame = 100'000'000;  // ns: between two samples of one checkpoint
    const StackView stack(samples_, sample.stack);
    if (!stack.saves_state()) return;
    ++lines_[stack.place().text()];
    const auto length = static_cast<std::uint64_t>(sample.seconds * 1e9F);
    const std::uint64_t begin = sample.time - std::min(sample.time, length);
    if (spans_.empty() || begin > spans_.back().end + kSame) spans_.push_back({begin, begin});
    spans_.back().end = sample.time;
  }

  const HostSamples& samples_;
  std::vector<Span> spans_;
  std::map<std::string, std::int64_t> lines_;
};

std::optional<WorkBetweenSteps> checkpoints(const Recording& recording, const FoundSteps& found,
                                            const HostSamples& samples) {
  std::uint64_t end = found.all.back().span.end;
  for (const Activity& activity : recording.activities) end = std::max(end, std::min(activity.end, recording.end));
  const Span whole = {found.all.front().span.start, end};
  const std::vector<Span> loop = uncovered({whole}, covered(counting_spans(recording, found.process)));
  std::set<int> threads;
  for (const HostSample& sample : samples.samples) {
    if (StackView(samples, sample.stack).saves_state()) threads.insert(sample.thread);
  }
  std::optional<WorkBetweenSteps> most;
  for (const int thread : threads) {
    const std::optional<WorkBetweenSteps> work = Checkpoints(samples, thread).within(loop);
    if (work && (!most || work->seconds > most->seconds)) most = work;
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
