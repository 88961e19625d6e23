// What the axes show because of the roofs and, only where they lie outside, of the points.
#pragma once

#include <vector>

#include "render/chart/axes.hpp"
#include "render/chart/points.hpp"
#include "report/roofs.hpp"

namespace roofline {

struct AxisRanges {
  Range intensity;    ///< FLOP/byte
  Range performance;  ///< FLOP/s
};

/// Follows from the ceilings; points only extend it, and not beyond what anyone could read.
AxisRanges axis_ranges(const Roofs& roofs, const std::vector<PlottedPoint>& points);

}  // namespace roofline
