// Calibrations → groups, outliers, reasons and history.
#include "fleet/fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace roofline {
namespace {

/// Calibrations by machine, ordered by time.
using Histories = std::map<std::string, std::vector<MachineSummary>>;

Histories histories_of(std::vector<MachineSummary> summaries, std::vector<LeftOut>& left_out) {
  Histories histories;
  for (MachineSummary& summary : summaries) {
    if (summary.quick || summary.cancelled) {
      left_out.push_back({summary.file, summary.quick ? "measured with --quick" : "cancelled before completion"});
    } else if (summary.ceilings.empty()) {
      left_out.push_back({summary.file, "has no ceilings"});
    } else {
      histories[summary.key()].push_back(std::move(summary));
    }
  }
  for (auto& [key, history] : histories) {
    std::stable_sort(history.begin(), history.end(), [](const MachineSummary& a, const MachineSummary& b) {
      return std::tie(a.measured_at, a.file) < std::tie(b.measured_at, b.file);
    });
    const auto again = [&](const MachineSummary& first, const MachineSummary& second) {
      const bool same = first.measured_at == second.measured_at;
      if (same) left_out.push_back({second.file, fmt::format("the same device and time as {}", first.file)});
      return same;
    };
    history.erase(std::unique(history.begin(), history.end(), again), history.end());
  }
  // Every device of a node's file is left out for the same reason; the file is listed once.
  const auto same_line = [](const LeftOut& a, const LeftOut& b) { return a.file == b.file && a.reason == b.reason; };
  std::vector<LeftOut> lines;
  for (LeftOut& line : left_out) {
    const bool known = !lines.empty() && same_line(lines.back(), line);
    if (!known) lines.push_back(std::move(line));
  }
  left_out = std::move(lines);
  return histories;
}

}  // namespace

std::size_t Fleet::outliers() const {
  std::size_t all = 0;
  for (const FleetGroup& group : groups) all += group.outliers.size();
  return all;
}

Fleet fleet_of(std::vector<MachineSummary> summaries, std::vector<LeftOut> left_out) {
  Fleet fleet;
  fleet.left_out = std::move(left_out);
  for (auto& [key, history] : histories_of(std::move(summaries), fleet.left_out)) {
    if (history.size() > 1) {
      std::vector<const MachineSummary*> all;
      for (const MachineSummary& summary : history) all.push_back(&summary);
      const std::vector<CeilingDrift> drifts = drifts_of(all, fleet.machines.size());
      fleet.drifts.insert(fleet.drifts.end(), drifts.begin(), drifts.end());
    }
    fleet.machines.push_back(std::move(history.back()));
  }
  std::stable_sort(fleet.drifts.begin(), fleet.drifts.end(),
                   [](const CeilingDrift& a, const CeilingDrift& b) { return a.ratio < b.ratio; });
  fleet.groups = groups_of(fleet.machines);
  for (FleetGroup& group : fleet.groups) {
    judge(group, fleet.machines);
    explain(group, fleet.machines);
  }
  std::sort(fleet.left_out.begin(), fleet.left_out.end(),
            [](const LeftOut& a, const LeftOut& b) { return a.file < b.file; });
  return fleet;
}

}  // namespace roofline
