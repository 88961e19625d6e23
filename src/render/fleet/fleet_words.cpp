// Phrases about a fleet that all renderers share.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

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
  const bool judged =
      std::any_of(fleet.groups.begin(), fleet.groups.end(), [](const FleetGroup& group) { return group.judged(); });
  return fmt::format("{} in {}, {}", counted(fleet.machines.size(), "machine"), counted(fleet.groups.size(), "group"),
                     !judged        ? "too few machines to compare"
                     : outliers > 0 ? counted(outliers, "outlier")
                                    : "no outlier");
}

std::string fleet_machine(const MachineSummary& summary) { return summary.host + " " + summary.device(); }

std::string fleet_deviation(const Deviation& slow, const FleetGroup& group) {
  const auto norm = std::find_if(group.norms.begin(), group.norms.end(),
                                 [&](const CeilingNorm& known) { return known.label == slow.label; });
  std::string text = fmt::format("{:.1f} % below the median", -100 * slow.relative);
  if (norm != group.norms.end()) {
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
