// Several texts as one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

namespace roofline {

/// "a, b and c"; of more than `most` the first ones, and the number of the others: "a, b and 3 more".
inline std::string listed(std::span<const std::string> parts, std::size_t most = std::string::npos) {
  const std::size_t shown = std::min(parts.size(), most), more = parts.size() - shown;
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) text += i + 1 == shown && more == 0 ? " and " : ", ";
    text += parts[i];
  }
  return more == 0 ? text : text + " and " + std::to_string(more) + " more";
}

}  // namespace roofline
