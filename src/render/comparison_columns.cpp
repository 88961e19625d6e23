#include "render/comparison_columns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/nan.hpp"
#include "render/html/sections.hpp"
#include "report/comparison/row_conditions.hpp"
#include "report/findings.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

bool of_programs(const Comparison& comparison) { return comparison.of_programs(); }
/// Without a requested limit, no row passes or fails.
bool rows_decide(const Comparison& comparison) { return comparison.gate && !comparison.program_decides(); }

/// Values of the row in one run.
Value status_of(const Point* point) { return to_value(point == nullptr ? "" : to_string(point->status)); }
double seconds(const Point* point) { return point != nullptr && point->time ? point->time->median : kNaN; }
double low(const Point* point) { return point != nullptr && point->time ? point->time->ci95.low : kNaN; }
double high(const Point* point) { return point != nullptr && point->time ? point->time->ci95.high : kNaN; }
Value launches_of(const Point* point) {
  return point != nullptr && point->profiled ? Value(point->profiled->launches) : Value();
}
Value total_of(const Point* point) {
  return point != nullptr && point->profiled ? Value(point->profiled->total_s) : Value();
}

/// Launches in a steady step.
std::optional<double> step_launches(const Point* point) {
  const bool known = point != nullptr && point->profiled && point->profiled->step;
  return known ? std::optional(point->profiled->step->launches) : std::nullopt;
}
std::optional<double> step_seconds(const Point* point) {
  const bool known = point != nullptr && point->profiled && point->profiled->step;
  return known ? std::optional(point->profiled->step->seconds) : std::nullopt;
}

std::string time_html(const Point* point) {
  if (point == nullptr || !point->time) return kAbsent;
  return fmt::format("{}<small>{}</small>", duration(point->time->median),
                     escape_html(plus_minus(point->time->median, point->time->ci95)));
}
std::string total_text(const Point* point) {
  return point != nullptr && point->profiled ? duration(point->profiled->total_s) : kAbsent;
}

std::string kernel_html(const ComparisonRow& r) {
  const std::string name = html_name(point_name(r.point()));
  return r.change->now ? fmt::format("<a href=\"#row-{}\">{}</a>", *r.change->now, name) : name;
}
std::string ratio_html(const ComparisonRow& r) {
  const std::string interval = ratio_interval(*r.change);
  return ratio_text(*r.change) + (interval.empty() ? "" : "<small>" + interval + "</small>");
}
std::string change_text(const ComparisonRow& r) { return verdict(*r.comparison, *r.change); }
/// A terminal has one column for both: what changed, and that it fails the gate.
std::string change_terminal(const ComparisonRow& r) {
  return (r.comparison->gate && r.is_regression() ? "fail: " : "") + change_text(r);
}
std::string change_markdown(const ComparisonRow& r) {
  const bool differs = r.change->change == Change::slower || r.change->change == Change::faster;
  return fmt::format("{0}{1}{0}", differs || r.is_regression() ? "**" : "", escape_markdown(change_text(r)));
}
Ink change_ink(const ComparisonRow& r) {
  if (r.is_regression()) return Ink::bad;
  if (r.change->change == Change::slower) return Ink::warn;
  return r.change->change == Change::faster ? Ink::good : Ink::dim;
}
std::string conditions_cell(const ComparisonRow& r) { return conditions_text(conditions_of(r.before, r.now)); }
bool any_conditions(const Comparison& comparison) {
  return std::any_of(comparison.changes.begin(), comparison.changes.end(), [&](const PointChange& change) {
    return !conditions_of(comparison.before(change), comparison.after(change)).empty();
  });
}
std::string verdict_text(const ComparisonRow& r) { return std::string(pass_or_fail(*r.comparison, *r.change)); }

template <auto figure>
constexpr auto comparison_csv(std::string_view key, bool (*when)(const Comparison&) = nullptr) {
  return csv_column<figure, ComparisonRow, Comparison>(key, when);
}

