// Curves of memory for a report. Pure.
#pragma once

#include <vector>

#include "report/memory_profile.hpp"

namespace roofline {

/// At most some hundred points, with the largest values of the others. `points` are by time.
std::vector<MemoryPoint> thinned(const std::vector<MemoryPoint>& points);

}  // namespace roofline
