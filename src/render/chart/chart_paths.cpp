// Paths that connect points: ladders, sweeps, and changes from one run to the next.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "render/chart/chart.hpp"
#include "report/comparison/compare_runs.hpp"
#include "report/series.hpp"

namespace roofline {
namespace {

constexpr double kHead = 7;  // pixels, length of an arrow's head

/// Points by their row in the report.
std::map<std::size_t, const PlottedPoint*> by_row(const std::vector<PlottedPoint>& points) {
  std::map<std::size_t, const PlottedPoint*> out;
  for (const PlottedPoint& p : points) out.emplace(p.index, &p);
  return out;
}

Vec toward(Vec from, Vec to, double distance) { return from + (to - from) * (distance / length(to - from)); }

/// Draws a path that ends in an arrow at the edge of the last marker, whose radius is given, and keeps labels from
/// lying on it. False, and nothing is drawn, where the last step ends within the markers.
bool add_arrow(Chart& chart, std::vector<Vec> path, double radius, const Color& color, double width, Group& group) {
  const Vec before = path[path.size() - 2];
  const double last_step = length(path.back() - before);
  if (last_step <= radius + kMarkerRadius) return false;
  const Vec tip = toward(path.back(), before, radius + 1);
  const Vec base = toward(tip, before, std::min(kHead, last_step - radius - 1));
  const Vec side = {(base.y - tip.y) * 0.45, (tip.x - base.x) * 0.45};
  path.back() = base;
  for (std::size_t i = 1; i < path.size(); ++i) chart.space.lines.push_back(Quad::stroke(path[i - 1], path[i], width));
  group.items.push_back(Line{std::move(path), false, {}, Stroke{color, width}});
  group.items.push_back(Line{{tip, base + side, base - side}, true, color, {}});
  return true;
}

void draw_trajectories(Chart& chart) {
  Layer layer{"trajectories"};
  const auto plotted = by_row(chart.points);
  for (const Series& series : series_of(*chart.report)) {
    std::vector<Vec> path;
    std::string rows;
    const PlottedPoint* last = nullptr;
    for (const std::size_t row : series.points) {
      const auto found = plotted.find(row);
      if (found == plotted.end()) continue;
      rows += fmt::format("{}{}", rows.empty() ? "" : " ", row);
      const Vec at = chart.at(*found->second);
      // Steps within a marker would only make the line ragged.
      if (path.empty() || length(at - path.back()) > kMarkerRadius) path.push_back(at);
      last = found->second;
    }
    if (path.size() < 2) continue;
    Group group{.classes = "trajectory", .data = {{"series", series.name}, {"points", rows}}};
    if (add_arrow(chart, std::move(path), last->radius, chart.color_of(*last), 1.3, group))
      layer.groups.push_back(std::move(group));
  }
  chart.scene.layers.push_back(std::move(layer));
}

void draw_changes(Chart& chart) {
  Layer layer{"changes"};
  const auto before = by_row(chart.earlier.front()), now = by_row(chart.points);
  for (const PointChange& change : compare_runs(*chart.runs.front(), *chart.report)) {
    if (!change.before || !change.now || !before.contains(*change.before) || !now.contains(*change.now)) continue;
    const PlottedPoint& p = *now.at(*change.now);
    Group group{.classes = "change", .data = {{"point", fmt::format("{}", p.index)}}};
    if (add_arrow(chart, {chart.at(*before.at(*change.before)), chart.at(p)}, p.radius, chart.colors->muted, 1.3,
                  group))
      layer.groups.push_back(std::move(group));
  }
  chart.scene.layers.push_back(std::move(layer));
}

}  // namespace

void draw_paths(Chart& chart) {
  // Two kinds of arrows in one picture would be indistinguishable.
  if (chart.earlier.empty()) draw_trajectories(chart);
  if (!chart.earlier.empty()) draw_changes(chart);
}

}  // namespace roofline
