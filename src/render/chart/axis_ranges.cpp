// The borders follow the ridges of the machine; a point beyond them pushes them out.
#include "render/chart/axis_ranges.hpp"

#include <algorithm>

namespace roofline {

AxisRanges axis_ranges(const Roofs& roofs, const std::vector<PlottedPoint>& points) {
  constexpr double kAbove = 2.2;  // over the highest roof, for its name
  // 1/16 (relu in fp64) to 1365 (a 4096-cube product in fp16) is where the field's kernels lie; a
  // machine whose ridges are elsewhere moves the borders out, by its ridges and not by its points.
  AxisRanges r = {{0.05, 3000}, {1e9, 1e15}};
  const Roof* memory = roofs.main_memory();
  if (!memory && !roofs.memory.empty()) memory = &roofs.memory.back();
  const double slope = memory ? memory->ceiling->value : 0;
  double top = 0, lowest = 0;
  for (const Roof& c : roofs.compute) {
    const bool has_limit = c.ceiling->limit && is_plausible(c.ceiling->limit->value);
    top = std::max({top, c.ceiling->value, has_limit ? c.ceiling->limit->value : 0.0});
    lowest = c.ceiling->value;
    if (slope == 0) continue;
    r.intensity.low = std::min(r.intensity.low, c.ceiling->value / slope / 16);
    r.intensity.high = std::max(r.intensity.high, c.ceiling->value / slope * 32);
  }
  if (top > 0) r.performance = {slope > 0 ? slope * r.intensity.low * 0.6 : lowest / 1e4, top * kAbove};
  if (top == 0 && slope > 0) r.performance = {slope * r.intensity.low * 0.6, slope * r.intensity.high};
  if (top > 0 || slope > 0) r.performance.low = std::min(r.performance.low, r.performance.high / 100);
  for (const PlottedPoint& p : points) {
    if (!p.at_edge) {
      r.intensity.low = std::min(r.intensity.low, p.intensity / 1.6);
      r.intensity.high = std::max(r.intensity.high, p.intensity * 1.6);
    }
    r.performance.low = std::min(r.performance.low, p.performance / 1.8);
    r.performance.high = std::max(r.performance.high, p.performance * 1.8);
  }
  return r;
}

}  // namespace roofline
