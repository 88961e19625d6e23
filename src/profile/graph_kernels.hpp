// What a CUDA graph's time consists of: its kernels, which are counted with the whole graph only.
#pragma once

#include <map>
#include <vector>

#include "profile/recording.hpp"
#include "report/report.hpp"

namespace roofline {

/// Seconds in the whole recording, by group of a graph's launches and group of a kernel in it.
using GraphKernelTimes = std::map<int, std::map<int, double>>;
GraphKernelTimes graph_kernel_times(const Recording& recording);

/// Names the longest kernels of each graph in its row. `points` are the recording's groups in order.
void name_graph_kernels(const Recording& recording, std::vector<Point>& points);

}  // namespace roofline
