#include "render/html/bars.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "render/html/escape.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr double kLabelled = 4;  // per cent of the width from which a bar has room for a name
constexpr double kOpacity = 0.6;

/// Without the zeros that a place needs not.
std::string places(double per_cent) {
  std::string text = fmt::format("{:.4f}", per_cent);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string bar_html(const PageBar& bar) {
  if (!(bar.width > 0)) return {};
  const std::string name = escape_html(shorten(clean_line(bar.name), 70));
  const std::string row = bar.row >= 0 ? fmt::format(" data-row=\"{}\"", bar.row) : "";
  const std::string opacity =
      bar.density < 1 ? fmt::format(" fill-opacity=\"{:.2f}\"", kOpacity * std::max(0.15, bar.density)) : "";
  const std::string at = places(bar.at), width = places(std::max(bar.width, 1e-4));
  std::string html = fmt::format("<rect class=\"{}\"{} x=\"{}%\" width=\"{}%\"{}><title>{}: {}</title></rect>",
                                 bar.style, row, at, width, opacity, name, escape_html(clean_line(bar.rest)));
  if (bar.width >= kLabelled) {
    html += fmt::format("<svg x=\"{}%\" width=\"{}%\"><text x=\"4\" y=\"70%\">{}</text></svg>", at, width, name);
  }
  return html;
}

}  // namespace

std::string html_bar_row(std::string_view name, double y, double height, const std::vector<PageBar>& bars) {
  std::string html = fmt::format("<svg class=\"lane\" y=\"{}\" height=\"{}\" fill-opacity=\"{}\" data-name=\"{}\">", y,
                                 height, kOpacity, escape_html(shorten(clean_line(name), 60)));
  for (const PageBar& bar : bars) html += bar_html(bar);
  return html + "</svg>\n";
}

std::string html_bar_chart(const BarChart& chart) {
  const std::string id = escape_html(chart.id), label = escape_html(chart.label);
  return fmt::format(
      "<div class=\"row bar-tools\"><label class=\"filter\" hidden>Search <input type=\"search\" id=\"{0}-search\" "
      "autocomplete=\"off\" spellcheck=\"false\"></label><output class=\"filter\" id=\"{0}-found\" hidden></output>"
      "<div class=\"zoom over\" role=\"group\" aria-label=\"{1}\" hidden><button type=\"button\" id=\"{0}-in\">Zoom "
      "in</button><button type=\"button\" id=\"{0}-out\">Zoom out</button><button type=\"button\" "
      "id=\"{0}-reset\">Reset</button></div></div>\n"
      "<div class=\"bar-scroll\"><svg class=\"bars\" id=\"{0}\" height=\"{2}\"{3} role=\"img\" aria-label=\"{1}\"><svg "
      "class=\"window\" "
      "width=\"100%\" height=\"{2}\">{4}{5}</svg><g aria-hidden=\"true\">{6}</g></svg></div>\n",
      id, label, chart.height, chart.attributes, chart.below, chart.rows, chart.above);
}

std::string html_bar_legend(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string html = "<ul class=\"parts\">\n";
  for (const auto& [style, name] : entries) {
    html += fmt::format(
        "<li><svg class=\"swatch\" aria-hidden=\"true\"><rect class=\"{}\" width=\"100%\" height=\"100%\"/></svg>{}\n",
        style, escape_html(name));
  }
  return html + "</ul>\n";
}

}  // namespace roofline
