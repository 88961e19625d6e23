#include "render/html/column.hpp"

#include <fmt/format.h>

#include <cmath>

namespace roofline {

std::string html_cell(const Column& column, double sort_by, const std::string& content) {
  const std::string value = std::isfinite(sort_by) ? fmt::format(" data-v=\"{:.6g}\"", sort_by) : "";
  return fmt::format("<td class=\"{}\"{}>{}", column.style, value, content);
}

}  // namespace roofline