constexpr Column<ComparisonRow, Comparison> kComparisonColumns[] = {
    {.title = "Kernel",
     .place = 1,
     .left = true,
     .text = [](const ComparisonRow& r) { return point_name(r.point()); },
     .terminal = {.first_to = 20, .shrinks = true},
     .page = {.style = "name",
              .html = kernel_html,
              .sort = [](const ComparisonRow& r) -> Value {
                return static_cast<double>(r.change - r.comparison->changes.data());
              }}},
    comparison_csv<[](const ComparisonRow& r) { return r.point().workload.label; }>("workload"),
    comparison_csv<[](const ComparisonRow& r) { return r.point().workload.op; }>("op"),
    comparison_csv<[](const ComparisonRow& r) { return r.point().workload.implementation; }>("implementation"),
    comparison_csv<[](const ComparisonRow& r) { return to_string(r.point().workload.dtype); }>("dtype"),
    comparison_csv<[](const ComparisonRow& r) { return shape_text(r.point().workload.shape); }>("shape"),
    comparison_csv<[](const ComparisonRow& r) { return to_string(r.point().workload.cache); }>("cache"),
    comparison_csv<[](const ComparisonRow& r) { return status_of(r.before); }>("status_before"),
    comparison_csv<[](const ComparisonRow& r) { return status_of(r.now); }>("status_now"),
    {.key = "before_s",
     .title = "Before",
     .in = kCsv | kPeople,
     .place = 2,
     .value = [](const ComparisonRow& r) -> Value { return seconds(r.before); },
     .unit = Unit::seconds,
     .page = {.html = [](const ComparisonRow& r) { return time_html(r.before); }}},
    comparison_csv<[](const ComparisonRow& r) { return low(r.before); }>("before_low_s"),
    comparison_csv<[](const ComparisonRow& r) { return high(r.before); }>("before_high_s"),
    {.key = "now_s",
     .title = "Now",
     .in = kCsv | kPeople,
     .place = 3,
     .value = [](const ComparisonRow& r) -> Value { return seconds(r.now); },
     .unit = Unit::seconds,
     .page = {.html = [](const ComparisonRow& r) { return time_html(r.now); }}},
    comparison_csv<[](const ComparisonRow& r) { return low(r.now); }>("now_low_s"),
    comparison_csv<[](const ComparisonRow& r) { return high(r.now); }>("now_high_s"),
    {.key = "time_ratio",
     .title = "Ratio",
     .in = kCsv | kPeople,
     .place = 4,
     .value = [](const ComparisonRow& r) -> Value { return r.change->time_ratio; },
     .text = [](const ComparisonRow& r) { return ratio_text(*r.change); },
     .page = {.title = "Now / before", .html = ratio_html}},
    {.title = "95 %",
     .in = kMarkdown | kTerminal,
     .place = 5,
     .text = [](const ComparisonRow& r) { return ratio_interval(*r.change); },
     .terminal = {.ink = [](const ComparisonRow&) { return Ink::dim; }, .rank = 1}},
    comparison_csv<[](const ComparisonRow& r) { return r.change->ratio_ci95.low; }>("ratio_low"),
    comparison_csv<[](const ComparisonRow& r) { return r.change->ratio_ci95.high; }>("ratio_high"),
    {.key = "change",
     .title = "Change",
     .in = kCsv | kPeople,
     .place = 7,
     .left = true,
     .value = [](const ComparisonRow& r) { return to_value(to_string(r.change->change)); },
     .text = change_text,
     .markdown = {.text = change_markdown},
     .terminal = {.text = change_terminal, .ink = change_ink},
     .page = {
         .html =
             [](const ComparisonRow& r) { return html_change(r.change->change, r.is_regression(), change_text(r)); },
         .sort = [](const ComparisonRow& r) -> Value { return static_cast<double>(r.change->change); }}},
    comparison_csv<[](const ComparisonRow& r) { return r.is_regression(); }>("regression"),
    {.title = "Verdict",
     .in = kDocuments,
     .place = 8,
     .left = true,
     .shown = rows_decide,
     .text = verdict_text,
     .page = {
         .html =
             [](const ComparisonRow& r) { return html_verdict(r.is_regression() ? "fail" : "pass", verdict_text(r)); },
         .sort = [](const ComparisonRow& r) -> Value { return r.is_regression() ? 0.0 : 1.0; }}},
    {.title = "In total",
     .place = 9,
     .when = of_programs,
     .value = [](const ComparisonRow& r) -> Value { return r.comparison->total_change(*r.change); },
     .text = [](const ComparisonRow& r) { return total_change_text(*r.comparison, *r.change); },
     .terminal = {.place = 6},
     .page = {.html =
                  [](const ComparisonRow& r) {
                    return fmt::format("{}<small>{} \u2192 {}</small>", total_change_text(*r.comparison, *r.change),
                                       total_text(r.before), total_text(r.now));
                  },
              .place = 6}},
    comparison_csv<[](const ComparisonRow& r) { return launches_of(r.before); }>("launches_before", of_programs),
    comparison_csv<[](const ComparisonRow& r) { return total_of(r.before); }>("total_before_s", of_programs),
    comparison_csv<[](const ComparisonRow& r) { return launches_of(r.now); }>("launches_now", of_programs),
    comparison_csv<[](const ComparisonRow& r) { return total_of(r.now); }>("total_now_s", of_programs),
    comparison_csv<[](const ComparisonRow& r) { return to_string(r.change->basis); }>("interval_covers"),
    comparison_csv<[](const ComparisonRow& r) { return r.change->repetitions_before; }>("repetitions_before"),
    comparison_csv<[](const ComparisonRow& r) { return r.change->repetitions_now; }>("repetitions_now"),
    {.key = "conditions",
     .title = "Other conditions",
     .in = kCsv | kPeople,
     .place = 10,
     .left = true,
     .shown = any_conditions,
     .value = [](const ComparisonRow& r) -> Value { return conditions_cell(r); },
     .text = conditions_cell,
     .terminal = {.ink = [](const ComparisonRow&) { return Ink::warn; }, .rank = 3}},
    comparison_csv<[](const ComparisonRow& r) { return step_launches(r.before); }>("step_launches_before", of_programs),
    comparison_csv<[](const ComparisonRow& r) { return step_seconds(r.before); }>("step_before_s", of_programs),
    comparison_csv<[](const ComparisonRow& r) { return step_launches(r.now); }>("step_launches_now", of_programs),
    comparison_csv<[](const ComparisonRow& r) { return step_seconds(r.now); }>("step_now_s", of_programs),
};

}  // namespace

std::vector<ComparisonRow> comparison_rows(const Comparison& comparison,
                                           const std::vector<const PointChange*>& changes) {
  std::vector<ComparisonRow> rows;
  for (const PointChange* change : changes)
    rows.push_back({&comparison, change, comparison.before(*change), comparison.after(*change)});
  return rows;
}

std::vector<ComparisonRow> comparison_rows(const Comparison& comparison) {
  std::vector<const PointChange*> changes;
  for (const PointChange& change : comparison.changes) changes.push_back(&change);
  return comparison_rows(comparison, changes);
}

std::span<const Column<ComparisonRow, Comparison>> comparison_columns() { return kComparisonColumns; }

}  // namespace roofline
