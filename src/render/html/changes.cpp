// Two or more runs: the changes from the first to the last, for each kernel and for the machine.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "render/ceiling_columns.hpp"
#include "render/comparison_columns.hpp"
#include "render/html/escape.hpp"
#include "render/html/sections.hpp"
#include "render/program_change_table.hpp"
#include "report/comparison/comparison.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

const char* chip_of(Change change, bool regression) {
  if (regression) return "fail";
  switch (change) {
    case Change::slower:
    case Change::undecided:
      return "warning";
    case Change::faster:
      return "pass";
    case Change::same:
      return nullptr;
    default:
      return "skipped";
  }
}

using Rows = std::vector<ComparisonRow>;

std::string kernels_table(const Comparison& comparison, const Rows& rows) {
  if (rows.empty()) return {};
  const auto columns = columns_in(kPage, comparison_columns(), comparison);
  return html_table("sortable cards compared", "", comparison_columns(), comparison, rows,
                    [&](const ComparisonRow& row) {
                      std::string values;
                      for (const auto* column : columns)
                        values += (values.empty() ? "" : " ") + sort_text(number_of(sort_value(*column, row)));
                      return fmt::format(" data-v=\"{}\"", values);
                    });
}

/// The ceilings that differ: a kernel may be slower because its machine is.
std::string machine_changes(const Runs& runs) {
  std::vector<CeilingChange> changes = compare_machines(runs.base().machine, runs.last().machine);
  std::erase_if(changes, [](const CeilingChange& change) { return change.change == Change::same; });
  if (changes.empty()) return "<p class=\"lead\">Both runs have the same ceilings.</p>\n";
  return "<h3>Changed ceilings</h3>\n" + html_table("", "", ceiling_change_columns(), MachineChange(), changes);
}

std::string date_of(const Report& run) {
  return run.invocation.started_at.empty() ? "an unknown date" : escape_html(html_time(run.invocation.started_at));
}

/// Suites: the worst change first. Programs: the largest change of the total first. Unchanged kernels are folded.
std::string all_kernels(const Comparison& comparison) {
  const bool programs = comparison.of_programs();
  std::vector<const PointChange*> order = worst_first(comparison);
  const auto total = [&](const PointChange* change) { return std::abs(comparison.total_change(*change)); };
  if (programs) {
    std::ranges::sort(order);
    std::ranges::stable_sort(order, std::ranges::greater(), total);
  }
  const double visible = programs ? 0.001 * comparison.base->profile->kernel_s : 0;
  Rows changed, alike;
  for (const ComparisonRow& row : comparison_rows(comparison, order)) {
    const bool same = row.change->change == Change::same && (!programs || total(row.change) <= visible);
    (same ? alike : changed).push_back(row);
  }
  const std::string html = kernels_table(comparison, changed);
  if (alike.empty()) return html;
  return html + fmt::format("<details class=\"fold\"><summary>{} {} no difference</summary>\n{}</details>\n",
                            alike.size(), alike.size() == 1 ? "kernel shows" : "kernels show",
                            kernels_table(comparison, alike));
}

/// What changed in a step, or in a run of a program.
std::string program_costs_html(const Comparison& comparison) {
  if (!comparison.program) return {};
  std::string html;
  for (const ShownCosts& costs : cost_tables(*comparison.program)) {
    const std::string title = title_of(costs);
    html += fmt::format("<h3>{0}</h3>\n{1}", title, html_table("", title, cost_columns(), costs, costs.rows));
  }
  return html;
}

}  // namespace

std::string html_changes_css(const Comparison& comparison) {
  return html_column_names(".compared", columns_in(kPage, comparison_columns(), comparison));
}

std::string html_change(Change change, bool regression, const std::string& words) {
  const char* style = chip_of(change, regression);
  return style == nullptr ? words : fmt::format("<span class=\"chip {}\">{}</span>", style, words);
}

std::string html_changes(const Runs& runs, const Comparison& comparison) {
  const auto [before, now] = comparison_names(comparison);
  const bool steps = comparison.of_steps();
  const std::vector<std::string> notes = comparison_notes(runs.base(), runs.last());
  return fmt::format(
             "<section id=\"changes\" aria-labelledby=\"changes-h\">\n<h2 id=\"changes-h\">{} and {}</h2>\n{}"
             "<p class=\"lead\">Before: run of {}. Now: run of {}. A change exceeds {}, and the 95 % interval of its "
             "ratio excludes 1.{}</p>\n",
             escape_html(capitalised(before)), escape_html(now), html_list("findings", comparison_findings(comparison)),
             date_of(runs.base()), date_of(runs.last()), percent(kRunToRun),
             runs.size() > 2 ? " Intermediate runs are on the chart only." : "") +
         (notes.empty() ? "" : html_list("warn", notes)) + program_costs_html(comparison) +
         (steps ? "<h3>Launch signatures, whole recordings</h3>\n" : "") + all_kernels(comparison) +
         machine_changes(runs) + "</section>\n";
}

}  // namespace roofline
