// The results table for a terminal: rows grouped under op and shape, so that all figures fit 80 columns.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "render/counters_tables.hpp"
#include "render/render.hpp"
#include "render/terminal/bound.hpp"
#include "render/terminal/profile.hpp"
#include "render/terminal/table.hpp"
#include "report/findings.hpp"
#include "report/network.hpp"
#include "report/roof_share.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// "4096x4096x4096", or "" for a shape without extents.
std::string extents(const Shape& shape) {
  std::string text;
  for (const auto& [name, extent] : shape.extents()) text += fmt::format("{}{}", text.empty() ? "" : "x", extent);
  return text;
}

/// The line that rows of one op and shape stand under; a label of the suite's own is its own line.
std::string group_name(const Workload& workload) {
  const std::string shape = extents(workload.shape);
  const std::string tail = shape.empty() ? "" : " " + shape;
  const std::string usual = fmt::format("{} {}{}", workload.op, to_string(workload.dtype), tail);
  return clean_line(workload.label.empty() || workload.label == usual ? workload.op + tail : workload.label);
}

std::string row_name(const Workload& workload) {
  return clean_line(fmt::format("{} {}{}", to_string(workload.dtype), workload.implementation,
                                workload.cache == CacheMode::hot ? " hot" : ""));
}

/// "2.71 ms  ±0.2%": one cell, for 80 columns have no room for a gap more.
std::string time_with_interval(const Summary& time) {
  std::string interval = plus_minus(time.median, time.ci95);
  std::erase(interval, ' ');
  const int padding = std::max(0, 6 - display_width(interval));
  return fmt::format("{} {}{}", duration(time.median), std::string(static_cast<std::size_t>(padding), ' '), interval);
}

std::vector<Cell> timed_row(const Report& report, const Point& point, const TerminalStyle& style) {
  const Level memory = main_memory(report.machine.device.kind);
  const double flops = point.performance();
  const double fraction = point.fraction_of_roof();
  // A kernel under a memory roof is judged by its bandwidth, any other by its FLOPs.
  const bool by_bytes = flops <= 0 || point.bound.label == BoundLabel::memory;
  const auto network = network_rates(point);
  const std::string achieved = flops <= 0 && network ? rate(network->bus, CeilingKind::bandwidth) + " bus"
                               : by_bytes            ? rate(point.bandwidth(memory), CeilingKind::bandwidth)
                                                     : performance_text(point);
  const std::string_view mark = point.above_roof() ? "\u25b2" : badly_measured(point) ? "?" : "";
  const RoofShare share = share_of_roof(point);
  const auto burst = share_of_burst_roof(point, report.machine);
  return {{row_name(point.workload)},
          {time_with_interval(*point.time),
           badly_measured(point) || point.time->stop != StopReason::converged ? Ink::warn : Ink::plain},
          {achieved},
          {intensity(point.bound.arithmetic_intensity)},
          {bar(fraction, 6, style), roof_ink(point)},
          {fmt::format("{}{}", mark, percent(fraction)), roof_ink(point)},
          {interval_text(share), Ink::dim},
          {burst ? percent(burst->fraction) : "", Ink::dim},
          {std::string(to_string(point.bound.label)), bound_ink(point.bound.label)},
          {clean_line(point.bound.limiting_ceiling) + (point.bound.suspect ? "?" : ""),
           point.bound.suspect ? Ink::warn : bound_ink(point.bound.label)}};
}

bool is_timed(const Point& point) { return point.status == PointStatus::ok && point.time.has_value(); }

std::string results_table(const Report& report, const TerminalStyle& style) {
  TerminalTable table({{"", false, 0, true},
                       {"time", true, 0, false},
                       {"achieved", true, 0, false},
                       {"AI", true, 2, false},
                       {"", false, 5, false},
                       {"roof", true, 0, false},
                       {"95 %", true, 4, false},
                       {"burst", true, 6, false},
                       {"bound", false, 3, false},
                       {"limited by", false, 1, false}});
  std::string group;
  bool first = true;
  for (const Point& point : report.points) {
    if (!is_timed(point)) continue;
    const std::string name = group_name(point.workload);
    if (first || name != group) table.add_heading(name);
    group = name;
    first = false;
    table.add_row(timed_row(report, point, style));
  }
  return first ? "" : table.render(style);
}

/// The device and the machine in one line, or in two where one is too short for them.
std::string title(const Report& report, const TerminalStyle& style) {
  const std::string device = shorten(clean_line(report.machine.device.name), 60);
  std::string facts;
  for (const std::string& part : headline(report)) facts += (facts.empty() ? "" : " \u00b7 ") + part;
  const bool one_line = display_width(device) + 3 + display_width(facts) <= style.columns;
  const std::string first = one_line && !facts.empty() ? device + " \u00b7 " + facts : device;
  std::string text = inked(for_terminal(shorten(first, style.columns), style), Ink::bold, style) + '\n';
  if (!one_line) text += for_terminal(shorten(facts, style.columns), style) + '\n';
  return text;
}

std::string untimed_rows(const Report& report, const TerminalStyle& style) {
  std::string text;
  for (const Point& point : report.points) {
    if (is_timed(point)) continue;
    const std::string status =
        inked(to_string(point.status), point.status == PointStatus::failed ? Ink::bad : Ink::dim, style);
    text += fmt::format("  {}  {}\n", status, for_terminal(shorten(point_name(point), style.columns - 12), style));
    if (!point.reason.empty()) text += wrapped("           ", for_terminal(clean_line(point.reason), style), style);
  }
  return text;
}

}  // namespace

std::string render_terminal(const Report& report, const TerminalStyle& style) {
  if (report.profile) return profile_terminal(report, style);
  std::string text = title(report, style) + '\n';
  const std::string table = results_table(report, style);
  if (!table.empty()) text += table + '\n';
  const std::string untimed = untimed_rows(report, style);
  if (!untimed.empty()) text += untimed + '\n';
  const std::string told = verdicts_terminal(report, style);
  if (!told.empty()) text += told + '\n';
  for (const std::string& sentence : findings(report)) {
    text += wrapped(for_terminal("\u00b7 ", style), for_terminal(sentence, style), style);
  }
  for (const std::string& note : report.notes) {
    text += wrapped(inked("! ", Ink::plain, style), for_terminal(clean_line(note), style), style);
  }
  return text;
}

}  // namespace roofline
