// One row for each kernel in Markdown, some lines for each in a terminal.
#include "render/counters_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "render/markdown_text.hpp"
#include "render/terminal/table.hpp"
#include "report/diagnosis/counted.hpp"
#include "report/diagnosis/verdict.hpp"
#include "report/findings.hpp"
#include "report/hotspots.hpp"
#include "report/step_findings.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

bool any_counted(const Report& report) {
  return std::any_of(report.points.begin(), report.points.end(),
                     [](const Point& point) { return point.counters.has_value(); });
}

std::string amount(const CountedAmount& row, double value) {
  if (!std::isfinite(value)) return kAbsent;
  return si(value, unit_of(row));
}

std::string counted_text(const CountedAmount& row) {
  return std::isfinite(row.counted) ? amount(row, row.counted) : "not counted";
}

/// "1.02×"; "exact" only where it is exactly 1.
std::string ratio_text(double ratio) {
  if (!std::isfinite(ratio)) return kAbsent;
  return ratio == 1 ? "exact" : factor(ratio);
}

std::string layout_text(const Counters& counters) {
  if (counters.kernels.empty()) return kAbsent;
  const KernelLaunch& kernel = counters.kernels.front();
  std::string text = fmt::format("{} \u00d7 {}, {} registers, {}", kernel.blocks, kernel.threads, kernel.registers,
                                 binary_bytes(kernel.shared_bytes));
  if (counters.kernels.size() > 1) text += fmt::format(", and {} more", counters.kernels.size() - 1);
  return text;
}

/// "hbm 1.02× · l2 3.1× · occupancy 12 %".
std::string summary_line(const Point& point, DeviceKind device) {
  std::string text;
  const auto append = [&](const std::string& part) { text += (text.empty() ? "" : " \u00b7 ") + part; };
  for (const CountedAmount& row : counted_against_model(point, device)) {
    append(std::isfinite(row.ratio) ? fmt::format("{} {}", row.name, ratio_text(row.ratio))
                                    : fmt::format("{} {}", row.name, counted_text(row)));
  }
  if (const auto occupancy = point.counters->find("occupancy"))
    append("occupancy " + percent(std::min(1.0, *occupancy)));
  return text;
}

}  // namespace

std::string counters_markdown(const Report& report) {
  const DeviceKind device = report.machine.device.kind;
  std::string text;
  if (any_counted(report)) {
    text += "\n## Counted and modelled work\n\n";
    // CPUs have neither of the last two columns.
    const bool gpu = device == DeviceKind::cuda;
    std::vector<std::string> titles = {"Kernel", "What", "Modelled", "Counted", "Ratio"};
    if (gpu) titles.insert(titles.end(), {"Occupancy", "Grid and block"});
    append_markdown_row(text, titles);
    text += gpu ? "|:--|:--|--:|--:|--:|--:|:--|\n" : "|:--|:--|--:|--:|--:|\n";
    for (const Point& point : report.points) {
      bool first = true;
      for (const CountedAmount& row : counted_against_model(point, device)) {
        std::vector<std::string> cells = {first ? escape_markdown(point_name(point)) : "", row.name,
                                          amount(row, row.modelled), counted_text(row), ratio_text(row.ratio)};
        if (gpu) {
          const auto occupancy = point.counters->find("occupancy");
          cells.push_back(first && occupancy ? percent(std::min(1.0, *occupancy)) : "");
          cells.push_back(first ? layout_text(*point.counters) : "");
        }
        append_markdown_row(text, cells);
        first = false;
      }
    }
  }
  return text;
}

std::string hotspots_markdown(const Report& report, const std::vector<Verdict>& verdicts) {
  constexpr std::size_t kMost = 12;
  std::string text;
  std::size_t shown = 0;
  for (const Hotspot& hotspot : hotspots_of(report, verdicts)) {
    if (!(hotspot.seconds > 0) || ++shown > kMost) continue;
    // A saving already says that a kernel is slow.
    const bool slow = hotspot.what.empty() && hotspot.kind == VerdictKind::slow;
    const std::string_view tag = hotspot.what.empty() ? kind_words(hotspot.kind) : hotspot.what;
    text += fmt::format("1. **{}**{}{}: {} {}\n", saving_time(report, hotspot), slow ? "" : ", ", slow ? "" : tag,
                        escape_markdown(shorten(hotspot.text, 300)), escape_markdown(hotspot.action));
  }
  if (text.empty()) return {};
  return "\n## Where to spend time\n\n" + text + (shown > kMost ? fmt::format("\nand {} more.\n", shown - kMost) : "");
}

