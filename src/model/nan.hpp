// The value of an absent figure.
#pragma once

#include <limits>

namespace roofline {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// NaN without a whole.
constexpr double share_or_nan(double part, double whole) { return whole > 0 ? part / whole : kNaN; }
/// 0 for negative, infinite and absent figures.
constexpr double positive_or_zero(double value) {
  return value > 0 && value <= std::numeric_limits<double>::max() ? value : 0;
}

}  // namespace roofline
