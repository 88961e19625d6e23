// Two or more runs: what changed from the first to the last, kernel by kernel, and whether the machine did.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "render/html/escape.hpp"
#include "render/html/sections.hpp"
#include "report/comparison/comparison.hpp"
#include "report/findings.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

const char* chip_of(Change change, bool regression) {
  if (regression) return "fail";
  switch (change) {
    case Change::slower:
      return "warning";
    case Change::faster:
      return "pass";
    case Change::same:
      return nullptr;
    default:
      return "skipped";
  }
}

std::string chip(const char* style, const std::string& words) {
  return style == nullptr ? "<td>" + words : fmt::format("<td><span class=\"chip {}\">{}</span>", style, words);
}

std::string number_cell(const std::string& value, const std::string& below) {
  return fmt::format("<td class=\"n\">{}{}", value, below.empty() ? "" : fmt::format("<small>{}</small>", below));
}

std::string time_cell(const Point* point) {
  if (point == nullptr || !point->time) return number_cell(kAbsent, {});
  const Summary& time = *point->time;
  return number_cell(duration(time.median), escape_html(plus_minus(time.median, time.ci95)));
}

/// "2.04 s → 1.63 s".
std::string total_below(const Comparison& comparison, const PointChange& change) {
  const auto total = [](const Point* point) {
    return point != nullptr && point->profiled ? duration(point->profiled->total_s) : std::string(kAbsent);
  };
  return fmt::format("{} \u2192 {}", total(comparison.before(change)), total(comparison.after(change)));
}

/// What the page's script sorts by, a number a column.
std::string sort_values(const Comparison& comparison, const PointChange& change) {
  const auto time = [](const Point* point) {
    return point != nullptr && point->time ? point->time->median : std::nan("");
  };
  std::vector<double> values = {static_cast<double>(&change - comparison.changes.data()),
                                time(comparison.before(change)), time(comparison.after(change)), change.time_ratio};
  if (comparison.of_programs()) values.push_back(comparison.total_change(change));
  values.push_back(static_cast<double>(change.change));
  values.push_back(comparison.is_regression(change) ? 0 : 1);
  std::string text;
  for (const double value : values)
    text += (text.empty() ? "" : " ") + (std::isfinite(value) ? fmt::format("{:.5g}", value) : std::string("-"));
  return text;
}

std::string kernel_row(const Comparison& comparison, const PointChange& change) {
  std::string name = html_name(point_name(comparison.row(change)));
  if (change.now) name = fmt::format("<a href=\"#row-{}\">{}</a>", *change.now, name);
  const std::string total = comparison.of_programs()
                                ? number_cell(total_change_text(comparison, change), total_below(comparison, change))
                                : "";
  const bool regression = comparison.is_regression(change);
  return fmt::format("<tr data-v=\"{}\"><th scope=\"row\" class=\"name\">{}{}{}{}{}{}<td>{}\n",
                     sort_values(comparison, change), name, time_cell(comparison.before(change)),
                     time_cell(comparison.after(change)), number_cell(ratio_text(change), ratio_interval(change)),
                     total, chip(chip_of(change.change, regression), verdict(comparison, change)),
                     html_verdict(regression ? "fail" : "pass", pass_or_fail(comparison, change)));
}

std::string table(const char* what, const std::string& rows, bool of_kernels = false, bool totals = false) {
  return fmt::format(
      "<div class=\"scroll\"><table class=\"{}\"><thead><tr><th scope=\"col\">{}<th scope=\"col\" "
      "class=\"n\">Before<th scope=\"col\" class=\"n\">Now<th scope=\"col\" class=\"n\">Now / before"
      "{}<th scope=\"col\">Change{}</tr></thead><tbody>\n{}</tbody></table></div>\n",
      of_kernels ? "sortable" : "", what, totals ? "<th scope=\"col\" class=\"n\">In total" : "",
      of_kernels ? "<th scope=\"col\">Verdict" : "", rows);
}

std::string ceiling_row(const CeilingChange& change) {
  const auto value = [&](double v) { return std::isfinite(v) ? ceiling_value(v, change.kind) : std::string(kAbsent); };
  std::string name = change.name;
  if (change.regime != Regime::burst) name += fmt::format(" ({})", to_string(change.regime));
  const bool known = std::isfinite(change.ratio);
  return fmt::format("<tr><th scope=\"row\">{}{}{}{}{}\n", html_name(name), number_cell(value(change.before), {}),
                     number_cell(value(change.now), {}),
                     number_cell(known ? fmt::format("{:.3f}", change.ratio) : kAbsent, {}),
                     chip(chip_of(change.change, false), std::string(to_string(change.change))));
}

