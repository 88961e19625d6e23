// The parts of a bar are compared as they are; causes and kernels are matched first (match_costs.cpp).
#include "report/comparison/program_change.hpp"

#include <algorithm>
#include <array>

#include "measure/repeated_ratio.hpp"
#include "report/comparison/match_costs.hpp"

namespace roofline {
namespace {

using CostOf = std::optional<ProgramCost> ProgramCosts::*;
using Costs = std::vector<const ProgramCost*>;

bool all_have(const std::vector<ProgramCosts>& runs, CostOf unit) {
  return !runs.empty() &&
         std::all_of(runs.begin(), runs.end(), [&](const ProgramCosts& run) { return (run.*unit).has_value(); });
}

Costs costs_of(const std::vector<ProgramCosts>& runs, CostOf unit) {
  Costs costs;
  for (const ProgramCosts& run : runs) costs.push_back(&*(run.*unit));
  return costs;
}

using TimeOf = CostTime ProgramCost::*;

bool all_timed(const Costs& costs, TimeOf time) {
  return std::all_of(costs.begin(), costs.end(), [&](const ProgramCost* cost) { return (cost->*time).seconds > 0; });
}

std::vector<Repetition> repetitions_of_time(const Costs& costs, TimeOf time) {
  std::vector<Repetition> all;
  for (const ProgramCost* cost : costs) all.push_back(repetition_of((cost->*time).seconds, (cost->*time).ci95));
  return all;
}

/// The geometric mean of several runs, with its interval.
CostTime pooled_time(const Costs& costs, TimeOf time) {
  if (costs.size() == 1) return costs.front()->*time;
  const RepeatedRatio mean = ratio_of_rounds(repetitions_of_time(costs, time));
  return {mean.ratio(), mean.interval(0.95)};
}

/// With one run per side: different if the intervals are disjoint and the difference exceeds run-to-run differences of
/// one program; same if the interval excludes the limit.
Change judge_one_run(const TimeChange& time, double max_slowdown) {
  if (!time.ratio_ci95.known()) return Change::undecided;
  const double threshold = std::min(kRunToRun, max_slowdown);
  if (time.ratio > 1 + threshold && time.ratio_ci95.low > 1) return Change::slower;
  if (time.ratio < 1 / (1 + threshold) && time.ratio_ci95.high < 1) return Change::faster;
  const bool within = time.ratio_ci95.low > 1 / (1 + max_slowdown) && time.ratio_ci95.high < 1 + max_slowdown;
  return within ? Change::same : Change::undecided;
}

TimeChange time_change(const Costs& before, const Costs& now, TimeOf time, double max_slowdown) {
  TimeChange change;
  if (!all_timed(before, time) || !all_timed(now, time)) return change;
  change.before = pooled_time(before, time);
  change.now = pooled_time(now, time);
  change.ratio = change.now.seconds / change.before.seconds;
  if (before.size() + now.size() == 2) {
    change.ratio_ci95 = quotient(change.now.ci95, change.before.ci95);
    change.change = judge_one_run(change, max_slowdown);
    return change;
  }
  const RepeatedRatio ratio = ratio_of_runs(repetitions_of_time(before, time), repetitions_of_time(now, time));
  change.basis = RatioBasis::runs;
  change.ratio_ci95 = ratio.interval(0.95);
  change.change = decide(ratio, {.threshold = max_slowdown, .rows = 1});
  return change;
}

bool has_regressed(const TimeChange& time, double max_slowdown) {
  if (time.basis != RatioBasis::one_run) return time.change == Change::slower;
  return time.ratio > 1 + max_slowdown && time.ratio_ci95.low > 1;
}

std::vector<PartChange> part_changes(const ProgramCost& before, const ProgramCost& now) {
  std::vector<PartChange> parts;
  for (std::size_t i = 0; i < kWallParts; ++i) {
    const PartChange part = {static_cast<WallPart>(i), before.parts.at(i), now.parts.at(i)};
    if (part.before_s > 0 || part.now_s > 0) parts.push_back(part);
  }
  return parts;
}

std::vector<StartUpChange> start_up_changes(const ProgramCost& before, const ProgramCost& now) {
  std::vector<StartUpChange> parts;
  for (std::size_t i = 0; i < kStartUpParts; ++i) {
    const StartUpChange part = {static_cast<StartUpPart>(i), before.start_up.at(i), now.start_up.at(i)};
    if (part.before_s > 0 || part.now_s > 0) parts.push_back(part);
  }
  return parts;
}

}  // namespace

std::string_view to_string(CostChange change) {
  static constexpr std::array<std::string_view, 5> kWords = {"same", "smaller", "larger", "gone", "new"};
  return kWords.at(static_cast<std::size_t>(change));
}

bool ProgramChange::is_regression() const {
  const bool slower_mean = has_regressed(mean, max_slowdown);
  return of_host ? slower_mean : unit == CostUnit::step && (has_regressed(typical, max_slowdown) || slower_mean);
}

double ProgramChange::visible_s() const { return kVisibleShare * std::max(before.mean.seconds, now.mean.seconds); }

const TimeChange& ProgramChange::deciding() const {
  if (of_host) return mean;
  return !has_regressed(typical, max_slowdown) && has_regressed(mean, max_slowdown) ? mean : typical;
}

namespace {

/// Sets the sides and their times.
void compare_times(ProgramChange& change, const std::vector<ProgramCosts>& before, const std::vector<ProgramCosts>& now,
                   CostOf unit) {
  const Costs then = costs_of(before, unit), today = costs_of(now, unit);
  change.before = mean_cost(then);
  change.now = mean_cost(today);
  change.unrecorded = all_timed(then, &ProgramCost::unrecorded) && all_timed(today, &ProgramCost::unrecorded);
  const TimeOf typical = change.unrecorded ? &ProgramCost::unrecorded : &ProgramCost::typical;
  change.typical = time_change(then, today, typical, change.max_slowdown);
  change.mean = time_change(then, today, &ProgramCost::mean, change.max_slowdown);
}

ProgramChange host_change(const std::vector<ProgramCosts>& before, const std::vector<ProgramCosts>& now,
                          double max_slowdown) {
  ProgramChange change{.unit = CostUnit::run, .of_host = true, .no_steps_before = true, .no_steps_now = true};
  change.max_slowdown = max_slowdown;
  compare_times(change, before, now, &ProgramCosts::host);
  change.host_causes = match_host_causes(change.before, change.now, change.visible_s());
  change.functions = match_functions(change.before, change.now, change.visible_s());
  return change;
}

}  // namespace

std::optional<ProgramChange> program_change(const std::vector<ProgramCosts>& before,
                                            const std::vector<ProgramCosts>& now, double max_slowdown) {
  if (!all_have(before, &ProgramCosts::run) || !all_have(now, &ProgramCosts::run)) {
    if (!all_have(before, &ProgramCosts::host) || !all_have(now, &ProgramCosts::host)) return std::nullopt;
    return host_change(before, now, max_slowdown);
  }
  ProgramChange change;
  change.max_slowdown = max_slowdown;
  change.no_steps_before = !all_have(before, &ProgramCosts::step);
  change.no_steps_now = !all_have(now, &ProgramCosts::step);
  change.unit = change.no_steps_before || change.no_steps_now ? CostUnit::run : CostUnit::step;
  compare_times(change, before, now, change.unit == CostUnit::step ? &ProgramCosts::step : &ProgramCosts::run);
  change.parts = part_changes(change.before, change.now);
  if (change.before.has_causes && change.now.has_causes)
    change.causes = match_causes(change.before, change.now, change.visible_s());
  if (change.before.has_kernels && change.now.has_kernels) {
    change.kernels = match_kernels(change.before, change.now, change.visible_s());
  }
  if (change.unit == CostUnit::step) change.start_up = start_up_changes(change.before, change.now);
  return change;
}

}  // namespace roofline
