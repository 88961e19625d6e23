// Features of a sweep's curve: plateaus, transitions between them, saturation. Pure functions of points.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/machine.hpp"

namespace roofline {

/// Runs of at least three adjacent points with rates within ± 8 % of their median, each as long as possible,
/// ascending in x. Adjacent runs that differ by less than 15 % are merged: a level's bandwidth drops slightly where
/// its tags or TLB are exhausted. `points` ascend in x.
std::vector<Plateau> find_plateaus(std::span<const SweepPoint> points);

/// For each pair of adjacent plateaus, the interpolated x at which the curve has dropped by a tenth
/// (logarithmically) of the way from the first rate to the second: the largest working set with the first level's
/// rate.
std::vector<double> find_boundaries(std::span<const SweepPoint> points, std::span<const Plateau> plateaus);

/// The smallest x whose value reaches 95 % of the maximum; std::nullopt without points.
std::optional<double> saturation_point(std::span<const SweepPoint> points);

}  // namespace roofline
