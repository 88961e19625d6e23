// A table of texts that terminal and Markdown share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "render/terminal/table.hpp"

namespace roofline {

struct TextTable {
  std::vector<TerminalColumn> columns;
  std::vector<std::vector<std::string>> rows;  ///< a cell for each column, unescaped
};

std::string terminal_table(const TextTable& table, const TerminalStyle& style);
std::string markdown_table(const TextTable& table);

/// Bars in the cells of a column: a share for each row.
struct ShareColumn {
  std::size_t column = 0;
  std::vector<double> shares = {};
};
/// Names are shortened, with the full name as tooltip; narrow pages show rows as cards, with html_card_titles().
std::string html_table(const TextTable& table, std::string_view style, const ShareColumn& bars = {});
std::string html_card_titles(const TextTable& table, std::string_view style);

}  // namespace roofline
