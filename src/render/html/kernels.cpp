// The table of kernels, of a suite and of a program alike: rows that sort by numbers, of very many only the first as
// elements.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "render/chart/points.hpp"
#include "render/html/sections.hpp"
#include "render/kernel_columns.hpp"
#include "report/profile_findings.hpp"
#include "report/work_source.hpp"
#include "text/format.hpp"
#include "text/natural_order.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMany = 120, kFirstRows = 60;

using Columns = std::vector<const KernelColumn*>;

/// The sort key of each row in a column; texts are replaced by their rank.
std::vector<double> sort_numbers(const KernelColumn& column, const std::vector<KernelRow>& rows) {
  std::vector<double> numbers;
  std::vector<std::string> texts;
  for (const KernelRow& row : rows) {
    const Value value = sort_value(column, row);
    const auto* text = std::get_if<std::string>(&value);
    if (text != nullptr) texts.push_back(*text);
    numbers.push_back(number_of(value));
  }
  return texts.empty() ? numbers : natural_ranks(texts);
}

/// What follows the first line of a reason is a compiler's output, whose lines stay as they are. An element of a row
/// has one line of HTML: its line feeds are entities.
std::string html_output(const std::vector<std::string>& lines) {
  if (lines.size() < 2) return "";
  std::string html = "<pre tabindex=\"0\">";
  for (std::size_t i = 1; i < lines.size(); ++i) html += (i > 1 ? "&#10;" : "") + escape_html(shorten(lines[i], 400));
  return html + "</pre>";
}

std::string untimed_cells(const KernelRow& row, std::size_t columns) {
  constexpr std::size_t kMostReasonLines = 100;
  const Point& point = row.point;
  const std::vector<std::string> lines =
      clean_lines(point.reason.empty() ? "no reason was recorded" : point.reason, kMostReasonLines);
  return fmt::format("<td class=\"reason\" colspan=\"{3}\"><span class=\"chip {0}\">{0}</span> <span>{1}</span>{2}{4}",
                     to_string(point.status), escape_html(shorten(clean_line(lines.front()), 600)),
                     std::isnan(point.bound.arithmetic_intensity)
                         ? ""
                         : fmt::format("<small>AI {} FLOP/byte</small>", intensity(point.bound.arithmetic_intensity)),
                     columns, html_output(lines));
}

/// Attributes for the filters: family, type and bound.
std::string row_data(const KernelRow& row) {
  const std::string data = fmt::format(" data-family=\"{}\" data-dtype=\"{}\"", escape_html(family_of(row.point)),
                                       to_string(row.point.workload.dtype));
  if (row.report.profile) return data;
  return data +
         (row.timed() ? fmt::format(" data-bound=\"{}\"", to_string(row.point.bound.label)) : " class=\"untimed\"");
}

/// The elements of all rows.
std::vector<std::string> row_elements(const Columns& columns, const std::vector<KernelRow>& rows) {
  std::vector<std::vector<double>> sorts;
  for (const KernelColumn* column : columns) sorts.push_back(sort_numbers(*column, rows));
  std::vector<std::string> elements;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool whole = rows[i].report.profile || rows[i].timed();
    std::string values;
    for (std::size_t c = 0; c < (whole ? columns.size() : 1); ++c) {
      values += (c == 0 ? "" : " ") + sort_text(sorts[c][i]);
    }
    elements.push_back(fmt::format(
        "<tr id=\"row-{}\"{} data-v=\"{}\">{}\n", rows[i].index, row_data(rows[i]), values,
        whole ? html_cells(columns, rows[i])
              : html_cells(Columns{columns.front()}, rows[i]) + untimed_cells(rows[i], columns.size() - 1)));
  }
  return elements;
}

