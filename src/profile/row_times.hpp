// Time and launches of each row within a time range, per GPU.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "profile/intervals.hpp"
#include "profile/recording.hpp"
#include "report/profile.hpp"
#include "report/report.hpp"

namespace roofline {

struct RowTime {
  double kernel_s = 0;  ///< kernels; for a graph, the kernels in it
  double launches = 0;  ///< a launch partly within counts in part
};

/// By group of the recording and device.
using RowTimes = std::map<std::pair<int, int>, RowTime>;

/// Covers the whole recording if `within` (sorted, disjoint) is empty.
RowTimes row_times(const Recording& recording, const std::vector<Span>& within = {});

/// Fills in the sums over kernels. `points` are the recording's groups in order; kernels of a graph have their time in
/// their own rows and their counts in the graph's.
void add_roofs(std::vector<WallTime>& devices, const RowTimes& rows, const std::vector<Point>& points);

}  // namespace roofline
