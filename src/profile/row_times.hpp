// How much of each row's time and launches lies within some time, GPU by GPU.
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
  double kernel_s = 0;  ///< of kernels; of a graph, those in it
  double launches = 0;  ///< one that lies partly within counts in part
};

/// By group of the recording and device.
using RowTimes = std::map<std::pair<int, int>, RowTime>;

/// Of the whole recording where `within` (sorted, disjoint) is empty.
RowTimes row_times(const Recording& recording, const std::vector<Span>& within = {});

/// Fills in the sums over kernels. `points` are the recording's groups in their order; a graph's kernels have their
/// time in their rows and their counts in the graph's.
void add_roofs(std::vector<WallTime>& devices, const RowTimes& rows, const std::vector<Point>& points);

}  // namespace roofline
