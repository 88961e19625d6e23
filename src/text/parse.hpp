// Text of a command line or the environment taken apart.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace roofline {

/// The whole text as a number; std::nullopt otherwise.
template <class Number>
std::optional<Number> parsed_number(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

/// The parts between separators, one more than there are of them.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace roofline
