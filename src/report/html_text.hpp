// Text on its way into a page: escaped for elements and attributes, and for JSON inside a script element.
#pragma once

#include <string>
#include <string_view>

namespace roofline {

/// Valid UTF-8, safe as an element's text and in a quoted attribute.
std::string escape_html(std::string_view text);

/// A name from outside on one line, escaped, shortened to `columns` with the whole name (up to a length that
/// a tool tip can show) in a title, and isolated, so that a right-to-left name can't reorder what follows.
std::string html_name(std::string_view name, int columns = 56);

/// JSON that can't end the script element that it stands in, whatever its strings hold.
std::string escape_script_json(std::string_view json);

std::string base64(std::string_view bytes);

}  // namespace roofline
