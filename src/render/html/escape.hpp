// Text on its way into a page: escaped for elements and attributes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roofline {

/// Valid UTF-8, safe as an element's text and in a quoted attribute.
std::string escape_html(std::string_view text);

/// Escapes our own sentences; text between backticks becomes code.
std::string html_sentences(std::string_view text);

/// A name from outside on one line, escaped, shortened to `columns` with the whole name (up to a length that
/// a tool tip can show) in a title, and isolated, so that a right-to-left name can't reorder what follows.
std::string html_isolated(std::string_view name, int columns = 56);

/// html_name() without isolation for ASCII, for elements that no script looks up.
std::string html_name(std::string_view name, int columns = 56);

/// A list of that class.
std::string html_list(std::string_view style, const std::vector<std::string>& lines);
/// "2026-01-15T09:32:10Z" as "2026-01-15 09:32 UTC". Other text is unchanged.
std::string html_time(const std::string& iso);

std::string base64(std::string_view bytes);

/// Five characters for four bytes, those of RFC 1924 with a comma for its '<': safe as the text of a script element.
std::string base85(std::string_view bytes);

/// CSS that names each cell of a table by its column where a narrow page sets rows as cards.
std::string html_column_names(std::string_view table, const std::vector<std::string>& titles);

/// A verdict in its colour. Most rows of a page pass: that is the short one.
std::string html_verdict(std::string_view style, std::string_view word);

}  // namespace roofline
