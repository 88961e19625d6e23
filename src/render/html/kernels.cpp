// The results table: one row a workload, also where it has no point, and then why.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "render/chart/points.hpp"
#include "render/html/escape.hpp"
#include "render/html/marks.hpp"
#include "render/html/results_table.hpp"
#include "render/html/sections.hpp"
#include "report/findings.hpp"
#include "report/network.hpp"
#include "report/roof_share.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr Column kOpColumns[] = {
    {"Kernel", "name", "As the suite names it; below it the implementation"},
    {"To win", "n", "Time of one launch above what its roof allows"},
    {"Time", "n", "Median of one launch, with half its 95 % interval"},
    {"% of roof", "roof",
     "Attainable over measured time, at the clock that the kernel ran at; below it the 95 % interval"},
    {"% of burst roof", "n burst", "The same against the roof before the power limit acts, with its 95 % interval"},
    {"Performance", "n", "FLOPs of the work model over the median time"},
    {"Bandwidth", "n bytes", "Compulsory bytes of main memory (each input and output once) over the median time"},
    {"AI", "n", "Arithmetic intensity at main memory, FLOP/byte; below it the ridge point of its pipe"},
    {"Bound", "bound", "The kind of resource that needs the most time; below it the ceiling that limits the kernel"},
    {"Verified", "check", "Whether the output is that of the reference"},
    {"Verdict", "verdict", "What holds the kernel; it leads to the evidence"}};

bool is_timed(const Point& point) { return point.status == PointStatus::ok && point.time; }

std::string two_lines(const std::string& first, const std::string& second) {
  return second.empty() ? first : fmt::format("{}<small>{}</small>", first, second);
}

/// The name leads to the point on the chart, where it has one.
std::string name_cell(const std::string& mark, const Point& point, std::size_t index) {
  const Workload& workload = point.workload;
  // A suite that runs several implementations on one shape says which in the label already.
  const bool said = workload.label.ends_with(" " + workload.implementation);
  std::string below = said ? "" : html_name(workload.implementation, 40);
  if (workload.cache == CacheMode::hot) below += below.empty() ? "hot cache" : ", hot cache";
  std::string name = html_isolated(workload.label.empty() ? workload.op : workload.label);
  if (point.performance() > 0) name = fmt::format("<a href=\"#point-{}\">{}</a>", index, name);
  return fmt::format("<th scope=\"row\" class=\"name\">{}<span>{}</span>", mark, two_lines(name, below));
}

/// "time limit": the file's word, as people write it.
std::string stop_words(StopReason reason) {
  std::string words = escape_html(to_string(reason));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string time_cell(const Point& point) {
  const Summary& time = *point.time;
  std::string below = plus_minus(time.median, time.ci95);
  if (time.drifting) {
    below += " \u00b7 drifting";
  } else if (time.stop != StopReason::converged) {
    below += " \u00b7 " + stop_words(time.stop);
  }
  return duration(time.median) +
         fmt::format("<small{}>{}</small>", badly_measured(point) ? " class=\"warn\"" : "", below);
}

/// "90\u201398 %"; empty where there is none.
std::string interval_of(const RoofShare& share) {
  const std::string text = interval_text(share);
  return text.empty() ? text : text + " %";
}

/// Its interval, or what is wrong with it.
std::string below_share(const Point& point, const RoofShare& share, const Machine& machine) {
  if (not_cold(point, machine)) return "<small class=\"warn\">\u25b2 not cold</small>";
  if (point.above_roof()) return "<small class=\"warn\">\u25b2 above its roof</small>";
  const std::string interval = interval_of(share);
  return interval.empty() ? "" : fmt::format("<small>{}</small>", interval);
}

std::string roof_cell(const Point& point, const RoofShare& share, const Machine& machine) {
  if (!std::isfinite(share.fraction)) return kAbsent;
  return fmt::format("<svg class=\"bar{}\"><rect width=\"{:.1f}%\"/></svg>{}{}", point.above_roof() ? " above" : "",
                     std::clamp(100 * share.fraction, 0.0, 100.0), percent(share.fraction),
                     below_share(point, share, machine));
}

std::string verification_cell(const Point& point) {
  if (!point.verification) return kAbsent;
  const Verification& verification = *point.verification;
  const char* state = verification.passed ? "pass" : "fail";
  return fmt::format("<span title=\"largest error {}, tolerance {}\">{}</span>",
                     escape_html(number(verification.error, 2)), escape_html(number(verification.tolerance, 2)),
                     html_verdict(state, state));
}

struct Timed {
  const Report& report;
  const Point& point;
  const Verdict* verdict;
  bool told;               ///< whether the verdict stands in full below the table
  RoofShare share, burst;  ///< the same where the kernel is held against the burst roof

  /// In the order of the columns, from the second on.
  std::vector<double> sort_by(double bound_rank) const {
    return {verdict != nullptr ? verdict->gain_s : std::nan(""),
            point.time->median,
            share.fraction,
            burst.fraction,
            point.performance(),
            point.bandwidth(memory()),
            point.bound.arithmetic_intensity,
            bound_rank,
            point.verification ? point.verification->error : std::nan(""),
            verdict != nullptr ? static_cast<double>(verdict->kind) : std::nan("")};
  }

  std::string cells() const {
    const Bound& bound = point.bound;
    const double bandwidth = point.bandwidth(memory()), flops = point.performance();
    std::string html = html_cell(kOpColumns[1], gain());
    html += html_cell(kOpColumns[2], time_cell(point));
    html += html_cell(kOpColumns[3], roof_cell(point, share, report.machine));
    html += html_cell(kOpColumns[4],
                      std::isfinite(burst.fraction) ? two_lines(percent(burst.fraction), interval_of(burst)) : kAbsent);
    html += html_cell(kOpColumns[5], flops > 0 ? performance_text(point) : "no FLOPs");
    html += html_cell(kOpColumns[6], two_lines(bandwidth > 0 ? rate(bandwidth, CeilingKind::bandwidth) : "no bytes",
                                               network_text(point)));
    html += html_cell(kOpColumns[7], two_lines(intensity(bound.arithmetic_intensity),
                                               std::isfinite(bound.ridge) ? "ridge " + number(bound.ridge, 3) : ""));
    html += html_cell(kOpColumns[8],
                      html_bound(bound) + (bound.limiting_ceiling.empty()
                                               ? ""
                                               : fmt::format("<small>{}{}</small>", html_name(limit_label(bound), 24),
                                                             bound.suspect ? ", suspect" : "")));
    html += html_cell(kOpColumns[9], verification_cell(point));
    return html + html_cell(kOpColumns[10], verdict != nullptr ? html_verdict_cell(*verdict, told) : "");
  }

 private:
  Level memory() const { return main_memory(report.machine.device.kind); }
  std::string gain() const {
    if (verdict == nullptr || !std::isfinite(verdict->gain_s)) return kAbsent;
    return verdict->gain_s > 0 ? duration(verdict->gain_s) : "0";
  }
};

std::string untimed_row(const Point& point) {
  const std::string reason = point.reason.empty() ? "no reason was recorded" : point.reason;
  return fmt::format("<td class=\"reason\" colspan=\"10\"><span class=\"chip {0}\">{0}</span> <span>{1}</span>{2}",
                     to_string(point.status), escape_html(shorten(clean_line(reason), 600)),
                     std::isnan(point.bound.arithmetic_intensity)
                         ? ""
                         : fmt::format("<small>AI {} FLOP/byte</small>", intensity(point.bound.arithmetic_intensity)));
}

/// What the filters ask for: family, type and bound.
std::string row_data(const Point& point) {
  std::string data = fmt::format(" data-family=\"{}\" data-dtype=\"{}\"", escape_html(family_of(point)),
                                 to_string(point.workload.dtype));
  return data +
         (is_timed(point) ? fmt::format(" data-bound=\"{}\"", to_string(point.bound.label)) : " class=\"untimed\"");
}

}  // namespace

