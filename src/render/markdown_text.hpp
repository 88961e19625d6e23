// Text on its way into Markdown (GitHub's dialect): escaped, and as rows of a table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roofline {

/// Text that Markdown shows as it is, on one line, also within a table's cell.
std::string escape_markdown(std::string_view text);

/// Appends "| a | b |" and a line feed; the cells are Markdown already.
void append_markdown_row(std::string& text, const std::vector<std::string>& cells);

}  // namespace roofline
