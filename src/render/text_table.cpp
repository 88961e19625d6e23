#include "render/text_table.hpp"

#include <fmt/format.h>

#include <utility>

#include "render/columns.hpp"
#include "render/html/escape.hpp"
#include "render/markdown_text.hpp"

namespace roofline {

std::string terminal_table(const TextTable& table, const TerminalStyle& style) {
  TerminalTable made(table.columns);
  for (const std::vector<std::string>& row : table.rows) {
    std::vector<Cell> cells;
    cells.reserve(row.size());
    for (const std::string& cell : row) cells.push_back({for_terminal(cell, style)});
    made.add_row(std::move(cells));
  }
  return made.render(style);
}

std::string markdown_table(const TextTable& table) {
  std::string text = "|";
  for (const TerminalColumn& column : table.columns) text += " " + column.title + " |";
  text += "\n|";
  for (const TerminalColumn& column : table.columns) text += column.right ? "---:|" : "---|";
  text += '\n';
  for (const std::vector<std::string>& row : table.rows) {
    std::vector<std::string> cells;
    cells.reserve(row.size());
    for (const std::string& cell : row) cells.push_back(escape_markdown(cell));
    append_markdown_row(text, cells);
  }
  return text;
}

std::string html_table(const TextTable& table, std::string_view style, const ShareColumn& bars) {
  const auto style_of = [&](std::size_t column) {
    const bool bar = column == bars.column && !bars.shares.empty();
    return html_class(bar ? "share" : table.columns[column].right ? "n" : "");
  };
  std::string html = fmt::format("<div class=\"scroll\"><table class=\"cards {}\"><thead><tr>", style);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    html += fmt::format("<th scope=\"col\"{}>{}", style_of(i), escape_html(capitalised(table.columns[i].title)));
  }
  html += "</tr></thead><tbody>\n";
  for (std::size_t k = 0; k < table.rows.size(); ++k) {
    const std::vector<std::string>& row = table.rows[k];
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool bar = i == bars.column && k < bars.shares.size();
      const std::string cell = bar                        ? html_share(bars.shares[k])
                               : table.columns[i].shrinks ? html_name(row[i], 72)
                                                          : escape_html(row[i]);
      html += fmt::format("{}{}>{}", i == 0 ? "<th scope=\"row\"" : "<td", style_of(i), cell);
    }
    html += '\n';
  }
  return html + "</tbody></table></div>\n";
}

std::string html_card_titles(const TextTable& table, std::string_view style) {
  std::vector<std::string> titles;
  for (const TerminalColumn& column : table.columns) titles.push_back(capitalised(column.title));
  return html_column_names(fmt::format(".{}", style), titles);
}

}  // namespace roofline