std::string html_bound(const Bound& bound) {
  const std::string_view name = to_string(bound.label);
  return fmt::format("<span class=\"b b-{}\">{}</span>", name, name);
}

std::string html_kernels(const Report& report, const Marks& marks, const std::vector<Verdict>& verdicts) {
  std::map<std::size_t, const Verdict*> verdict_of;
  for (const Verdict& verdict : verdicts) verdict_of[verdict.row] = &verdict;
  std::set<std::size_t> told;
  for (const Verdict* verdict : told_verdicts(verdicts)) told.insert(verdict->row);
  std::vector<std::string> names, bounds;
  for (const Point& point : report.points) {
    names.push_back(point_name(point));
    bounds.push_back(fmt::format("{} {}", to_string(point.bound.label), limit_label(point.bound)));
  }
  const std::vector<double> name_ranks = natural_ranks(names), bound_ranks = natural_ranks(bounds);
  const auto row = [&](std::size_t i) {
    const Point& point = report.points[i];
    ResultRow result{.attributes = fmt::format("id=\"row-{}\"{}", i, row_data(point)),
                     .sort_by = {name_ranks[i]},
                     .cells = name_cell(marks.of(point), point, i)};
    if (!is_timed(point)) {
      result.cells += untimed_row(point);
      return result;
    }
    const RoofShare share = share_of_roof(point);
    const auto verdict = verdict_of.find(i);
    const Timed timed{report,           point, verdict == verdict_of.end() ? nullptr : verdict->second,
                      told.contains(i), share, share_of_burst_roof(point, report.machine).value_or(share)};
    const std::vector<double> sort_by = timed.sort_by(bound_ranks[i]);
    result.sort_by.insert(result.sort_by.end(), sort_by.begin(), sort_by.end());
    result.cells += timed.cells();
    return result;
  };
  // By the time that could be won, as the verdicts are; then what has no time.
  std::vector<ResultRow> rows;
  for (const Verdict& verdict : verdicts) rows.push_back(row(verdict.row));
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    if (!verdict_of.contains(i)) rows.push_back(row(i));
  }
  return html_results(
      {.title = "Kernels",
       .lead = "<i>% of roof</i> is of what the roof allows at the clock that the kernel ran at, <i>% of "
               "burst roof</i> of what it allows before the power limit acts: a kernel that draws more "
               "power runs at a lower clock. Both with the 95 % interval.",
       .placeholder = "name, bound, verdict",
       .style = "ops",
       .families = "Family",
       .empty = "No workload was run.",
       .columns = kOpColumns,
       .sorted = 1},
      rows);
}

std::string html_kernels_css() { return html_column_names(".ops", kOpColumns); }

}  // namespace roofline
