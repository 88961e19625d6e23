#include "profile/between_steps.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "measure/statistics.hpp"
#include "model/find.hpp"
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
    WorkBetweenSteps work = {.times = static_cast<std::int64_t>(with_work.size()), .line = {}};
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

}  // namespace

std::optional<WorkBetweenSteps> work_between_steps(const Recording& recording, const FoundSteps& found) {
  std::vector<double> lengths = steady_seconds(found.all);
  if (lengths.empty()) return std::nullopt;
  return BetweenSteps(recording, found).find(median(std::move(lengths)));
}

}  // namespace roofline
