#include "profile/row_times.hpp"

#include <algorithm>
#include <cmath>

namespace roofline {
namespace {

/// The part of each activity that lies in the spans; activities are passed in the order of time.
class Clipper {
 public:
  explicit Clipper(const std::vector<Span>& within) : within_(within) {}

  double seconds_of(const Activity& activity) {
    if (within_.empty()) return seconds(activity.end - activity.start);
    while (at_ < within_.size() && within_[at_].end <= activity.start) ++at_;
    std::uint64_t sum = 0;
    for (std::size_t i = at_; i < within_.size() && within_[i].start < activity.end; ++i) {
      const Span both = {std::max(within_[i].start, activity.start), std::min(within_[i].end, activity.end)};
      if (both.start < both.end) sum += both.length();
    }
    return seconds(sum);
  }

 private:
  const std::vector<Span>& within_;
  std::size_t at_ = 0;
};

}  // namespace

RowTimes row_times(const Recording& recording, const std::vector<Span>& within) {
  RowTimes rows;
  std::map<int, double> of_graph;  // seconds of its kernels in the whole recording
  Clipper clipper(within);
  for (const Activity& activity : recording.activities) {
    if (activity.what != ActivityKind::kernel) continue;
    const double whole = seconds(activity.end - activity.start), part = clipper.seconds_of(activity);
    if (activity.graph >= 0) of_graph[activity.graph] += whole;
    if (!(part > 0)) continue;
    RowTime& row = rows[{activity.group, activity.device}];
    row.kernel_s += part;
    row.launches += part / whole;
    if (activity.graph >= 0) rows[{activity.graph, activity.device}].kernel_s += part;
  }
  for (auto& [where, row] : rows) {
    const auto graph = of_graph.find(where.first);
    if (graph == of_graph.end()) continue;
    const LaunchGroup& group = recording.groups[static_cast<std::size_t>(where.first)];
    row.launches = static_cast<double>(group.launches) * row.kernel_s / graph->second;
  }
  return rows;
}

void add_roofs(std::vector<WallTime>& devices, const RowTimes& rows, const std::vector<Point>& points) {
  for (const auto& [where, time] : rows) {
    const auto wall = std::find_if(devices.begin(), devices.end(),
                                   [device = where.second](const WallTime& w) { return w.device == device; });
    if (wall == devices.end()) continue;
    const Point& point = points[static_cast<std::size_t>(where.first)];
    if (!point.profiled->graph) wall->kernel_s += time.kernel_s;
    if (point.profiled->in_graph || !point.time || !std::isfinite(point.bound.attainable_time_s)) continue;
    wall->roofed_s += time.kernel_s;
    wall->at_roof_s += point.bound.attainable_time_s * time.launches;
  }
}

}  // namespace roofline
