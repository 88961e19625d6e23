#include "profile/rank_savings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "model/find.hpp"
#include "profile/causes/kernel_names.hpp"
#include "profile/exposed_savings.hpp"
#include "profile/rows.hpp"
#include "profile/slow_steps.hpp"
#include "report/saving_order.hpp"
#include "sample/python_files.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

/// Minimum fraction of the time of all ranks for a finding on exposed communication.
constexpr double kLeastExposed = 0.05;

/// Maximum fraction of the steps for work that is not part of every step.
constexpr double kSeldom = 0.2;

std::string names_of(const Job& job, const std::vector<int>& ranks) {
  std::vector<int> numbers;
  numbers.reserve(ranks.size());
  for (const int rank : ranks) numbers.push_back(job.ranks[static_cast<std::size_t>(rank)].rank);
  std::sort(numbers.begin(), numbers.end());
  if (numbers.size() == 1) return fmt::format("Rank {} arrives", numbers.front());
  constexpr std::size_t kNamed = 4;
  const auto named = numbers.begin() + static_cast<std::ptrdiff_t>(std::min(kNamed, numbers.size()));
  const std::string more = numbers.size() > kNamed ? fmt::format(" and {} more", numbers.size() - kNamed) : "";
  return fmt::format("Ranks {}{} arrive", fmt::join(numbers.begin(), named, ", "), more);
}

class RankClaims {
 public:
  RankClaims(const Job& job, const RankSteps& steps, const CommunicationKinds& kinds, const Ranks& report,
             const RowTimes& rows, Framework framework)
      : job_(job), steps_(steps), kinds_(kinds), report_(report), framework_(framework) {
    count_ = static_cast<double>(std::max<std::size_t>(1, steps.step_s.size()));
    const auto rows_of = std::ranges::count_if(job.ranks, [](const JobRank& rank) { return rank.device >= 0; });
    share_ = static_cast<double>(rows_of) / static_cast<double>(job.ranks.size());
    std::set<int> groups;
    for (const RankTimeline& timeline : job.timelines) {
      for (const CollectiveKernel& kernel : timeline.collectives) groups.insert(kernel.group);
    }
    for (const auto& [where, time] : rows) {
      if (groups.contains(where.first)) rows_[where.first] += time.kernel_s;
    }
  }

  RankSavings savings(const std::optional<LateFinding>& late, const SmallMessages& small,
                      const std::optional<SlowLink>& slow) {
    if (late) add_late(*late);
    add_pipeline(late);
    add_uneven(late, small);
    add_small_messages(late, small);
    add_exposed(slow);
    const bool copies = late && late->cause.reason == LateReason::copies;
    return {std::move(claims_), copies ? late->late.late_s : 0};
  }

 private:
  double mean_of(double RankParts::*part) const {
    double sum = 0;
    for (const RankParts& of : steps_.parts) sum += of.*part;
    return sum / static_cast<double>(std::max<std::size_t>(1, steps_.parts.size()));
  }

  /// A claim on the time of the collectives' rows.
  void add(Saving saving, std::vector<std::pair<int, double>> kernels = {}) {
    saving.kind = SavingKind::communication;
    saving.seconds *= share_;
    SavingClaim claim{.saving = std::move(saving), .rows = {}, .kernels = std::move(kernels)};
    const double all =
        std::accumulate(rows_.begin(), rows_.end(), 0.0, [](double sum, const auto& row) { return sum + row.second; });
    for (const auto& [row, time] : rows_) claim.rows.emplace_back(row, claim.saving.seconds * time / all);
    claims_.push_back(std::move(claim));
  }

  /// Smallest number of steps that contain most of the lateness.
  std::int64_t fewest_steps(const LateRanks& late) const {
    constexpr double kMost = 0.8;
    std::vector<double> times(steps_.step_s.size(), 0);
    for (const int rank : late.ranks) {
      const std::vector<float>& of = steps_.late[static_cast<std::size_t>(rank)];
      for (std::size_t step = 0; step < of.size(); ++step) times[step] += of[step];
    }
    std::sort(times.begin(), times.end(), std::greater<>());
    const double all = std::accumulate(times.begin(), times.end(), 0.0);
    double sum = 0;
    std::int64_t few = 0;
    while (few < static_cast<std::int64_t>(times.size()) && sum < kMost * all)
      sum += times[static_cast<std::size_t>(few++)];
    return few;
  }

