// RFC 4180.
#include "render/csv_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <ranges>

#include "text/text.hpp"

namespace roofline {

std::string csv_text(std::string_view text) {
  std::string valid = clean(text);
  // A spreadsheet would take such a text for a formula.
  if (!valid.empty() && std::string_view("=+-@\t").find(valid.front()) != std::string_view::npos)
    valid.insert(0, 1, '\'');
  if (valid.find_first_of(",\"\r\n") == std::string::npos) return valid;
  std::string quoted = "\"";
  for (const char c : valid) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string csv_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string csv_shape(const Shape& shape) {
  std::string text;
  for (const auto& [name, extent] : shape.extents())
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, extent);
  return csv_text(text);
}

std::string csv_names(const CsvRow& row) { return fmt::format("{}\r\n", fmt::join(std::views::keys(row), ",")); }
std::string csv_line(const CsvRow& row) { return fmt::format("{}\r\n", fmt::join(std::views::values(row), ",")); }

}  // namespace roofline
