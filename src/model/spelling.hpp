// Enumerations and their spelling in files, from one table each: the table's index is the enumerator.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace roofline {

template <typename Enum, std::size_t n>
std::string_view spell(const std::array<std::string_view, n>& names, Enum value) {
  const auto index = static_cast<std::size_t>(value);
  return index < n ? names[index] : std::string_view("unknown");
}

template <typename Enum, std::size_t n>
std::optional<Enum> unspell(const std::array<std::string_view, n>& names, std::string_view text) {
  for (std::size_t i = 0; i < n; ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace roofline
