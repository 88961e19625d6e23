// What the curve of a sweep says: where it holds still, where one level gives way to the next, where it saturates.
// Pure functions of points; no device.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/machine.hpp"

namespace roofline {

/// Stretches of at least three neighbouring points whose rates lie within ± 8 % of their median, each as long as
/// can be, ascending in x. Two that touch and differ by less than 15 % are one: a level's bandwidth sags a little
/// where its tags or its TLB run out. `points` ascend in x.
std::vector<Plateau> find_plateaus(std::span<const SweepPoint> points);

/// For each pair of neighbouring plateaus, the x at which the curve has lost a tenth of the way (in the logarithm)
/// from the rate of the first to that of the second, interpolated: up to there a working set has the level's rate.
std::vector<double> find_boundaries(std::span<const SweepPoint> points, std::span<const Plateau> plateaus);

/// The least x whose value reaches 95 % of the greatest value; nothing without points.
std::optional<double> saturation_point(std::span<const SweepPoint> points);

}  // namespace roofline