  void add_late(const LateFinding& finding) {
    const LateRanks& late = finding.late;
    const LateCause& cause = finding.cause;
    const int rank = job_.ranks[static_cast<std::size_t>(cause.rank)].rank;
    const int other = job_.ranks[static_cast<std::size_t>(cause.other)].rank;
    Saving saving;
    const bool unequal = cause.reason == LateReason::unequal_work || cause.reason == LateReason::more_launches;
    saving.cause = cause.reason == LateReason::slow_gpu ? SavingCause::slow_gpu
                   : unequal                            ? SavingCause::unequal_work
                                                        : SavingCause::late_rank;
    saving.seconds = late.waited_s;
    // Work of only a few steps can be postponed, or done by another thread.
    const std::int64_t few = fewest_steps(late);
    const bool seldom = static_cast<double>(few) <= kSeldom * count_;
    const std::int64_t in = seldom ? few : late.steps;
    const std::string in_steps = in == static_cast<std::int64_t>(steps_.step_s.size())
                                     ? "every step"
                                     : fmt::format("{} of {} steps", in, steps_.step_s.size());
    const double late_steps = seldom ? static_cast<double>(few) : count_;
    std::string reason;
    saving.action = action_against(saving.cause, framework_);
    if (cause.reason == LateReason::slow_gpu) {
      reason = fmt::format("The same kernels take {} as long on its GPU", factor(cause.slower));
    } else if (cause.reason == LateReason::unequal_work) {
      reason = fmt::format("Its kernels take {} per step, those of rank {} {}", duration(cause.compute_s / count_),
                           other, duration(cause.other_s / count_));
      saving.line = finding.line;
    } else if (cause.reason == LateReason::more_launches) {
      reason = fmt::format("It launches {} kernels per step, rank {} {}", count(std::llround(cause.launches / count_)),
                           other, count(std::llround(cause.other_launches / count_)));
      saving.line = finding.line;
    } else if (cause.reason == LateReason::copies) {
      const SavingCause copies = finding.pageable ? SavingCause::pageable_copy : SavingCause::copies;
      reason = what_is_lost(copies);
      saving.line = finding.line;
      saving.action = action_against(copies, framework_);
    } else if (finding.idle && finding.idle->cause != SavingCause::unknown_idle) {
      reason = what_is_lost(finding.idle->cause, finding.idle->detail);
      saving.line = finding.idle->line;
      const bool postpone = seldom && of_rare_work(finding.idle->cause) && finding.idle->detail == CauseDetail::none;
      saving.action = postpone ? action_against(SavingCause::slow_steps, framework_)
                               : action_against(finding.idle->cause, framework_, finding.idle->detail);
    }
    // A rank that gathers the results of the others, and works on them alone, is no stage.
    const bool stages = unequal && stages_wait_most() && !(finding.lone && finding.outside_model);
    if (finding.lone && !stages) {
      reason += "; no other rank runs this line";
      saving.action = action_against(saving.cause, framework_, CauseDetail::lone_work);
    }
    if (finding.cpus > 0) {
      const std::string fewer = fmt::format("It may run on {} CPU{}, rank {} on {}", finding.cpus,
                                            finding.cpus == 1 ? "" : "s", other, finding.other_cpus);
      reason = reason.empty() ? fewer : fewer + ". " + reason;
      saving.action = action_against(saving.cause, framework_, CauseDetail::fewer_cpus);
    }
    if (stages) {
      describe_stages(saving, finding);
    } else if (unequal && kinds_.waiting_s(spool::CollectiveKind::all_to_all) > 0.5 * steps_.waited_s()) {
      saving.action = action_against(saving.cause, framework_, CauseDetail::unequal_tokens);
    } else if (cause.reason == LateReason::unequal_work && finding.detail != CauseDetail::none) {
      saving.action = action_against(saving.cause, framework_, finding.detail);
    }
    saving.what += fmt::format("{} last in {}, {} after the others{}", names_of(job_, late.ranks), in_steps,
                               duration(late.late_s / late_steps), reason.empty() ? "" : ". " + reason);
    saving.evidence = fmt::format("{} of {} steps with waiting; the other ranks wait {} of a step", late.steps,
                                  late.waiting, percent(late.late_s / steps_.total_s()));
    if (cause.reason == LateReason::host) {
      saving.evidence += fmt::format("; kernels take {} per step on rank {}, {} on rank {}",
                                     duration(cause.compute_s / count_), rank, duration(cause.other_s / count_), other);
      if (finding.idle && !finding.idle->evidence.empty()) saving.evidence += "; " + finding.idle->evidence;
    } else if (cause.reason == LateReason::copies) {
      const auto copies_of = [this](int of) { return steps_.parts[static_cast<std::size_t>(of)].copies_s / count_; };
      saving.evidence += fmt::format("; copies take {} per step on rank {}, {} on rank {}",
                                     duration(copies_of(cause.rank)), rank, duration(copies_of(cause.other)), other);
    } else if (stages && !finding.more_lines.empty()) {
      saving.evidence += lines_of_stage(finding);
    } else {
      saving.evidence += time_of_line(finding);
      saving.evidence +=
          fmt::format("; {} launches per step on rank {}, {} on rank {}", count(std::llround(cause.launches / count_)),
                      rank, count(std::llround(cause.other_launches / count_)), other);
    }
    add(std::move(saving));
  }

