// The value of a figure that there is not: every reader of one asks whether it is there.
#pragma once

#include <limits>

namespace roofline {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace roofline
