// Foreign text (names, reasons, file contents) for outputs: made valid, measured in terminal columns, shortened,
// escaped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/parts.hpp"

namespace roofline {

/// Replaces malformed bytes and control characters by U+FFFD, drops characters that reverse the text direction, and
/// keeps tabs and line feeds. Prevents escape sequences in terminals and invalid JSON.
std::string clean(std::string_view text);

/// Cleans text for one line: white space becomes one space, and characters that reverse the text direction are dropped.
std::string clean_line(std::string_view text);

/// A JSON document with the control characters and marks of direction in its strings as escapes: it may be printed on a
/// terminal, and means the same.
std::string escape_controls(std::string_view json);

/// The lines of a text, each as clean_line() makes it but with its blanks: for the output of compilers, whose marks
/// stand below the code. A tab is one blank. Of more than `most` lines the first ones, and a line with the number of
/// the others.
std::vector<std::string> clean_lines(std::string_view text, std::size_t most);

/// Columns that valid UTF-8 takes in a terminal: 2 for East Asian wide characters and emoji, 0 for combining marks.
int display_width(std::string_view text);

/// Shortens text to `columns`: the middle is replaced by "…", because template names differ at both ends.
std::string shorten(std::string_view text, int columns);

/// The same for the entries of a list: texts that differ stay different. Where the middle holds what differs, that is
/// kept, and the common ends are shortened: "reduc…fp32…".
std::vector<std::string> shorten_apart(const std::vector<std::string>& texts, int columns);

/// With a capital first letter (ASCII).
std::string capitalised(std::string text);

/// The file's name without its folders: "train.py" of "/home/u/train.py".
std::string_view last_path_part(std::string_view path);

/// The first code point of valid UTF-8 and its length in bytes; {0, 0} at the end.
struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;
};
CodePoint next_code_point(std::string_view text);
std::u32string code_points(std::string_view text);

/// Without spaces, tabs and carriage returns at both ends.
std::string_view trimmed(std::string_view text);

/// True if the whole text matches: '*' matches any characters, '?' one character, all others themselves.
bool matches_glob(const std::string& text, std::string_view glob);

/// Removes what is before the separator, and the separator, and returns the former; all if there is none.
std::string_view take_until(std::string_view& text, char separator);

void erase_all(std::string& text, std::string_view part);

/// A code point up to 0x10ffff.
void append_utf8(std::string& text, char32_t point);

/// With ASCII letters in the other case.
std::string lower_case(std::string_view text);
std::string upper_case(std::string_view text);

/// Valid UTF-8 with the five special characters of XML and HTML as entities: safe as an element's text and in a
/// quoted attribute.
std::string escape_xml(std::string_view text);

}  // namespace roofline
