// One table row a kernel in Markdown, two or three lines a kernel in a terminal.
#include "render/counters_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "render/markdown_text.hpp"
#include "render/terminal/table.hpp"
#include "report/diagnosis/counted.hpp"
#include "report/findings.hpp"
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
  return row.kind == CeilingKind::compute ? si(value, "FLOP") : si(value, "B");
}

std::string counted_text(const CountedAmount& row) {
  return std::isfinite(row.counted) ? amount(row, row.counted) : "not counted";
}

/// "1.02×"; one in a million off is exact for the eye, and says so only when it is.
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
  if (const auto occupancy = point.counters->find("occupancy")) append("occupancy " + percent(*occupancy));
  return text;
}

}  // namespace

std::string counters_markdown(const Report& report) {
  const DeviceKind device = report.machine.device.kind;
  std::string text;
  if (any_counted(report)) {
    text += "\n## Measured against modelled\n\n";
    // A CPU has neither of the last two columns.
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
          cells.push_back(first && occupancy ? percent(*occupancy) : "");
          cells.push_back(first ? layout_text(*point.counters) : "");
        }
        append_markdown_row(text, cells);
        first = false;
      }
    }
  }
  std::string advice;
  for (const Point& point : report.points) {
    for (const Advice& one : advice_for(point, report.machine)) {
      advice += fmt::format("- **{}**: {} {} *({}: {})*\n", escape_markdown(point_name(point)),
                            escape_markdown(one.finding), escape_markdown(one.next), one.rule, one.source);
    }
  }
  if (!advice.empty()) text += "\n## What to do next\n\n" + advice;
  return text;
}

std::string counters_terminal(const Report& report, const TerminalStyle& style) {
  std::string text;
  for (const Point& point : report.points) {
    const std::vector<Advice> advice = advice_for(point, report.machine);
    const bool stop = !advice.empty() && advice.front().rule == "good-enough";
    if (!point.counters && (advice.empty() || stop)) continue;
    text += inked(for_terminal(shorten(point_name(point), style.columns), style), Ink::bold, style) + '\n';
    if (point.counters) {
      text += wrapped("  ", for_terminal(summary_line(point, report.machine.device.kind), style), style);
    }
    for (const Advice& one : advice) {
      text += wrapped(for_terminal("  \u2192 ", style), for_terminal(one.finding + " " + one.next, style), style);
    }
  }
  return text;
}

}  // namespace roofline
