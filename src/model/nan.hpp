// The value of an absent figure.
#pragma once

#include <limits>

namespace roofline {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace roofline
