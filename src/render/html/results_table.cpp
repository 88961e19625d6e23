#include "render/html/results_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>

#include "render/html/escape.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMany = 120, kFirstRows = 60;

/// Digits as the number that they are; everything else as it is.
bool natural_less(std::string_view a, std::string_view b) {
  const auto digits = [](std::string_view text) {
    const auto end = std::find_if(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) == 0; });
    return text.substr(0, static_cast<std::size_t>(end - text.begin()));
  };
  while (!a.empty() && !b.empty()) {
    std::string_view x = digits(a), y = digits(b);
    if (x.empty() || y.empty()) {
      if (a.front() != b.front()) return a.front() < b.front();
      a.remove_prefix(1);
      b.remove_prefix(1);
      continue;
    }
    a.remove_prefix(x.size());
    b.remove_prefix(y.size());
    x.remove_prefix(std::min(x.find_first_not_of('0'), x.size()));
    y.remove_prefix(std::min(y.find_first_not_of('0'), y.size()));
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
  }
  return a.size() < b.size();
}

std::string row_html(const ResultRow& row) {
  std::string values;
  for (const double value : row.sort_by)
    values += (values.empty() ? "" : " ") + (std::isfinite(value) ? fmt::format("{:.5g}", value) : std::string("-"));
  return fmt::format("<tr {}{}>{}\n", row.attributes, values.empty() ? "" : fmt::format(" data-v=\"{}\"", values),
                     row.cells);
}

std::string head(const ResultsTable& table) {
  std::string html = "<thead><tr>";
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    html += fmt::format("<th scope=\"col\" class=\"{}\"{} title=\"{}\">{}", column.style,
                        i == table.sorted ? " aria-sort=\"descending\"" : "", column.meaning, column.title);
  }
  return html + "</tr></thead>\n";
}

std::string table_html(const ResultsTable& table, const char* id, const std::string& rows) {
  return fmt::format("<table id=\"{}\" class=\"cards results {}\" data-family=\"{}\">\n{}<tbody>\n{}</tbody></table>\n",
                     id, table.style, table.families, head(table), rows);
}

}  // namespace

std::string html_results(const ResultsTable& table, const std::vector<ResultRow>& rows) {
  std::string html = fmt::format(
      "<section id=\"kernels\" aria-labelledby=\"kernels-h\">\n<div class=\"row\"><h2 id=\"kernels-h\">{}</h2>"
      "<label class=\"filter\" hidden>Filter <input type=\"search\" id=\"filter\" autocomplete=\"off\" "
      "placeholder=\"{}\"></label></div>\n{}<div class=\"filters\" id=\"chips\" hidden></div>\n",
      table.title, table.placeholder, table.lead.empty() ? "" : fmt::format("<p class=\"lead\">{}</p>\n", table.lead));
  if (rows.empty()) return html + fmt::format("<p>{}</p>\n</section>\n", table.empty);
  std::string first, later;
  const std::size_t elements = rows.size() > kMany ? kFirstRows : rows.size();
  for (std::size_t i = 0; i < rows.size(); ++i) (i < elements ? first : later) += row_html(rows[i]);
  html += "<div class=\"scroll\">" + table_html(table, "results", first) + "</div>\n";
  if (!later.empty())
    html += "<noscript id=\"later-rows\">" + table_html(table, "results-later", later) + "</noscript>\n";
  return html + "<p id=\"none\" hidden>No kernel matches the filters.</p>\n</section>\n";
}

std::string html_cell(const Column& column, const std::string& content) {
  return fmt::format("<td class=\"{}\">{}", column.style, content);
}

std::vector<double> natural_ranks(const std::vector<std::string>& texts) {
  std::vector<std::size_t> order(texts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return natural_less(texts[a], texts[b]); });
  std::vector<double> ranks(texts.size());
  double rank = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && natural_less(texts[order[i - 1]], texts[order[i]])) ++rank;
    ranks[order[i]] = rank;
  }
  return ranks;
}

std::string html_column_names(std::string_view table, std::span<const Column> columns) {
  std::vector<std::string> titles;
  for (const Column& column : columns) titles.emplace_back(column.title);
  return html_column_names(table, titles);
}

}  // namespace roofline
