// The results table: one row a workload, also where it has no point, and then why. Cells that sort by
// number carry it in data-v. End tags that HTML doesn't ask for are left out: a row a kernel, ten thousand of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "render/chart/points.hpp"
#include "render/html/column.hpp"
#include "render/html/escape.hpp"
#include "render/html/marks.hpp"
#include "render/html/sections.hpp"
#include "report/findings.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr Column kColumns[] = {
    {"Kernel", "name", "As the suite names it; below it the implementation"},
    {"Time", "n", "Median of one launch, with half its 95 % interval"},
    {"Performance", "n", "Counted FLOPs over the median time"},
    {"Bandwidth", "n", "Compulsory bytes of main memory over the median time"},
    {"AI", "n", "Arithmetic intensity at main memory, FLOP/byte; below it the ridge point of its pipe"},
    {"% of roof", "roof", "Attainable over measured time"},
    {"Bound", "bound", "The kind of resource that needs the most time"},
    {"Limited by", "limit", "The ceiling that stands in front of the kernel"},
    {"Verified", "check", "Largest error against the reference, relative; below it the tolerance"}};

std::string two_lines(const std::string& first, const std::string& second) {
  return second.empty() ? first : fmt::format("{}<small>{}</small>", first, second);
}

/// The name leads to the point on the chart, where it has one.
std::string name_cell(const std::string& mark, const Point& point, std::size_t index) {
  std::string below = html_name(point.workload.implementation, 40);
  if (point.workload.cache == CacheMode::hot) below += ", hot cache";
  std::string name = html_name(point.workload.label.empty() ? point.workload.op : point.workload.label);
  if (point.performance() > 0) name = fmt::format("<a href=\"#point-{}\">{}</a>", index, name);
  return fmt::format("<th scope=\"row\" class=\"name\">{}<span>{}<small>{}</small></span></th>", mark, name, below);
}

