// Escapes and rows of Markdown.
#include "render/markdown_text.hpp"

#include "text/text.hpp"

namespace roofline {

std::string escape_markdown(std::string_view text) {
  std::string result;
  for (const char c : clean_line(text)) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '&') {
      result += "&amp;";
    } else {
      if (std::string_view("\\`*_[]|~#>").find(c) != std::string_view::npos) result += '\\';
      result += c;
    }
  }
  return result;
}

void append_markdown_row(std::string& text, const std::vector<std::string>& cells) {
  text += '|';
  for (const std::string& cell : cells) text += ' ' + cell + " |";
  text += '\n';
}

}  // namespace roofline
