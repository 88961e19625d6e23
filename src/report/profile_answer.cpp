#include "report/profile_answer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/cpu_findings.hpp"
#include "report/profile_findings.hpp"
#include "report/rank_findings.hpp"
#include "report/roofs.hpp"
#include "report/step_findings.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

std::string suite_answer(const Report& report) {
  const std::vector<Budget> all = budgets(report);
  if (all.empty()) return "No kernel was timed.";
  const auto kernels = std::count_if(report.points.begin(), report.points.end(), [](const Point& point) {
    return point.status == PointStatus::ok && point.time.has_value();
  });
  const Budget& budget = all.front();
  const std::string takes = kernels == 1 ? fmt::format("The kernel takes {}", budget.text(budget.steps))
                                         : fmt::format("The {} kernels take {} for one launch each", count(kernels),
                                                       budget.text(budget.steps));
  if (!budget.has_roof()) return takes + ". No roof is known for any of them.";
  return fmt::format("{}. At {} of this machine {} would take {}.", takes, kernels == 1 ? "the roof" : "the roofs",
                     kernels == 1 ? "it" : "they", budget.text(budget.steps_of(WallPart::at_roof)));
}

}  // namespace

bool has_wall_time(const Report& report) {
  return report.points.empty() || std::any_of(report.points.begin(), report.points.end(), [](const Point& point) {
           return !point.profiled || point.profiled->time_source == TimeSource::traced;
         });
}

std::string answer(const Report& report) {
  if (!report.profile) return suite_answer(report);
  const Profile& profile = *report.profile;
  if (profile.ranks && profile.ranks->whole_run) {
    const std::string wall = profile.wall_s > 0 ? duration(profile.wall_s) + " of wall time. " : "";
    return wall + scaling_text(report);
  }
  if (is_of_host(report)) return host_answer(*profile.host);
  if (is_of_cpu(report)) return cpu_answer(report);
  if (profile.steps) return step_answer(report);
  const auto budget = whole_budget(report);
  if (!budget && !report.points.empty()) {
    return counted_noun(static_cast<std::int64_t>(report.points.size()), "kernel was", "kernels were") +
           " recorded without a time.";
  }
  if (!budget && !(profile.wall_s > 0) && !report.machine.ceilings.empty()) {
    return "Roofs of a machine; no program was recorded.";
  }
  if (!budget) return fmt::format("{} of wall time; no GPU was used.", duration(profile.wall_s));
  // Only imports have rows of a CPU without samples of the host.
  const bool cpu = report.machine.device.kind == DeviceKind::cpu && !report.machine.device.name.empty();
  const bool several = profile.devices.size() > 1;
  const std::string gpus = several ? "the GPUs" : cpu ? "this CPU" : "this GPU";
  const std::string roofs =
      has_unmeasured_roofs(report) ? "At data-sheet peak (not measured here)" : "At the measured roofs of " + gpus;
  const auto text_of = [&budget](WallPart part) {
    const auto share = std::find_if(budget->shares.begin(), budget->shares.end(),
                                    [part](const WallShare& of) { return of.part == part; });
    return share == budget->shares.end() ? budget->text(std::int64_t{0}) : budget->text(*share);
  };
  const std::string known =
      budget->has_roof() ? fmt::format("; {} of that has a known roof", percent(budget->roofed_share())) : "";
  const std::string at_roofs =
      fmt::format("{} {} would take {}.", roofs, kernels_with_roofs(*budget, "the"), text_of(WallPart::at_roof));
  if (!has_wall_time(report)) {
    const std::string all = duration(profile.kernel_s);
    if (!budget->mostly_roofed()) {
      return fmt::format("The kernels take {} in total (no timeline was recorded{}).", all, known);
    }
    return fmt::format("The kernels take {} in total (no timeline was recorded). {}", all, at_roofs);
  }
  const std::string wall = several ? fmt::format("{} of wall time on {} GPUs, {} together", duration(profile.wall_s),
                                                 profile.devices.size(), budget->text(budget->steps))
                                   : fmt::format("{} of wall time", budget->text(budget->steps));
  if (budget->mostly_roofed()) return fmt::format("{}. {}", wall, at_roofs);
  if (report.points.empty()) return wall + "; no kernel was recorded.";
  WallShare kernels{.part = WallPart::no_roof};
  for (const WallPart part : {WallPart::at_roof, WallPart::beyond, WallPart::no_roof}) {
    kernels.seconds += budget->seconds(part);
    kernels.steps += budget->steps_of(part);
  }
  return fmt::format("{}. {} ran kernels for {} of it ({}{}).", wall,
                     several ? "The GPUs"
                     : cpu   ? "The CPU"
                             : "The GPU",
                     budget->text(kernels), percent(kernels.seconds / budget->wall_s), known);
}

std::string kernels_with_roofs(const Budget& budget, std::string_view whose) {
  constexpr double kNearlyAll = 0.95;
  const double roofed = budget.roofed_share();
  return roofed >= kNearlyAll ? fmt::format("{} kernels", whose)
                              : fmt::format("the {} of {} kernel time with a known roof", percent(roofed), whose);
}

std::string time_above_roofs(const Report& report) {
  const auto budget = whole_budget(report);
  if (!budget) return {};
  const WallPart stated = budget->mostly_roofed() ? WallPart::at_roof : WallPart::no_roof;
  std::vector<WallShare> rest;
  for (const WallShare& share : budget->shares)
    if (share.part != stated) rest.push_back(share);
  if (rest.empty()) return {};
  std::stable_sort(rest.begin(), rest.end(),
                   [](const WallShare& a, const WallShare& b) { return a.seconds > b.seconds; });
  std::vector<std::string> parts;
  for (const WallShare& share : rest) parts.push_back(fmt::format("{} {}", budget->text(share), name_of(share.part)));
  const std::size_t gpus = budgets(report).size();
  return fmt::format("The other {} of {}{}: {}.", budget->text(budget->steps - budget->steps_of(stated)),
                     budget->text(budget->steps), gpus > 1 ? fmt::format(" on {} GPUs together", gpus) : "",
                     fmt::join(parts, "; "));
}

}  // namespace roofline
