// Potential savings of a program, with evidence and action: the list that a profile opens with.
#pragma once

#include <vector>

#include "profile/recording.hpp"
#include "profile/wall_time.hpp"
#include "report/report.hpp"

namespace roofline {

/// Potential savings, largest first; none below a thousandth of the wall time. `points` are the recording's groups in
/// their order, with their bounds. Idle time is left out where the profiler slowed the program by more than
/// `kMostInflation`.
std::vector<Saving> savings_of(const Recording& recording, const std::vector<Point>& points, const Machine& machine,
                               const Profile& profile);

}  // namespace roofline
