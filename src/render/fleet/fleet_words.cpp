// Phrases about a fleet that all renderers share.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "model/find.hpp"
#include "render/fleet/fleet_render.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

std::string counted(std::size_t number, const char* what) {
  return fmt::format("{} {}{}", count(static_cast<std::int64_t>(number)), what, number == 1 ? "" : "s");
}

}  // namespace

std::string fleet_headline(const Fleet& fleet) {
  const std::size_t outliers = fleet.outliers();
  bool judged = false, enough = false;
  std::string gap;
  for (const FleetGroup& group : fleet.groups) {
    judged = judged || group.judged();
    enough = enough || group.machines.size() >= kFewestAlike;
    const JudgingGap* worst = group.worst_gap();
    if (worst != nullptr && gap.empty()) gap = "; " + fleet_gap(*worst, group);
  }
  return fmt::format("{} in {}, {}{}", counted(fleet.machines.size(), "machine"), counted(fleet.groups.size(), "group"),
                     outliers > 0 ? counted(outliers, "outlier")
                     : judged     ? "no outlier"
                     : enough     ? "none judged"
                                  : "too few machines to compare",
                     gap);
}

std::string fleet_group_outcome(const FleetGroup& group) {
  const std::string machines = counted(group.machines.size(), "machine");
  if (group.machines.size() < kFewestAlike) return machines + ", too few to compare";
  if (!group.judged()) return machines + ", not judged: too few roofs passed their audit";
  return machines + ", " + (group.outliers.empty() ? "no outlier" : counted(group.outliers.size(), "outlier"));
}

std::string fleet_gap(const JudgingGap& gap, const FleetGroup& group) {
  return fmt::format("{} judged on {} of {}", gap.main_memory ? "main memory" : gap.resource,
                     count(static_cast<std::int64_t>(gap.judged)), counted(group.machines.size(), "machine"));
}

std::string fleet_machine(const MachineSummary& summary) { return summary.host + " " + summary.device(); }

std::string fleet_deviation(const Deviation& slow, const FleetGroup& group) {
  const CeilingNorm* const norm = find_by(group.norms, &CeilingNorm::label, slow.label);
  std::string text = fmt::format("{:.1f} % below the median", -100 * slow.relative);
  if (norm != nullptr) {
    text += fmt::format(" ({}, median {})", ceiling_value(slow.value, slow.kind, slow.pipe),
                        ceiling_value(norm->median, slow.kind, slow.pipe));
  }
  return text;
}

std::string fleet_reason(const Outlier& outlier) {
  if (!outlier.why.empty()) return fmt::format("{}", fmt::join(outlier.why, "; "));
  if (!outlier.also.empty()) return fmt::format("no cause in its file; differs in: {}", fmt::join(outlier.also, "; "));
  if (outlier.unrecorded.empty()) return "no cause in its file: clock, temperature and settings match its peers";
  return fmt::format("no cause in its file; not recorded: {}", fmt::join(outlier.unrecorded, ", "));
}

std::string fleet_drift(const CeilingDrift& drift) {
  const auto day = [](const std::string& time) { return time.substr(0, 10); };
  const bool same_day = day(drift.from) == day(drift.to);
  std::string text = fmt::format(
      "{} {} by {:.1f} % between {} and {}", drift.label,
      drift.step ? (drift.ratio < 1 ? "fell" : "rose") : (drift.ratio < 1 ? "drifted down" : "drifted up"),
      100 * std::abs(drift.ratio - 1), same_day ? drift.from : day(drift.from), same_day ? drift.to : day(drift.to));
  if (!drift.along.empty()) text += " (" + drift.along + ")";
  return text;
}

}  // namespace roofline
