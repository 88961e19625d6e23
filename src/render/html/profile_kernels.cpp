// The kernels of a program, one row a kind of launch, the one that takes the most time first.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "render/chart/points.hpp"
#include "render/html/escape.hpp"
#include "render/html/profile_sections.hpp"
#include "render/html/results_table.hpp"
#include "render/html/sections.hpp"
#include "report/findings.hpp"
#include "report/profile_findings.hpp"
#include "report/roofs.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr Column kKindColumns[] = {
    {"Kernel", "name", "What is launched, and from where; below it grid and block"},
    {"To win", "n", "Time of all launches above what their roof allows"},
    {"Total", "n", "Time of all launches"},
    {"Share", "share", "Of the time of all kernels"},
    {"% of roof", "roof", "Attainable over measured time, at the clock that the kernel ran at"},
    {"Launches", "n", "Of this kind"},
    {"Median", "n", "Of one launch; below it the range from the 5th to the 95th percentile"},
    {"AI", "n", "Arithmetic intensity at main memory, FLOP/byte; below it the rate"},
    {"Bound", "bound", "The kind of resource that needs the most time, and its ceiling"},
    {"Where from", "from", "Module, line and range that launch it"},
    {"Verdict", "verdict", "What holds the kernel; it leads to the evidence"}};

std::string below(const std::string& text, const char* style = "") {
  return text.empty() ? "" : fmt::format("<small{}>{}</small>", style, text);
}

std::string extents(const std::array<std::int64_t, 3>& e) {
  std::string text = count(e[0]);
  if (e[1] > 1 || e[2] > 1) text += "\u00d7" + count(e[1]);
  if (e[2] > 1) text += "\u00d7" + count(e[2]);
  return text;
}

std::string layout(const ProfiledKind& kind) {
  if (kind.graph) return "a whole graph";
  if (kind.grid[0] <= 0) return {};
  std::string text = fmt::format("{} blocks of {}", extents(kind.grid), extents(kind.block));
  if (kind.in_graph) text += ", in a graph";
  return text;
}

std::string kind_cell(const std::string& mark, const Point& point, std::size_t index) {
  std::string name = html_isolated(point.workload.label.empty() ? point.workload.op : point.workload.label, 72);
  if (is_plottable(point)) name = fmt::format("<a href=\"#point-{}\">{}</a>", index, name);
  const std::string full = escape_html(shorten(clean_line(point.profiled->full_name), 1000));
  return fmt::format(
      "<th scope=\"row\" class=\"name\">{}<span title=\"{}\">{}{}{}</span>", mark, full, name,
      below(layout(*point.profiled)),
      point.profiled->mixed.empty() ? "" : below("mixed: " + escape_html(point.profiled->mixed), " class=\"warn\""));
}

std::string median_cell(const Point& point) {
  if (!point.time) return kAbsent;
  const Summary& time = *point.time;
  const bool spread = time.q05 > 0 && time.q95 > 0 && time.samples > 1;
  const TimeSource source = point.profiled->time_source;
  return duration(time.median) + below(spread ? duration(time.q05) + " \u2013 " + duration(time.q95) : "") +
         below(source == TimeSource::traced ? "" : std::string(to_string(source)));
}

std::string roof_cell(const Point& point) {
  const double fraction = point.fraction_of_roof();
  if (!std::isfinite(fraction)) return kAbsent;
  std::string text =
      fmt::format("<svg class=\"bar{}\"><rect width=\"{:.1f}%\"/></svg>{}", point.above_roof() ? " above" : "",
                  std::clamp(100 * fraction, 0.0, 100.0), at_least(point) + percent(fraction));
  if (point.above_roof()) return text + "<small class=\"warn\">\u25b2 above its roof</small>";
  return text;
}

/// Where its FLOPs and bytes are from, where rows differ in that.
std::string source_of(const Point& point, bool told) {
  if (!told) return {};
  return fmt::format("<small title=\"{}\">{}</small>", escape_html(clean_line(point.profiled->sources)),
                     work_source(point));
}

std::string intensity_cell(const Point& point, bool told) {
  if (work_source(point).empty()) return kAbsent;
  const double flops = point.performance();
  return (flops > 0 ? at_most(point) + intensity(point.bound.arithmetic_intensity) : "no FLOPs") +
         below(flops > 0 ? rate(flops, CeilingKind::compute)
                         : rate(point.bandwidth(Level::hbm), CeilingKind::bandwidth)) +
         source_of(point, told);
}

std::string bound_cell(const Point& point) {
  if (point.bound.label == BoundLabel::unknown) {
    const std::string why = why_no_work(point);
    return "not known" + below(escape_html(shorten(why, 120)));
  }
  return fmt::format("{}{}", to_string(point.bound.label),
                     below(html_name(limit_label(point.bound), 28) + (point.bound.suspect ? ", suspect" : "")));
}

std::string from_cell(const ProfiledKind& kind) {
  const bool both = !kind.module.empty() && !kind.line.empty();
  const std::string place = both ? html_name(kind.module, 40) + " \u203a " + html_name(kind.line, 40)
                                 : html_name(kind.module.empty() ? kind.line : kind.module, 60);
  std::string further = kind.backward ? html_name(kind.operation.empty() ? "backward" : kind.operation, 40) : "";
  if (!kind.range.empty()) further += (further.empty() ? "" : " \u00b7 ") + html_name(kind.range, 48);
  return (kind.module.empty() && kind.line.empty() ? std::string(further.empty() ? kAbsent : "") : place) +
         below(further);
}

