#include "render/text_table.hpp"

#include <utility>

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

}  // namespace roofline
