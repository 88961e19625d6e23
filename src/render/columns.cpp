// The parts of columns that do not depend on the type of rows.
#include "render/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "model/nan.hpp"
#include "text/format.hpp"

namespace roofline {

std::string terminal_title(std::string_view title) {
  std::string result(title);
  const auto upper = [&](std::size_t i) {
    return i < result.size() && std::isupper(static_cast<unsigned char>(result[i])) != 0;
  };
  if (upper(0) && !upper(1)) result[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(result[0])));
  return result;
}

std::string sort_text(double value) { return std::isfinite(value) ? fmt::format("{:.5g}", value) : "-"; }

std::string figure_text(const Value& value, Unit unit) {
  const double figure = number_of(value);
  switch (unit) {
    case Unit::count:
      return std::isfinite(figure) ? count(std::get<std::int64_t>(value)) : kAbsent;
    case Unit::seconds:
      return duration(figure);
    case Unit::share:
      return percent(figure);
    case Unit::bytes:
      return si(figure, "B");
    case Unit::bytes_per_s:
      return rate(figure, CeilingKind::bandwidth);
    case Unit::none:
      break;
  }
  return {};
}

std::string html_share(double share) {
  if (!std::isfinite(share)) return kAbsent;
  return fmt::format("<svg class=\"bar\" aria-hidden=\"true\"><rect width=\"{:.1f}%\"/></svg>{}",
                     std::clamp(100 * share, 0.0, 100.0), percent(share));
}

std::string html_class(std::string_view style) { return style.empty() ? "" : fmt::format(" class=\"{}\"", style); }

double number_of(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  const auto* number = std::get_if<double>(&value);
  return number != nullptr ? *number : kNaN;
}

}  // namespace roofline