struct Ranks {
  std::vector<double> name, bound, from;
};
Ranks ranks_of(const Report& report) {
  std::vector<std::string> names, bounds, places;
  for (const Point& point : report.points) {
    names.push_back(point_name(point));
    bounds.push_back(fmt::format("{} {}", to_string(point.bound.label), limit_label(point.bound)));
    places.push_back(point.profiled ? where_from(*point.profiled) : "");
  }
  return {natural_ranks(names), natural_ranks(bounds), natural_ranks(places)};
}

std::string gain_cell(const Verdict* verdict) {
  if (verdict == nullptr || !std::isfinite(verdict->total_gain_s)) return kAbsent;
  return verdict->total_gain_s > 0 ? duration(verdict->total_gain_s) : "0";
}

ResultRow row(const Report& report, const Marks& marks, std::size_t index, const Ranks& ranks, const Verdict* verdict,
              bool told) {
  const Point& point = report.points[index];
  const ProfiledKind& kind = *point.profiled;
  const double share = share_of_time(report, point), fraction = point.fraction_of_roof();
  const bool has_work = !work_source(point).empty();
  ResultRow result;
  result.attributes = fmt::format("id=\"row-{}\" data-family=\"{}\" data-dtype=\"{}\"", index,
                                  escape_html(family_of(point)), to_string(point.workload.dtype));
  result.sort_by = {ranks.name[index],
                    verdict != nullptr ? verdict->total_gain_s : std::nan(""),
                    kind.total_s,
                    share,
                    fraction,
                    static_cast<double>(kind.launches),
                    point.time ? point.time->median : std::nan(""),
                    has_work ? point.bound.arithmetic_intensity : std::nan(""),
                    ranks.bound[index],
                    ranks.from[index],
                    verdict != nullptr ? static_cast<double>(verdict->kind) : std::nan("")};
  result.cells = kind_cell(marks.of(point), point, index) + html_cell(kKindColumns[1], gain_cell(verdict)) +
                 html_cell(kKindColumns[2], duration(kind.total_s)) + html_cell(kKindColumns[3], html_share(share));
  // The page's script draws the head-room by the number.
  result.cells +=
      fmt::format("<td class=\"roof\"{}>{}", std::isfinite(fraction) ? fmt::format(" data-v=\"{:.5g}\"", fraction) : "",
                  roof_cell(point));
  result.cells += html_cell(kKindColumns[5], count(kind.launches)) + html_cell(kKindColumns[6], median_cell(point)) +
                  html_cell(kKindColumns[7], intensity_cell(point, tells_sources(report))) +
                  html_cell(kKindColumns[8], bound_cell(point)) + html_cell(kKindColumns[9], from_cell(kind)) +
                  html_cell(kKindColumns[10], verdict != nullptr ? html_verdict_cell(*verdict, told) : kAbsent);
  return result;
}

std::string lead(const Report& report) {
  const bool graphs = std::any_of(report.points.begin(), report.points.end(),
                                  [](const Point& p) { return p.profiled && p.profiled->graph; });
  const std::string sources = tells_sources(report)
                                  ? where_figures_are_from(report)
                                  : "Times are traced, of every launch; FLOPs and bytes are those of one launch, "
                                    "counted by the hardware where the row has a roof.";
  return sources + (graphs ? " A graph&#39;s row holds the time of its kernels, which have rows of their own." : "");
}

}  // namespace

std::string html_share(double share) {
  if (!std::isfinite(share)) return kAbsent;
  return fmt::format("<svg class=\"bar\" aria-hidden=\"true\"><rect width=\"{:.1f}%\"/></svg>{}",
                     std::clamp(100 * share, 0.0, 100.0), percent(share));
}

std::string html_kinds(const Report& report, const Marks& marks, const std::vector<Verdict>& verdicts) {
  std::map<std::size_t, const Verdict*> verdict_of;
  for (const Verdict& verdict : verdicts) verdict_of[verdict.row] = &verdict;
  std::set<std::size_t> told;
  for (const Verdict* verdict : told_verdicts(verdicts)) told.insert(verdict->row);
  const Ranks ranks = ranks_of(report);
  std::vector<ResultRow> rows;
  for (const std::size_t index : by_total_time(report)) {
    if (!report.points[index].profiled) continue;
    const auto verdict = verdict_of.find(index);
    rows.push_back(row(report, marks, index, ranks, verdict == verdict_of.end() ? nullptr : verdict->second,
                       told.contains(index)));
  }
  // Where something could be won the rows are by that; else by their time.
  const auto gain = [](const ResultRow& r) { return std::isfinite(r.sort_by[1]) ? r.sort_by[1] : -1; };
  const bool any = std::any_of(rows.begin(), rows.end(), [&](const ResultRow& r) { return gain(r) >= 0; });
  if (any) {
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const ResultRow& a, const ResultRow& b) { return gain(a) > gain(b); });
  }
  return html_results({.title = "Kernels",
                       .lead = lead(report),
                       .placeholder = "name, module, line",
                       .style = "kinds",
                       .families = "Bound",
                       .empty = "No kernel was recorded.",
                       .columns = kKindColumns,
                       .sorted = any ? std::size_t{1} : std::size_t{2}},
                      rows);
}

std::string html_kinds_css() { return html_column_names(".kinds", kKindColumns); }

}  // namespace roofline
