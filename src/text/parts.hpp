// Digits, and parts of texts. Header-only, because the library in profiled programs uses it, too.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace roofline {

constexpr bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

template <class Parts = std::initializer_list<std::string_view>>
constexpr bool contains_any(std::string_view text, const Parts& parts) {
  return std::ranges::any_of(parts,
                             [text](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

template <class Parts = std::initializer_list<std::string_view>>
constexpr bool starts_with_any(std::string_view text, const Parts& parts) {
  return std::ranges::any_of(parts, [text](std::string_view part) { return text.starts_with(part); });
}

}  // namespace roofline