/// "time limit": the file's word, as people write it.
std::string stop_words(StopReason reason) {
  std::string words = escape_html(to_string(reason));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string time_cell(const Summary& time) {
  std::string below = plus_minus(time.median, time.ci95);
  if (time.stop != StopReason::converged) below += " \u00b7 " + stop_words(time.stop);
  if (time.drifting) below += " \u00b7 drifting";
  return two_lines(duration(time.median), below);
}

/// How far the roof still is; nothing where there is no telling it from here.
std::string distance(const Point& point, const Machine& machine) {
  constexpr double kNear = 0.99;
  const double fraction = point.fraction_of_roof();
  if (not_cold(point, machine)) return "<small class=\"warn\">\u25b2 not cold</small>";
  if (point.above_roof()) return "<small class=\"warn\">\u25b2 above its roof</small>";
  return fraction > 0 && fraction < kNear ? fmt::format("<small>{} to the roof</small>", factor(1 / fraction)) : "";
}

std::string roof_cell(const Point& point, const Machine& machine) {
  const double fraction = point.fraction_of_roof();
  if (!std::isfinite(fraction)) return kAbsent;
  return fmt::format("<svg class=\"bar{}\"><rect width=\"{:.1f}%\"/></svg>{}{}", point.above_roof() ? " above" : "",
                     std::clamp(100 * fraction, 0.0, 100.0), percent(fraction), distance(point, machine));
}

std::string verification_cell(const Point& point) {
  if (!point.verification) return kAbsent;
  const Verification& verification = *point.verification;
  const char* state = verification.passed ? "pass" : "fail";
  return fmt::format("{}<small>{} \u2264 {}</small>", html_verdict(state, state),
                     escape_html(number(verification.error, 2)), escape_html(number(verification.tolerance, 2)));
}

std::string timed_row(const Report& report, const Point& point) {
  const Level memory = main_memory(report.machine.device.kind);
  const Bound& bound = point.bound;
  const double bandwidth = point.bandwidth(memory);
  const double flops = point.performance();
  std::string html = html_cell(kColumns[1], point.time->median, time_cell(*point.time));
  html += html_cell(kColumns[2], flops, flops > 0 ? rate(flops, CeilingKind::compute) : "no FLOPs");
  html += html_cell(kColumns[3], bandwidth, bandwidth > 0 ? rate(bandwidth, CeilingKind::bandwidth) : "no bytes");
  html += html_cell(kColumns[4], bound.arithmetic_intensity,
                    two_lines(intensity(bound.arithmetic_intensity),
                              std::isfinite(bound.ridge) ? "ridge " + number(bound.ridge, 3) : ""));
  html += html_cell(kColumns[5], point.fraction_of_roof(), roof_cell(point, report.machine));
  html += html_cell(kColumns[6], std::nan(""), html_bound(bound));
  html += html_cell(kColumns[7], std::nan(""),
                    html_name(bound.limiting_ceiling.empty() ? kAbsent : limit_label(bound), 24) +
                        (bound.suspect ? "<small class=\"warn\">suspect</small>" : ""));
  html +=
      html_cell(kColumns[8], point.verification ? point.verification->error : std::nan(""), verification_cell(point));
  return html;
}

std::string untimed_row(const Point& point) {
  const std::string reason = point.reason.empty() ? "no reason was recorded" : point.reason;
  return fmt::format("<td class=\"reason\" colspan=\"8\"><span class=\"chip {0}\">{0}</span> <span>{1}</span>{2}",
                     to_string(point.status), escape_html(shorten(clean_line(reason), 600)),
                     std::isnan(point.bound.arithmetic_intensity)
                         ? ""
                         : fmt::format("<small>AI {} FLOP/byte</small>", intensity(point.bound.arithmetic_intensity)));
}

/// What the filters ask for: family, type and bound.
std::string row_data(const Point& point) {
  std::string data = fmt::format(" data-family=\"{}\" data-dtype=\"{}\"", escape_html(family_of(point)),
                                 to_string(point.workload.dtype));
  const bool timed = point.status == PointStatus::ok && point.time;
  return data + (timed ? fmt::format(" data-bound=\"{}\"", to_string(point.bound.label)) : " class=\"untimed\"");
}

std::string head() {
  std::string html = "<thead><tr>";
  for (const Column& column : kColumns) {
    html +=
        fmt::format("<th scope=\"col\" class=\"{}\" title=\"{}\">{}</th>", column.style, column.meaning, column.title);
  }
  return html + "</tr></thead>\n";
}

}  // namespace

std::string html_bound(const Bound& bound) {
  const std::string_view name = to_string(bound.label);
  return fmt::format("<span class=\"b b-{}\">{}</span>", name, name);
}

std::string html_kernels(const Report& report, const Marks& marks) {
  constexpr std::size_t kLong = 1000;  // rows that a browser need not lay out before they are scrolled to
  std::string html =
      "<section id=\"kernels\" class=\"" + std::string(report.points.size() > kLong ? "long" : "") +
      "\" aria-labelledby=\"kernels-h\">\n<div class=\"row\"><h2 id=\"kernels-h\">Kernels</h2>"
      "<label class=\"filter\" hidden>Filter <input type=\"search\" id=\"filter\" autocomplete=\"off\" "
      "placeholder=\"name, bound, ceiling\"></label></div>\n<div class=\"filters\" id=\"chips\" hidden></div>\n";
  if (report.points.empty()) return html + "<p>No workload was run.</p>\n</section>\n";
  html += "<div class=\"scroll\"><table id=\"results\" class=\"cards\">\n" + head() + "<tbody>\n";
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    const Point& point = report.points[i];
    const bool timed = point.status == PointStatus::ok && point.time;
    html += fmt::format("<tr id=\"row-{}\"{}>{}{}\n", i, row_data(point), name_cell(marks.of(point), point, i),
                        timed ? timed_row(report, point) : untimed_row(point));
  }
  return html + "</tbody>\n</table></div>\n<p id=\"none\" hidden>No kernel matches the filters.</p>\n</section>\n";
}

std::string html_kernels_css() {
  std::vector<std::string> titles;
  for (const Column& column : kColumns) titles.emplace_back(column.title);
  return html_column_names("#results", titles);
}

}  // namespace roofline
