// "n=64 m=8": extents as text, for people and for $ROOFLINE_SHAPE.
#pragma once

#include <fmt/format.h>

#include <string>

namespace roofline {

/// `extents`: pairs of a name and a number, such as Shape::extents().
std::string extents_text(const auto& extents) {
  std::string text;
  for (const auto& [name, extent] : extents) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, extent);
  return text;
}

}  // namespace roofline
