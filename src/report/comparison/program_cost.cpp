#include "report/comparison/program_cost.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "report/host_causes.hpp"
#include "report/profile_findings.hpp"

namespace roofline {
namespace {

double& part_of(std::array<double, kWallParts>& parts, WallPart part) {
  return parts.at(static_cast<std::size_t>(part));
}

void add_parts(ProgramCost& cost, const std::vector<Budget>& budgets) {
  cost.gpus = static_cast<std::int64_t>(budgets.size());
  for (const Budget& budget : budgets) {
    for (const WallShare& share : budget.shares) {
      part_of(cost.parts, share.part) += share.seconds / static_cast<double>(budgets.size());
    }
  }
  cost.mean.seconds = 0;
  for (const double part : cost.parts) cost.mean.seconds += part;
}

double idle_of(ProgramCost& cost) {
  return part_of(cost.parts, WallPart::launching) + part_of(cost.parts, WallPart::waiting) +
         part_of(cost.parts, WallPart::elsewhere) + part_of(cost.parts, WallPart::idle_unknown);
}

using CauseKey = std::tuple<SavingKind, std::optional<SavingCause>, std::string, std::string>;
CauseKey key_of(const CauseCost& cause) { return {cause.kind, cause.cause, cause.line, cause.kernel}; }

using HostCauseKey = std::pair<std::string, std::string>;
HostCauseKey key_of(const HostCauseCost& cause) { return {cause.id, cause.line}; }

/// Adds a `share` of `more` to the entry of the same cause.
template <class Cost, class Key>
void merge_cause(std::vector<Cost>& all, std::map<Key, std::size_t>& known, Cost more, double share) {
  more.seconds *= share;
  const auto [at, is_new] = known.try_emplace(key_of(more), all.size());
  if (is_new) {
    all.push_back(std::move(more));
  } else {
    all[at->second].seconds += more.seconds;
  }
}

/// The savings, and the idle time that they leave. `units` steps or runs on all GPUs are in the sums of the report.
void add_causes(ProgramCost& cost, const Report& report, double units) {
  std::map<CauseKey, std::size_t> known;
  double idle = 0;
  for (const Saving& saving : report.profile->savings) {
    CauseCost one{.kind = saving.kind, .cause = saving.cause, .line = saving.line, .what = saving.what};
    const auto row = static_cast<std::size_t>(saving.point);
    if (saving.point >= 0 && row < report.points.size()) one.kernel = report.points[row].workload.op;
    one.seconds = saving.seconds;
    if (saving.kind == SavingKind::idle) idle += saving.seconds / units;
    merge_cause(cost.causes, known, std::move(one), 1 / units);
  }
  cost.causes.push_back({.kind = SavingKind::idle, .seconds = idle_of(cost) - idle});
  // A profiler that slows the program too much leaves idle time unexplained.
  cost.has_causes = inflation(*report.profile).value_or(0) <= kMostInflation;
}

/// Groups by kernel function. A graph's time is in the rows of its kernels.
template <class Cost>
void add_kernels(ProgramCost& cost, const Report& report, Cost cost_of_row) {
  std::map<std::string, KernelCost> kernels;
  for (const Point& point : report.points) {
    if (!point.profiled || point.profiled->graph) continue;
    const std::optional<StepCost> of_row = cost_of_row(*point.profiled);
    if (!of_row) continue;
    KernelCost& kernel = kernels[point.workload.op];
    kernel.launches += of_row->launches / static_cast<double>(cost.gpus);
    kernel.seconds += of_row->seconds / static_cast<double>(cost.gpus);
  }
  for (auto& [name, kernel] : kernels) {
    kernel.name = name;
    cost.kernels.push_back(std::move(kernel));
  }
  const double kernel_time = part_of(cost.parts, WallPart::at_roof) + part_of(cost.parts, WallPart::beyond) +
                             part_of(cost.parts, WallPart::no_roof);
  cost.has_kernels = !cost.kernels.empty() || !(kernel_time > 0);
}

void add_step_times(ProgramCost& cost, const Steps& steps) {
  // Too few steps for an interval, or a file of an earlier version: nearly all that was seen.
  cost.of_percentiles = !steps.ci95.known();
  cost.typical = {steps.median_s, cost.of_percentiles ? Interval{steps.low_s, steps.high_s} : steps.ci95};
  cost.mean.ci95 = steps.mean_ci95;
  if (steps.untouched_s) cost.unrecorded = {*steps.untouched_s, steps.untouched_ci95};
  cost.slow_s = steps.high_s;
  for (const SlowStep& slow : steps.slow) {
    cost.slowest_s = std::isfinite(cost.slowest_s) ? std::max(cost.slowest_s, slow.seconds) : slow.seconds;
  }
  cost.start_up_s = steps.start_up_s;
  for (const StartUpShare& share : steps.start_up) {
    if (share.part == StartUpPart::counting) {
      cost.start_up_s = std::max(0.0, cost.start_up_s - share.seconds);
    } else {
      cost.start_up.at(static_cast<std::size_t>(share.part)) += share.seconds;
    }
  }
}

/// Mean of a figure that some runs may lack.
double mean_of_known(const std::vector<const ProgramCost*>& runs, double ProgramCost::*figure) {
  double sum = 0, known = 0;
  for (const ProgramCost* run : runs) {
    if (!std::isfinite(run->*figure)) continue;
    sum += run->*figure;
    known += 1;
  }
  return share_or_nan(sum, known);
}

}  // namespace

std::string_view to_string(CostUnit unit) { return unit == CostUnit::step ? "step" : "run"; }

std::optional<ProgramCost> step_cost_of(const Report& report) {
  if (!report.profile || !report.profile->steps || report.profile->steps->devices.empty()) return std::nullopt;
  const Steps& steps = *report.profile->steps;
  ProgramCost cost;
  cost.steps = steps.count;
  add_parts(cost, budgets(report));
  add_step_times(cost, steps);
  add_causes(cost, report, static_cast<double>(steps.count * cost.gpus));
  add_kernels(cost, report, [](const ProfiledKind& kind) { return kind.step; });
  return cost;
}

std::optional<ProgramCost> run_cost_of(const Report& report) {
  if (!report.profile || report.profile->devices.empty()) return std::nullopt;
  ProgramCost cost;
  add_parts(cost, run_budgets(report));
  cost.typical.seconds = part_of(cost.parts, WallPart::at_roof) + part_of(cost.parts, WallPart::beyond) +
                         part_of(cost.parts, WallPart::no_roof) + part_of(cost.parts, WallPart::copies);
  if (!report.profile->steps) add_causes(cost, report, static_cast<double>(cost.gpus));
  add_kernels(cost, report, [](const ProfiledKind& kind) {
    return std::optional(StepCost{static_cast<double>(kind.launches), kind.total_s});
  });
  return cost;
}

std::optional<ProgramCost> host_cost_of(const Report& report) {
  if (!report.profile) return std::nullopt;
  const Profile& profile = *report.profile;
  const double wall_s = profile.wall_s - profile.counting_s;
  // A file of another tool may have kernels without anything of the run.
  const bool kernels_only = !profile.host && profile.devices.empty() && !report.points.empty();
  if (!(wall_s > 0) || kernels_only) return std::nullopt;
  ProgramCost cost;
  cost.mean.seconds = wall_s;
  if (!profile.host) return cost;
  const HostProfile& host = *profile.host;
  cost.typical.seconds = host.usage.is_known() ? host.usage.cpu_s() : host.times.on_cpu();
  cost.sample_s = host.rate_hz > 0 ? 1 / host.rate_hz : 0;
  std::map<HostCauseKey, std::size_t> known;
  for (const HostCause& cause : host_causes(report)) {
    merge_cause(cost.host_causes, known, HostCauseCost{cause.id, cause.line, cause.text, cause.seconds}, 1);
  }
  std::map<std::string, double> functions;
  for (const HostFunctionSum& function : host.functions)
    functions[place_text(function.place)] += function.times.on_cpu();
  for (const auto& [name, seconds] : functions) {
    if (seconds > 0) cost.functions.push_back({name, seconds});
  }
  return cost;
}

ProgramCosts program_costs_of(const Report& report) {
  return {step_cost_of(report), run_cost_of(report), host_cost_of(report)};
}

ProgramCost mean_cost(const std::vector<const ProgramCost*>& runs) {
  if (runs.size() == 1) return *runs.front();
  const double share = 1 / static_cast<double>(runs.size());
  ProgramCost mean;
  std::map<CauseKey, std::size_t> known;
  std::map<std::string, KernelCost> kernels;
  std::map<HostCauseKey, std::size_t> known_host;
  std::map<std::string, double> functions;
  mean.gpus = runs.front()->gpus;
  mean.mean.seconds = 0;
  mean.has_causes = mean.has_kernels = true;
  for (const ProgramCost* run : runs) {
    mean.steps += run->steps;
    mean.has_causes = mean.has_causes && run->has_causes;
    mean.has_kernels = mean.has_kernels && run->has_kernels;
    mean.of_percentiles = mean.of_percentiles || run->of_percentiles;
    mean.mean.seconds += share * run->mean.seconds;
    for (std::size_t i = 0; i < kWallParts; ++i) mean.parts.at(i) += share * run->parts.at(i);
    for (std::size_t i = 0; i < kStartUpParts; ++i) mean.start_up.at(i) += share * run->start_up.at(i);
    for (const CauseCost& cause : run->causes) merge_cause(mean.causes, known, cause, share);
    for (const HostCauseCost& cause : run->host_causes) merge_cause(mean.host_causes, known_host, cause, share);
    for (const FunctionCost& function : run->functions) functions[function.name] += share * function.seconds;
    mean.sample_s = std::max(mean.sample_s, share * run->sample_s);
    for (const KernelCost& kernel : run->kernels) {
      KernelCost& sum = kernels[kernel.name];
      sum.name = kernel.name;
      sum.launches += share * kernel.launches;
      sum.seconds += share * kernel.seconds;
    }
  }
  for (auto& [name, kernel] : kernels) mean.kernels.push_back(std::move(kernel));
  for (const auto& [name, seconds] : functions) mean.functions.push_back({name, seconds});
  for (const auto figure : {&ProgramCost::slow_s, &ProgramCost::slowest_s, &ProgramCost::start_up_s}) {
    mean.*figure = mean_of_known(runs, figure);
  }
  return mean;
}

}  // namespace roofline
