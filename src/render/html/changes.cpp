// Two or more runs: what changed from the first to the last, kernel by kernel, and whether the machine did.
#include <fmt/format.h>

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

std::string kernel_row(const Comparison& comparison, const PointChange& change) {
  std::string name = html_name(point_name(comparison.row(change)));
  if (change.now) name = fmt::format("<a href=\"#row-{}\">{}</a>", *change.now, name);
  return fmt::format("<tr><th scope=\"row\" class=\"name\">{}</th>{}{}{}{}\n", name,
                     time_cell(comparison.before(change)), time_cell(comparison.after(change)),
                     number_cell(ratio_text(change), ratio_interval(change)),
                     chip(chip_of(change.change, comparison.is_regression(change)), verdict(comparison, change)));
}

std::string table(const char* what, const std::string& rows) {
  return fmt::format(
      "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">{}</th><th scope=\"col\" class=\"n\">Before</th>"
      "<th scope=\"col\" class=\"n\">Now</th><th scope=\"col\" class=\"n\">Now / before</th>"
      "<th scope=\"col\">Verdict</th></tr></thead><tbody>\n{}</tbody></table></div>\n",
      what, rows);
}

std::string ceiling_row(const CeilingChange& change) {
  const auto value = [&](double v) { return std::isfinite(v) ? ceiling_value(v, change.kind) : std::string(kAbsent); };
  std::string name = change.name;
  if (change.regime != Regime::burst) name += fmt::format(" ({})", to_string(change.regime));
  const bool known = std::isfinite(change.ratio);
  return fmt::format("<tr><th scope=\"row\">{}</th>{}{}{}{}\n", html_name(name), number_cell(value(change.before), {}),
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

}  // namespace

std::string html_changes(const Runs& runs) {
  if (!runs.several()) return {};
  const Comparison comparison = comparison_of(runs);
  std::string rows;
  for (const PointChange& change : comparison.changes) rows += kernel_row(comparison, change);
  return fmt::format(
             "<section id=\"changes\" aria-labelledby=\"changes-h\">\n<h2 id=\"changes-h\">Before and now</h2>\n"
             "<p class=\"lead\">Before is the run of {}, now that of {}. A kernel changed where its time differs by "
             "more "
             "than {} and the 95 % interval of the ratio leaves out 1.{}</p>\n",
             date_of(runs.base()), date_of(runs.last()), percent(kRunToRun),
             runs.size() > 2 ? " The runs between are on the chart only." : "") +
         notes_list(comparison_notes(runs.base(), runs.last())) + table("Kernel", rows) + machine_changes(runs) +
         "</section>\n";
}

}  // namespace roofline
