// Values that many tests name.
#pragma once

#include <limits>

#include "model/nan.hpp"
#include "model/names.hpp"

namespace roofline {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kKiB = 1024;
inline constexpr double kMiB = 1024 * kKiB;
inline constexpr Pattern kStreamPatterns[] = {Pattern::read, Pattern::write, Pattern::copy, Pattern::triad};

}  // namespace roofline