  /// A stage of a pipeline that takes longer than the others. Equal stages would all take the mean of their times.
  void describe_stages(Saving& saving, const LateFinding& finding) const {
    const bool kernels = finding.cause.reason == LateReason::unequal_work;
    const CauseDetail detail = kernels ? CauseDetail::uneven_stages : CauseDetail::pipeline_stages;
    saving.action = action_against(SavingCause::uneven_ranks, framework_, detail);
    if (!kernels) return;
    const double longer = finding.cause.compute_s - mean_of(&RankParts::compute_s);
    saving.seconds = std::min(saving.seconds, std::max(0.0, longer) * static_cast<double>(job_.ranks.size()));
    saving.what = what_is_lost(SavingCause::uneven_ranks, detail) + ". ";
    if (saving.line.empty() && !finding.more_lines.empty()) saving.line = finding.more_lines.front().line;
  }

  /// "; rank 1 runs 80 ms more at model.py:55 forward, 40 ms at model.py:54 forward".
  std::string lines_of_stage(const LateFinding& finding) const {
    constexpr std::size_t kNamed = 3;
    std::vector<std::string> lines;
    for (const LineDifference& of : finding.more_lines) {
      if (lines.size() < kNamed) lines.push_back(fmt::format("{} at {}", duration(of.more() / count_), of.line));
    }
    return fmt::format("; more kernel time per step on rank {}: {}",
                       job_.ranks[static_cast<std::size_t>(finding.cause.rank)].rank, fmt::join(lines, ", "));
  }

  /// "; kernels of this line take 34 ms on rank 1, 6 ms on rank 0: 55 % of the difference"; empty: no line is known.
  std::string time_of_line(const LateFinding& finding) const {
    const auto found = std::ranges::find(finding.more_lines, finding.line, &LineDifference::line);
    if (finding.line.empty() || found == finding.more_lines.end()) return {};
    const auto rank_of = [&](int index) { return job_.ranks[static_cast<std::size_t>(index)].rank; };
    return fmt::format("; kernels of this line take {} on rank {}, {} on rank {}: {} of the difference",
                       duration(found->here / count_), rank_of(finding.cause.rank), duration(found->there / count_),
                       rank_of(finding.cause.other), percent(finding.line_share));
  }

  /// True if most waiting of ranks is that of pipeline stages for each other.
  bool stages_wait_most() const { return kinds_.stages_wait_s > 0.5 * (steps_.waited_s() + kinds_.stages_unmatched_s); }

  /// Waiting of pipeline stages that is for none in particular.
  void add_pipeline(const std::optional<LateFinding>& late) {
    constexpr double kLeast = 0.05;
    const auto ranks = static_cast<double>(job_.ranks.size());
    const double all = kinds_.stages_wait_s;
    const double waited = late && stages_wait_most() ? std::max(0.0, all - late->late.waited_s) : all;
    stages_s_ = waited;
    if (waited < kLeast * steps_.total_s() * ranks) return;
    Saving saving;
    saving.cause = SavingCause::uneven_ranks;
    saving.line = key_of_largest(kinds_.stage_lines);
    saving.seconds = waited;
    saving.what = what_is_lost(saving.cause, CauseDetail::pipeline_stages);
    saving.evidence = fmt::format(
        "in sends and receives, a rank waits {} per step ({}) on average for its peer; the transfer takes {} "
        "more",
        duration(waited / (count_ * ranks)), percent(waited / (steps_.total_s() * ranks)),
        duration(kinds_.stages_transfer_s / (count_ * ranks)));
    saving.action = action_against(saving.cause, framework_, CauseDetail::pipeline_stages);
    add(std::move(saving));
  }

