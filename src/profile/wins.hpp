// What could be won, where, and how: the answer that a profile opens with.
#pragma once

#include <vector>

#include "profile/recording.hpp"
#include "profile/wall_time.hpp"
#include "report/report.hpp"

namespace roofline {

/// Everything worth doing that the recording shows, largest first; nothing below a thousandth of the wall time.
/// `points` are the recording's groups in their order, with their bounds. Idle time is left out where it is not the
/// program's: where we slowed it down by more than `kMostInflation`.
std::vector<Win> wins_of(const Recording& recording, const std::vector<Point>& points, const Machine& machine,
                         const Profile& profile);

}  // namespace roofline
