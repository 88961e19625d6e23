// Strict spellings of integers, and suggestions for others.
#include "config/integer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "text/parts.hpp"

namespace roofline {
namespace {

/// Decimal digits and nothing else, with no leading zero.
std::optional<std::int64_t> parse_natural(std::string_view text) {
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  if (text.size() > 1 && text[0] == '0') return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> multiply(std::int64_t a, std::int64_t b) {
  if (b > 0 && a > std::numeric_limits<std::int64_t>::max() / b) return std::nullopt;
  return a * b;
}

/// base^exponent, both natural.
std::optional<std::int64_t> parse_power(std::string_view text) {
  const std::size_t caret = text.find('^');
  if (caret == std::string_view::npos) return std::nullopt;
  const auto base = parse_natural(text.substr(0, caret));
  const auto exponent = parse_natural(text.substr(caret + 1));
  if (!base || !exponent || *exponent > 62) return std::nullopt;
  std::optional<std::int64_t> value = 1;
  for (std::int64_t i = 0; i < *exponent && value; ++i) value = multiply(*value, *base);
  return value;
}

std::optional<std::int64_t> parse_binary_multiple(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, int>, 4> kSuffixes = {
      {{"Ki", 10}, {"Mi", 20}, {"Gi", 30}, {"Ti", 40}}};
  for (const auto& [suffix, bits] : kSuffixes) {
    if (!text.ends_with(suffix)) continue;
    const auto count = parse_natural(text.substr(0, text.size() - suffix.size()));
    return count ? multiply(*count, std::int64_t{1} << bits) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (text.starts_with('-')) {
    const auto magnitude = parse_natural(text.substr(1));
    return magnitude ? std::optional(-*magnitude) : std::nullopt;
  }
  if (const auto value = parse_natural(text)) return value;
  if (const auto value = parse_power(text)) return value;
  return parse_binary_multiple(text);
}

std::string integer_advice(std::string_view text) {
  std::string digits(text);
  digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
  if (digits != text && parse_natural(digits)) return "write " + digits + ", without '_'";
  const bool octal_like = text.size() > 1 && text[0] == '0' && std::all_of(text.begin(), text.end(), is_digit);
  if (octal_like) {
    const std::size_t first = std::min(text.find_first_not_of('0'), text.size() - 1);
    return "write " + std::string(text.substr(first)) + ", without the leading zero";
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size() && value == std::floor(value);
  if (whole && std::abs(value) < 9e15) return "write " + std::to_string(static_cast<std::int64_t>(value));
  return {};
}

}  // namespace roofline
