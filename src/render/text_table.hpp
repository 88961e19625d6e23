// A table of texts that terminal and Markdown share.
#pragma once

#include <string>
#include <vector>

#include "render/terminal/table.hpp"

namespace roofline {

struct TextTable {
  std::vector<TerminalColumn> columns;
  std::vector<std::vector<std::string>> rows;  ///< a cell for each column, unescaped
};

std::string terminal_table(const TextTable& table, const TerminalStyle& style);
std::string markdown_table(const TextTable& table);

}  // namespace roofline
