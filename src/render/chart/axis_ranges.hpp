// The ranges of the axes, determined by the roofs and extended by points outside.
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

/// Determined by the ceilings; points extend it within limits.
AxisRanges axis_ranges(const Roofs& roofs, const std::vector<PlottedPoint>& points);

}  // namespace roofline
