// Terminal colours of bounds and of shares of a roof.
#pragma once

#include <array>
#include <cmath>

#include "model/bound.hpp"
#include "render/terminal/table.hpp"
#include "report/report.hpp"

namespace roofline {

inline Ink bound_ink(BoundLabel label) {
  static constexpr std::array kInks = {Ink::cyan, Ink::magenta, Ink::blue,
                                       Ink::warn, Ink::plain,   Ink::dim};  // by label
  return kInks.at(static_cast<std::size_t>(label));
}

/// Ink for a point's share of its roof.
inline Ink roof_ink(const Point& point) {
  const double fraction = point.fraction_of_roof();
  if (point.above_roof()) return Ink::bad;
  if (!std::isfinite(fraction)) return Ink::dim;
  return fraction >= 0.8 ? Ink::good : fraction < 0.4 ? Ink::warn : Ink::plain;
}

}  // namespace roofline
