// RFC 4180.
#include "render/csv_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "text/text.hpp"

namespace roofline {
namespace {

std::string field(std::monostate) { return {}; }
std::string field(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }
std::string field(std::int64_t value) { return fmt::format("{}", value); }
std::string field(bool value) { return value ? "true" : "false"; }
std::string field(const std::string& text) {
  std::string valid = clean(text);
  // A spreadsheet would take such a text for a formula.
  if (!valid.empty() && std::string_view("=+-@\t").find(valid.front()) != std::string_view::npos)
    valid.insert(0, 1, '\'');
  if (valid.find_first_of(",\"\r\n") == std::string::npos) return valid;
  std::string quoted = "\"";
  for (const char c : valid) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace

std::string csv_field(const Value& value) {
  return std::visit([](const auto& held) { return field(held); }, value);
}

std::string shape_text(const Shape& shape) {
  std::string text;
  for (const auto& [name, extent] : shape.extents())
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, extent);
  return text;
}

std::string csv_line(const std::vector<std::string>& fields) { return fmt::format("{}\r\n", fmt::join(fields, ",")); }

}  // namespace roofline
