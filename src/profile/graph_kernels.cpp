#include "profile/graph_kernels.hpp"

#include <algorithm>
#include <string>

#include "profile/actions.hpp"
#include "profile/intervals.hpp"

namespace roofline {
namespace {

std::string name_of(const Point& kernel) {
  const std::string& place = kernel.profiled->module.empty() ? kernel.profiled->line : kernel.profiled->module;
  return place.empty() ? kernel.workload.op : kernel.workload.op + ", " + place;
}

}  // namespace

GraphKernelTimes graph_kernel_times(const Recording& recording) {
  GraphKernelTimes times;
  for (const Activity& activity : recording.activities) {
    if (activity.what != ActivityKind::kernel || activity.graph < 0) continue;
    times[activity.graph][activity.group] += seconds(activity.end - activity.start);
  }
  return times;
}

void name_graph_kernels(const Recording& recording, std::vector<Point>& points) {
  constexpr std::size_t kMost = 3;
  constexpr double kLeastShare = 0.05;
  const GraphKernelTimes graphs = graph_kernel_times(recording);
  for (const auto& [graph, kernels] : graphs) {
    double total_s = 0;
    for (const auto& [kernel, time] : kernels) total_s += time;
    std::vector<GraphKernel>& longest = points[static_cast<std::size_t>(graph)].profiled->graph_kernels;
    for (const auto& [kernel, time] : kernels) {
      if (time < kLeastShare * total_s) continue;
      longest.push_back({name_of(points[static_cast<std::size_t>(kernel)]), time / total_s});
    }
    std::ranges::stable_sort(longest, std::ranges::greater(), &GraphKernel::share);
    if (longest.size() > kMost) longest.resize(kMost);
  }
  if (graphs.empty() || framework_of(recording) != Framework::jax) return;
  for (Point& point : points) {
    if (point.profiled->in_graph && !point.profiled->complete)
      point.profiled->not_counted += "; XLA_FLAGS=--xla_gpu_enable_command_buffer= runs its kernels without one";
  }
}

}  // namespace roofline
