// Latency and bandwidth of messages, from their times at many sizes: the line latency + bytes / rate. Pure.
#pragma once

#include <span>
#include <vector>

#include "model/machine.hpp"

namespace roofline {

/// One line per number of ranks with at least three points, in ascending order. Residuals are relative and weighted
/// by the points' own 95 % intervals (at least 1 %), so that small messages determine the latency and large ones
/// the rate. Points in between lie on no line, because libraries change protocol and algorithm there: the farther
/// off an interior point is, the less it counts (Cauchy's weights). The intervals are those of the weighted fit;
/// `misfit` is the largest deviation.
std::vector<LatencyLine> fit_latency_lines(std::span<const SweepPoint> points);

/// The line of points of one number of ranks. With fewer than three points a line of NaN.
LatencyLine fit_latency_line(std::span<const SweepPoint> points);

}  // namespace roofline
