// A fleet in a terminal: the headline, each outlier in two lines, changes and omitted files.
#include <fmt/format.h>

#include <algorithm>

#include "render/fleet/fleet_render.hpp"
#include "render/terminal/table.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

std::string line(std::string_view first, const std::string& text, const TerminalStyle& style) {
  return wrapped(first, clean_line(text), style);
}

std::string more(std::size_t all, std::size_t shown, const char* what) {
  if (all <= shown) return {};
  return fmt::format("  and {} more {} (--top N shows more, fleet.json has all)\n",
                     count(static_cast<std::int64_t>(all - shown)), what);
}

std::string group_text(const FleetGroup& group, const Fleet& fleet, std::size_t& left, const TerminalStyle& style) {
  std::string text = "\n" + inked(for_terminal(clean_line(group.name), style), Ink::bold, style);
  text += fmt::format(": {}\n", fleet_group_outcome(group));
  constexpr std::size_t kMostGaps = 5;
  for (std::size_t i = 0; i < std::min(kMostGaps, group.gaps.size()); ++i) {
    text += line("  ", fleet_gap(group.gaps[i], group), style);
  }
  text += more(group.gaps.size(), std::min(kMostGaps, group.gaps.size()), "resources judged in part");
  for (const std::string& note : group.notes) text += line("  ", note, style);
  const std::size_t shown = std::min(left, group.outliers.size());
  left -= shown;
  for (std::size_t i = 0; i < shown; ++i) {
    const Outlier& outlier = group.outliers[i];
    const Deviation& worst = outlier.slow.front();
    const std::string others =
        outlier.slow.size() > 1 ? fmt::format(" and {} more ceilings", outlier.slow.size() - 1) : "";
    text += "  " +
            inked(for_terminal(clean_line(fleet_machine(fleet.machines[outlier.machine])), style), Ink::bad, style) +
            "\n";
    text += line("    ", fmt::format("{} {}{}", worst.label, fleet_deviation(worst, group), others), style);
    text += line("    ", "cause: " + fleet_reason(outlier), style);
  }
  return text + more(group.outliers.size(), shown, "outliers");
}

std::size_t suspects_of(const FleetGroup& group) {
  std::size_t all = 0;
  for (const CeilingNorm& norm : group.norms) {
    if (norm.role == Role::roof) all += norm.suspects.size();
  }
  return all;
}

}  // namespace

std::string render_fleet_terminal(const Fleet& fleet, const TerminalStyle& style, std::size_t top) {
  std::string text = inked(fleet_headline(fleet), Ink::bold, style) + "\n";
  std::size_t left = top;
  std::size_t small = 0, suspects = 0;
  for (std::size_t i = 0; i < fleet.groups.size(); ++i) {
    suspects += suspects_of(fleet.groups[i]);
    if (i < top || !fleet.groups[i].outliers.empty()) {
      text += group_text(fleet.groups[i], fleet, left, style);
    } else {
      ++small;
    }
  }
  text += more(fleet.groups.size(), fleet.groups.size() - small, "groups without an outlier");
  if (!fleet.drifts.empty()) {
    text += "\n" + inked("Changed over time", Ink::bold, style) + "\n";
    const std::size_t shown = std::min(top, fleet.drifts.size());
    for (std::size_t i = 0; i < shown; ++i) {
      const CeilingDrift& drift = fleet.drifts[i];
      text += line("  ", fleet_machine(fleet.machines[drift.machine]) + ": " + fleet_drift(drift), style);
    }
    text += more(fleet.drifts.size(), shown, "changes");
  }
  if (suspects > 0) {
    text += fmt::format("\n{} roof{} {} not confirmed and {} not count\n", count(static_cast<std::int64_t>(suspects)),
                        suspects == 1 ? "" : "s", suspects == 1 ? "is" : "are", suspects == 1 ? "does" : "do");
  }
  if (!fleet.left_out.empty()) {
    text += "\n" +
            inked(fmt::format("{} of {} files left out", count(static_cast<std::int64_t>(fleet.left_out.size())),
                              count(static_cast<std::int64_t>(fleet.files))),
                  Ink::bold, style) +
            "\n";
    const std::size_t shown = std::min(top, fleet.left_out.size());
    for (std::size_t i = 0; i < shown; ++i) {
      text += line("  ", fleet.left_out[i].file + ": " + fleet.left_out[i].reason, style);
    }
    text += more(fleet.left_out.size(), shown, "files");
  }
  return text;
}

}  // namespace roofline
