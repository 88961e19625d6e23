// The kernels of a program, one row a kind of launch, the one that takes the most time first.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "render/chart/points.hpp"
#include "render/html/column.hpp"
#include "render/html/escape.hpp"
#include "render/html/profile_sections.hpp"
#include "report/findings.hpp"
#include "report/profile_findings.hpp"
#include "report/roofs.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr Column kColumns[] = {{"Kernel", "name", "What is launched, and from where; below it grid and block"},
                               {"Launches", "n", "Of this kind"},
                               {"Total", "n", "Time of all launches, as traced"},
                               {"Share", "share", "Of the time of all kernels"},
                               {"Median", "n", "Of one launch; below it the range from the 5th to the 95th percentile"},
                               {"% of roof", "roof", "Attainable over measured time"},
                               {"AI", "n", "Arithmetic intensity at main memory, FLOP/byte; below it the rate"},
                               {"Bound", "bound", "The kind of resource that needs the most time, and its ceiling"},
                               {"Where from", "from", "Module, line and range that launch it"}};

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

std::string name_cell(const std::string& mark, const Point& point, std::size_t index) {
  std::string name = html_name(point.workload.label.empty() ? point.workload.op : point.workload.label, 72);
  if (is_plottable(point)) name = fmt::format("<a href=\"#point-{}\">{}</a>", index, name);
  const std::string full = escape_html(shorten(clean_line(point.profiled->full_name), 1000));
  return fmt::format(
      "<th scope=\"row\" class=\"name\">{}<span title=\"{}\">{}{}{}</span></th>", mark, full, name,
      below(layout(*point.profiled)),
      point.profiled->mixed.empty() ? "" : below("mixed: " + escape_html(point.profiled->mixed), " class=\"warn\""));
}

std::string median_cell(const Point& point) {
  if (!point.time) return kAbsent;
  const Summary& time = *point.time;
  const bool spread = time.q05 > 0 && time.q95 > 0 && time.samples > 1;
  return duration(time.median) + below(spread ? duration(time.q05) + " \u2013 " + duration(time.q95) : "");
}

std::string roof_cell(const Point& point) {
  const double fraction = point.fraction_of_roof();
  if (!std::isfinite(fraction)) return kAbsent;
  std::string text =
      fmt::format("<svg class=\"bar{}\"><rect width=\"{:.1f}%\"/></svg>{}", point.above_roof() ? " above" : "",
                  std::clamp(100 * fraction, 0.0, 100.0), percent(fraction));
  if (point.above_roof()) return text + "<small class=\"warn\">\u25b2 above its roof</small>";
  constexpr double kNear = 0.99;
  return text + (fraction > 0 && fraction < kNear ? below(factor(1 / fraction) + " to the roof") : "");
}

std::string intensity_cell(const Point& point) {
  if (work_source(point).empty()) return kAbsent;
  const double flops = point.performance();
  return (flops > 0 ? intensity(point.bound.arithmetic_intensity) : "no FLOPs") +
         below(flops > 0 ? rate(flops, CeilingKind::compute)
                         : rate(point.bandwidth(Level::hbm), CeilingKind::bandwidth));
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

std::string row(const Report& report, const Marks& marks, std::size_t index) {
  const Point& point = report.points[index];
  const ProfiledKind& kind = *point.profiled;
  const double share = share_of_time(report, point);
  const bool has_work = !work_source(point).empty();
  std::string html =
      fmt::format("<tr id=\"row-{}\" data-family=\"{}\" data-dtype=\"{}\">{}", index, escape_html(family_of(point)),
                  to_string(point.workload.dtype), name_cell(marks.of(point), point, index));
  html += html_cell(kColumns[1], static_cast<double>(kind.launches), count(kind.launches));
  html += html_cell(kColumns[2], kind.total_s, duration(kind.total_s));
  html += html_cell(kColumns[3], share, html_share(share));
  html += html_cell(kColumns[4], point.time ? point.time->median : std::nan(""), median_cell(point));
  html += html_cell(kColumns[5], point.fraction_of_roof(), roof_cell(point));
  html += html_cell(kColumns[6], has_work ? point.bound.arithmetic_intensity : std::nan(""), intensity_cell(point));
  html +=
      html_cell(kColumns[7], std::nan(""), bound_cell(point)) + html_cell(kColumns[8], std::nan(""), from_cell(kind));
  return html + "\n";
}

std::string head() {
  std::string html = "<thead><tr>";
  for (const Column& column : kColumns) {
    html += fmt::format("<th scope=\"col\" class=\"{}\"{} title=\"{}\">{}</th>", column.style,
                        std::string_view(column.title) == "Total" ? " aria-sort=\"descending\"" : "", column.meaning,
                        column.title);
  }
  return html + "</tr></thead>\n";
}

std::string lead(const Report& report) {
  const bool graphs = std::any_of(report.points.begin(), report.points.end(),
                                  [](const Point& p) { return p.profiled && p.profiled->graph; });
  return std::string(
             "<p class=\"lead\">Times are traced, of every launch; FLOPs and bytes are those of one launch, "
             "counted by the hardware where the row has a roof.") +
         (graphs ? " A graph&#39;s row holds the time of its kernels, which have rows of their own." : "") + "</p>\n";
}

}  // namespace

std::string html_share(double share) {
  if (!std::isfinite(share)) return kAbsent;
  return fmt::format("<svg class=\"bar\" aria-hidden=\"true\"><rect width=\"{:.1f}%\"/></svg>{}",
                     std::clamp(100 * share, 0.0, 100.0), percent(share));
}

std::string html_kinds(const Report& report, const Marks& marks) {
  constexpr std::size_t kLong = 1000;  // rows that a browser need not lay out before they are scrolled to
  std::string html = "<section id=\"kernels\" class=\"" + std::string(report.points.size() > kLong ? "long" : "") +
                     "\" aria-labelledby=\"kernels-h\">\n<div class=\"row\"><h2 id=\"kernels-h\">By kernel</h2>"
                     "<label class=\"filter\" hidden>Filter <input type=\"search\" id=\"filter\" autocomplete=\"off\" "
                     "placeholder=\"name, module, line\"></label></div>\n" +
                     lead(report) + "<div class=\"filters\" id=\"chips\" hidden></div>\n";
  if (report.points.empty()) return html + "<p>No kernel was recorded.</p>\n</section>\n";
  html +=
      "<div class=\"scroll\"><table id=\"results\" class=\"cards kinds\" data-family=\"Bound\">"
      "<caption class=\"unseen\">Kernels by the time of all their launches</caption>\n" +
      head() + "<tbody>\n";
  for (const std::size_t index : by_total_time(report)) {
    if (report.points[index].profiled) html += row(report, marks, index);
  }
  return html + "</tbody>\n</table></div>\n<p id=\"none\" hidden>No kernel matches the filters.</p>\n</section>\n";
}

std::string html_kinds_css() {
  std::vector<std::string> titles;
  for (const Column& column : kColumns) titles.emplace_back(column.title);
  return html_column_names("#results.kinds", titles);
}

}  // namespace roofline