  /// Waiting that is for no rank in particular.
  void add_uneven(const std::optional<LateFinding>& late, const SmallMessages& small) {
    constexpr double kLeast = 0.05;
    if (small.explain_waiting(steps_)) return;
    const double all = steps_.waited_s();
    const double waited = all - (late ? late->late.waited_s : 0) - std::max(0.0, stages_s_ - kinds_.stages_unmatched_s);
    double lateness = steps_.late_s() - (late ? late->late.late_s : 0);
    if (all > 0) lateness = std::min(lateness, steps_.late_s() * std::max(0.0, waited) / all);
    if (lateness < kLeast * steps_.total_s()) return;
    // Hosts that launch at different times are slow in other ways, which are causes of their own.
    const bool of_hosts = steps_.late_by_compute_s < 0.5 * steps_.late_s();
    Saving saving;
    saving.cause = of_hosts ? SavingCause::uneven_hosts : SavingCause::uneven_ranks;
    saving.line = kinds_.line_of_waiting();
    saving.seconds = waited;
    saving.what = what_is_lost(saving.cause);
    saving.evidence = fmt::format("{} per step, {}, waiting for ranks that take turns arriving last{}",
                                  duration(lateness / count_), percent(lateness / steps_.total_s()), largest_waits());
    const bool repeated = !of_hosts && meet_too_often();
    if (repeated) {
      saving.seconds = std::max(0.0, waited - steps_.unequal_s);
      saving.evidence += fmt::format("; kernels of a step differ by {} between the ranks",
                                     duration(steps_.unequal_s / (count_ * static_cast<double>(job_.ranks.size()))));
    }
    saving.action =
        action_against(saving.cause, framework_, repeated ? CauseDetail::repeated_meetings : CauseDetail::none);
    add(std::move(saving));
  }

  /// True if most waiting is in small collectives that the program calls several times per step, and ranks that meet
  /// once per step would hardly wait, because the kernels of their steps take equally long.
  bool meet_too_often() const {
    constexpr double kMost = 0.6, kLittle = 0.3;
    return kinds_.micro_batches <= 1 && kinds_.repeated_wait_s >= kMost * kinds_.waiting_s() &&
           steps_.unequal_s <= kLittle * steps_.waited_s();
  }

  /// "; 88.4 % of it in all_reduce of 8 B, 8 times per step"; the two with most waiting, if they have much of it.
  std::string largest_waits() const {
    constexpr double kMuch = 0.2;
    constexpr std::size_t kNamed = 2;
    const double all = kinds_.waiting_s() / (count_ * static_cast<double>(job_.ranks.size()));
    std::vector<const CollectiveSum*> order;
    for (const CollectiveSum& sum : report_.collectives) {
      if (sum.waiting_s >= kMuch * all) order.push_back(&sum);
    }
    std::ranges::stable_sort(order, [](const auto* a, const auto* b) { return a->waiting_s > b->waiting_s; });
    if (order.size() > kNamed) order.resize(kNamed);
    std::string text;
    for (const CollectiveSum* sum : order) {
      const std::string bytes = sum->bytes > 0 ? " of " + binary_bytes(sum->bytes) : "";
      text += fmt::format("; {} of it in {}{}, {} times per step", percent(std::min(1.0, sum->waiting_s / all)),
                          sum->name, bytes, number(sum->calls, 3));
    }
    return text;
  }

  void add_small_messages(const std::optional<LateFinding>& late, const SmallMessages& small) {
    const CauseDetail detail = small.mergeable       ? CauseDetail::none
                               : small.of_batch_norm ? CauseDetail::batch_norm_messages
                                                     : CauseDetail::dependent_messages;
    const double waited = !late && small.explain_waiting(steps_) ? small.waited_s : 0;
    const double saved = small.exposed_s - small.at_roof_s + waited;
    const double per_step = small.calls / (count_ * static_cast<double>(job_.ranks.size()));
    if (!small.many || saved < kLeastExposed * steps_.total_s() * static_cast<double>(job_.ranks.size())) {
      return;
    }
    Saving saving;
    saving.cause = SavingCause::small_messages;
    saving.line = key_of_largest(small.lines);
    saving.seconds = saved;
    saving.what = fmt::format("{} small collectives per step, {}", count(std::llround(per_step)),
                              small.mergeable ? "one after the other" : "each between kernels that need it");
    saving.evidence = fmt::format("{} and {} each, on average, without overlap",
                                  binary_bytes(small.bytes / small.calls), duration(small.exposed_s / small.calls));
    if (waited > 0) {
      saving.evidence += fmt::format("; in them a rank waits {} per step for the others",
                                     duration(waited / (count_ * static_cast<double>(job_.ranks.size()))));
    }
    saving.action = action_against(saving.cause, framework_, detail);
    small_s_ = (saved - waited) / static_cast<double>(job_.ranks.size());
    add(std::move(saving));
  }

