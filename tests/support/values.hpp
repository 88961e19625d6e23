// Values that many tests name.
#pragma once

#include <limits>

#include "model/names.hpp"
#include "model/nan.hpp"

namespace roofline {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kKiB = 1024;
inline constexpr double kMiB = 1024 * kKiB;
inline constexpr Pattern kStreamPatterns[] = {Pattern::read,  Pattern::write,  Pattern::copy,
                                              Pattern::triad, Pattern::update, Pattern::accumulate};

}  // namespace roofline
