// Memory curves for a report. Pure.
#pragma once

#include <vector>

#include "report/memory_profile.hpp"

namespace roofline {

/// Reduces the curve to some hundred points that keep the maxima. `points` are sorted by time.
std::vector<MemoryPoint> thinned(const std::vector<MemoryPoint>& points);

}  // namespace roofline
