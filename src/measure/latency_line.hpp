// Latency and bandwidth of messages, from their times at many sizes: the line latency + bytes / rate. Pure.
#pragma once

#include <span>
#include <vector>

#include "model/machine.hpp"

namespace roofline {

/// A line for each number of ranks that has three points at least, in the order of their numbers. Each point counts by
/// its relative distance from the line, weighted by its own 95 % interval (1 % at least): so that small messages decide
/// the latency, and large ones the rate. Those in between are no line in any library, for it changes its protocol and
/// algorithm there: the farther off a point lies among the others, the less it counts (Cauchy's weights). The intervals
/// are those of the weighted fit; `misfit` says what the line leaves out.
std::vector<LatencyLine> fit_latency_lines(std::span<const SweepPoint> points);

/// The line of points that are all of the same ranks. Throws nothing: fewer than three give a line of NaN.
LatencyLine fit_latency_line(std::span<const SweepPoint> points);

}  // namespace roofline