/// The ceilings that differ: a kernel may be slower because its machine is.
std::string machine_changes(const Runs& runs) {
  std::string rows;
  for (const CeilingChange& change : compare_machines(runs.base().machine, runs.last().machine)) {
    if (change.change != Change::same) rows += ceiling_row(change);
  }
  if (rows.empty()) return "<p class=\"lead\">The ceilings of both runs agree.</p>\n";
  return "<h3>The machine changed, too</h3>\n" + table("Ceiling", rows);
}

std::string notes_list(const std::vector<std::string>& notes) {
  if (notes.empty()) return {};
  std::string html = "<ul class=\"warn\">\n";
  for (const std::string& note : notes) html += fmt::format("<li>{}</li>\n", escape_html(note));
  return html + "</ul>\n";
}

std::string date_of(const Report& run) {
  return run.invocation.started_at.empty() ? "an unknown date" : escape_html(html_time(run.invocation.started_at));
}

std::string folded_rows(const std::string& rows, std::size_t count, bool totals) {
  if (rows.empty()) return {};
  return fmt::format("<details class=\"fold\"><summary>{} {} no difference</summary>\n{}</details>\n", count,
                     count == 1 ? "kernel shows" : "kernels show", table("Kernel", rows, true, totals));
}

/// The worst first; those that did not change are folded.
std::string suite_rows(const Comparison& comparison) {
  std::string changed, alike;
  std::size_t alike_count = 0;
  for (const PointChange* change : worst_first(comparison)) {
    const bool same = change->change == Change::same;
    (same ? alike : changed) += kernel_row(comparison, *change);
    alike_count += same ? 1 : 0;
  }
  return (changed.empty() ? "" : table("Kernel", changed, true)) + folded_rows(alike, alike_count, false);
}

/// By how much the totals of their launches changed; those that did not are folded.
std::string program_rows(const Comparison& comparison) {
  std::vector<const PointChange*> order;
  for (const PointChange& change : comparison.changes) order.push_back(&change);
  std::stable_sort(order.begin(), order.end(), [&](const PointChange* a, const PointChange* b) {
    return std::abs(comparison.total_change(*a)) > std::abs(comparison.total_change(*b));
  });
  const double visible = 0.001 * comparison.base->profile->kernel_s;
  std::string changed, alike;
  std::size_t alike_count = 0;
  for (const PointChange* change : order) {
    const bool same = change->change == Change::same && std::abs(comparison.total_change(*change)) <= visible;
    (same ? alike : changed) += kernel_row(comparison, *change);
    alike_count += same ? 1 : 0;
  }
  std::string html = changed.empty() ? "" : table("Kernel", changed, true, true);
  return html + folded_rows(alike, alike_count, true);
}

}  // namespace

std::string html_changes(const Runs& runs) {
  if (!runs.several()) return {};
  const Comparison comparison = comparison_of(runs);
  std::string findings;
  for (const std::string& sentence : comparison_findings(comparison))
    findings += fmt::format("<li>{}</li>\n", escape_html(sentence));
  const std::string outcome = fmt::format("<p class=\"outcome\">{}</p>\n<ul class=\"findings\">\n{}</ul>\n",
                                          escape_html(outcome_line(comparison)), findings);
  const std::string kernels = comparison.of_programs() ? program_rows(comparison) : suite_rows(comparison);
  return fmt::format(
             "<section id=\"changes\" aria-labelledby=\"changes-h\">\n<h2 id=\"changes-h\">Before and now</h2>\n{}"
             "<p class=\"lead\">Before is the run of {}, now that of {}. A kernel changed where its time differs by "
             "more "
             "than {} and the 95 % interval of the ratio leaves out 1.{}</p>\n",
             outcome, date_of(runs.base()), date_of(runs.last()), percent(kRunToRun),
             runs.size() > 2 ? " The runs between are on the chart only." : "") +
         notes_list(comparison_notes(runs.base(), runs.last())) + kernels + machine_changes(runs) + "</section>\n";
}

}  // namespace roofline
