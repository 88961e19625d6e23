#include "import/whole_graphs.hpp"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "profile/intervals.hpp"
#include "text/format.hpp"

namespace roofline {

WholeGraphs whole_graphs_of(const ProcessTrace& trace, const std::set<spool::Id>& graphs) {
  struct OnDevice {
    std::vector<Span> graphs, kernels;
  };
  std::map<std::uint32_t, OnDevice> devices;
  WholeGraphs whole;
  for (const spool::Kernel& kernel : trace.kernels) {
    const bool graph = graphs.contains(kernel.kind);
    whole.launches += graph ? 1 : 0;
    OnDevice& device = devices[kernel.device];
    if (kernel.end != 0) (graph ? device.graphs : device.kernels).push_back({kernel.start, kernel.end});
  }
  for (const spool::Copy& copy : trace.copies) devices[copy.device];
  for (const spool::Fill& fill : trace.fills) devices[fill.device];
  std::uint64_t hidden = 0;
  for (auto& [index, device] : devices) {
    hidden += total_length(uncovered(covered(std::move(device.graphs)), covered(std::move(device.kernels))));
  }
  const std::uint64_t wall = (trace.last_time - trace.process.start) * devices.size();
  whole.share = wall > 0 ? seconds(hidden) / seconds(wall) : 0;
  return whole;
}

std::string note_of(const WholeGraphs& graphs) {
  if (graphs.launches == 0) return {};
  return fmt::format(
      "{} launches of CUDA graphs were traced as a whole: no kernels are known for {} of the wall time. Record with "
      "nsys profile --cuda-graph-trace=node",
      count(graphs.launches), percent(graphs.share));
}

}  // namespace roofline