std::string program_lead(const Report& report) {
  const bool graphs = std::any_of(report.points.begin(), report.points.end(),
                                  [](const Point& p) { return p.profiled && p.profiled->graph; });
  const std::string sources = shows_sources(report)
                                  ? where_figures_are_from(report)
                                  : "Every launch is timed. FLOPs and bytes are per launch, from hardware counters.";
  return sources + (graphs ? " The row of a CUDA graph sums its kernels, which also have rows of their own." : "");
}

constexpr const char* kSuiteLead =
    "<i>% of roof</i> compares with the roof at the clock that the kernel ran at, <i>% of burst roof</i> with the roof "
    "before power limiting. Below each: the 95 % interval.";

/// A program's rows by the time that could be saved, where that is known of any; else by their time.
std::vector<KernelRow> sorted_program_rows(const Report& report, const std::vector<Verdict>& verdicts,
                                           bool& by_saving) {
  const std::vector<KernelRow> rows = program_rows(report, verdicts);
  const auto saving = [&](std::size_t i) { return std::isfinite(rows[i].saving_s()) ? rows[i].saving_s() : -1; };
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  by_saving = std::ranges::any_of(order, [&](std::size_t i) { return saving(i) >= 0; });
  if (by_saving) std::ranges::stable_sort(order, std::ranges::greater(), saving);
  std::vector<KernelRow> sorted;
  for (const std::size_t i : order) sorted.push_back(rows[i]);
  return sorted;
}

}  // namespace

/// A browser takes seconds for ten thousand rows of elements, so those beyond the first are text to a page that runs
/// its script, which makes a row when it is shown, and elements to one that does not.
std::string html_kernels(const Report& report, const Marks& marks, const std::vector<Verdict>& verdicts) {
  const bool of_program = report.profile.has_value();
  bool by_saving = true;
  std::vector<KernelRow> rows =
      of_program ? sorted_program_rows(report, verdicts, by_saving) : rows_by_saving(report, verdicts);
  for (KernelRow& row : rows) row.marks = &marks;
  std::string html = fmt::format(
      "<section id=\"kernels\" aria-labelledby=\"kernels-h\">\n<div class=\"row\"><h2 id=\"kernels-h\">Kernels</h2>"
      "<label class=\"filter\" hidden>Filter <input type=\"search\" id=\"filter\" autocomplete=\"off\" "
      "placeholder=\"{}\"></label></div>\n<p class=\"lead\">{}</p>\n<div class=\"filters\" id=\"chips\" "
      "hidden></div>\n",
      of_program ? "name, module, line" : "name, bound, verdict", of_program ? program_lead(report) : kSuiteLead);
  if (rows.empty())
    return html +
           fmt::format("<p>{}</p>\n</section>\n", of_program ? "No kernel was recorded." : "No workload was run.");
  const Columns columns = columns_in(kPage, kernel_columns(), report);
  const std::vector<std::string> elements = row_elements(columns, rows);
  const auto table = [&](const char* id, std::size_t from, std::size_t to) {
    std::string text = fmt::format("<table id=\"{}\" class=\"cards results {}\" data-family=\"{}\">\n{}\n<tbody>\n", id,
                                   of_program ? "kinds" : "ops", of_program ? "Bound" : "Family",
                                   html_head(columns, by_saving ? 1 : 2));
    for (std::size_t i = from; i < to; ++i) text += elements[i];
    return text + "</tbody></table>\n";
  };
  const std::size_t first = rows.size() > kMany ? kFirstRows : rows.size();
  html += "<div class=\"scroll\">" + table("results", 0, first) + "</div>\n";
  if (first < rows.size())
    html += "<noscript id=\"later-rows\">" + table("results-later", first, rows.size()) + "</noscript>\n";
  return html + "<p id=\"none\" hidden>No kernel matches the filters.</p>\n</section>\n";
}

std::string html_kernels_css(bool of_program) {
  Report report;
  if (of_program) report.profile.emplace();
  return html_column_names(of_program ? ".kinds" : ".ops", columns_in(kPage, kernel_columns(), report));
}

}  // namespace roofline