std::string verdicts_markdown(const Report& report, const std::vector<Verdict>& verdicts) {
  constexpr std::size_t kMost = 60;
  std::string text, at_roof;
  std::size_t shown = 0;
  for (const Verdict& verdict : verdicts) {
    const std::string name = escape_markdown(point_name(report.points[verdict.row]));
    if (verdict.kind == VerdictKind::at_roof) {
      at_roof += (at_roof.empty() ? "" : ", ") + name;
      continue;
    }
    if (++shown > kMost) continue;
    text += fmt::format("- **{}** ({}, {}): {} {} *({})*\n", name, kind_words(verdict.kind),
                        saving_text(verdict.total_gain_s), escape_markdown(verdict.finding),
                        escape_markdown(verdict.action), escape_markdown(grounds_text(verdict)));
  }
  if (shown > kMost) text += fmt::format("\nand {} more.\n", shown - kMost);
  if (!at_roof.empty()) text += fmt::format("{}At their roof: {}.\n", text.empty() ? "" : "\n", at_roof);
  return text.empty() ? text : "\n## Verdicts\n\n" + text;
}

namespace {

std::string verdict_entry(const std::string& name, VerdictKind kind, double gain_s, const std::string& text,
                          const std::string& action, const TerminalStyle& style) {
  const std::string gain = fmt::format("{}: {}", kind_words(kind), saving_text(gain_s));
  const int room = std::max(20, style.columns - display_width(gain) - 2);
  return inked(for_terminal(shorten(name, room), style), Ink::bold, style) + "  " +
         inked(for_terminal(gain, style), Ink::dim, style) + '\n' + wrapped("  ", for_terminal(text, style), style) +
         wrapped(for_terminal("  \u2192 ", style), for_terminal(action, style), style);
}

}  // namespace

std::string verdicts_terminal(const Report& report, const TerminalStyle& style) {
  constexpr std::size_t kMost = 20;
  const std::vector<Verdict> all = verdicts(report);
  // Rows with the same reason and remedy for re-timing are one entry.
  const std::vector<VerdictGroup> groups = where_to_spend_time(all, report);
  std::map<std::size_t, const VerdictGroup*> together;
  for (const VerdictGroup& group : groups) {
    if (group.kind != VerdictKind::measure || group.rows.size() < 2) continue;
    for (const std::size_t row : group.rows) together[row] = &group;
  }
  std::vector<std::pair<double, std::string>> entries;  // potential saving, and its lines
  std::size_t done = 0;
  for (const Verdict& verdict : all) {
    if (verdict.kind == VerdictKind::at_roof) {
      ++done;
    } else if (const auto found = together.find(verdict.row); found != together.end()) {
      const VerdictGroup& group = *found->second;
      if (group.rows.front() != verdict.row) continue;
      entries.emplace_back(group.total_gain_s, verdict_entry(fmt::format("{} kernels", group.rows.size()), group.kind,
                                                             group.total_gain_s, group.text, group.action, style));
    } else {
      const Point& point = report.points[verdict.row];
      std::string lines =
          verdict_entry(point_name(point), verdict.kind, verdict.total_gain_s, verdict.finding, verdict.action, style);
      if (point.counters) {
        lines += wrapped("  ", for_terminal(summary_line(point, report.machine.device.kind), style), style);
      }
      entries.emplace_back(verdict.total_gain_s, std::move(lines));
    }
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return larger_saving(a.first, b.first); });
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, entries.size()); ++i) text += entries[i].second;
  if (!text.empty() && any_counted(report)) {
    text +=
        wrapped("",
                for_terminal(
                    "Hardware counts over the model's (1\u00d7: equal): operations of a pipe, bytes of a level (hbm or "
                    "dram, l2, l1, shared) over the modelled main-memory bytes. An absolute amount: not modelled.",
                    style),
                style);
  }
  if (entries.size() > kMost) text += fmt::format("and {} more kernels below their roof\n", entries.size() - kMost);
  if (done > 0)
    text +=
        fmt::format("{} {} at {} roof\n", done, done == 1 ? "kernel is" : "kernels are", done == 1 ? "its" : "their");
  return text;
}

}  // namespace roofline