  void add_exposed(const std::optional<SlowLink>& slow) {
    for (SavingClaim& claim : exposed_savings(job_, steps_, kinds_, slow, report_, small_s_, framework_)) {
      add(std::move(claim.saving), std::move(claim.kernels));
    }
  }

  const Job& job_;
  const RankSteps& steps_;
  const CommunicationKinds& kinds_;
  const Ranks& report_;
  Framework framework_;
  double count_ = 1;
  double share_ = 1;            ///< of the ranks: those whose rows there are
  double small_s_ = 0;          ///< of a rank in all steps, claimed for small messages
  double stages_s_ = 0;         ///< of all ranks in all steps, of a pipeline
  std::map<int, double> rows_;  ///< seconds of collectives by group
  std::vector<SavingClaim> claims_;
};

/// The groups of launches with collectives of one element, as a barrier is.
std::set<int> groups_of_barriers(const Recording& recording) {
  constexpr std::uint64_t kOneElement = 16;  // bytes
  std::vector<std::set<std::uint32_t>> small;
  for (const ProcessTrace& trace : recording.traces) {
    auto& of_process = small.emplace_back();
    for (const spool::Collective& collective : trace.collectives) {
      if (collective.bytes <= kOneElement) of_process.insert(collective.correlation);
    }
  }
  std::set<int> groups;
  for (const Activity& activity : recording.activities) {
    const bool launched = activity.launch != nullptr && activity.launch->correlation != 0;
    if (launched && small[static_cast<std::size_t>(activity.process)].contains(activity.launch->correlation)) {
      groups.insert(activity.group);
    }
  }
  return groups;
}

/// Lines that launch such collectives, or any whose bytes are not known; not through autograd, which launches them in
/// all of a backward pass.
std::set<std::string> barrier_lines(const Recording& recording) {
  std::set<std::string> lines;
  const std::set<int> of_barriers = groups_of_barriers(recording);
  for (std::size_t i = 0; i < recording.groups.size(); ++i) {
    const LaunchGroup& group = recording.groups[i];
    const bool known = !recording.traces[static_cast<std::size_t>(group.process)].collectives.empty();
    if (known && !of_barriers.contains(static_cast<int>(i))) continue;
    if (!is_collective(group.symbol)) continue;
    const ProcessTrace& trace = recording.traces[static_cast<std::size_t>(group.process)];
    const spool::Place& place = trace.place(group.kind.place);
    if (place.backward == 0) lines.insert(line_text(trace, place.line));
  }
  lines.erase("");
  return lines;
}

}  // namespace

RankSavings rank_savings(const Job& job, const RankSteps& steps, const std::optional<LateFinding>& late,
                         const SmallMessages& small, const CommunicationKinds& kinds,
                         const std::optional<SlowLink>& slow, const Ranks& report, const RowTimes& rows,
                         Framework framework) {
  return RankClaims(job, steps, kinds, report, rows, framework).savings(late, small, slow);
}

void name_hooks(std::vector<IdlePart>& parts, const Recording& recording) {
  std::map<std::string, std::string> hooks;  // their lines, and those of the backward pass
  for (const LaunchGroup& group : recording.groups) {
    const auto process = static_cast<std::size_t>(group.process);
    const ProcessTrace& trace = recording.traces[process];
    const spool::Id line = trace.place(group.kind.place).line;
    if (!is_communication_hook(trace.text(trace.line(line).file))) continue;
    hooks[line_text(trace, line)] = process < recording.backward_lines.size() ? recording.backward_lines[process] : "";
  }
  for (IdlePart& part : parts) {
    const auto hook = hooks.find(part.line);
    const bool launching = of_launching(part.cause) || part.cause == SavingCause::host_python;
    if (hook == hooks.end() || !launching) continue;
    part.cause = SavingCause::communication_hook;
    part.detail = CauseDetail::none;
    part.evidence += "; the next kernel is mostly one of " + hook->first;
    if (!hook->second.empty()) part.line = hook->second;
  }
}

void name_barriers(std::vector<IdlePart>& parts, const Recording& recording) {
  const std::set<std::string> lines = barrier_lines(recording);
  for (IdlePart& part : parts) {
    if (part.cause == SavingCause::synchronize && lines.contains(part.line)) part.cause = SavingCause::barrier;
  }
}

}  // namespace roofline
