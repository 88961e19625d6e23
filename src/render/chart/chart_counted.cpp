// What the hardware counted of a point: its intensities by the bytes of each level, and the work of each of its pipes,
// as small hollow marks that hang on the point.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "render/chart/chart.hpp"
#include "report/diagnosis/counted.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr double kThread = 1.2;  // pixels, width of the marks' edges and of what joins them

/// The families' hollow shapes tell the levels apart, too.
constexpr std::size_t kPipeShape = static_cast<std::size_t>(MarkerShape::diamond);
std::size_t shape_of(Level level) {
  if (level == Level::l2) return static_cast<std::size_t>(MarkerShape::square);
  return static_cast<std::size_t>(level == Level::l1 ? MarkerShape::triangle : MarkerShape::circle);
}

/// A point where the counters put it.
struct CountedMark {
  double intensity = 0, performance = 0;
  std::size_t shape = 0;
  std::string title;
};

const char* level_name(Level level) {
  if (level == Level::l1) return "L1";
  return level == Level::l2 ? "L2" : "DRAM";
}

std::vector<CountedMark> level_marks(const Chart& chart, const PlottedPoint& p) {
  std::vector<CountedMark> marks;
  for (const Level level : {Level::l1, Level::l2, main_memory(chart.report->machine.device.kind)}) {
    const double value = counted_intensity(*p.point, level);
    if (!std::isfinite(value)) continue;
    marks.push_back({value, p.performance, shape_of(level),
                     fmt::format("{}: {} FLOP/byte, counted", level_name(level), intensity(value))});
  }
  return marks;
}

/// The pipes that did a five-hundredth of the work (attention's softmax is a hundredth beside its products), or a
/// twentieth where the model knows nothing of them (constants and conversions run on the half-precision pipe); where
/// that is more than one.
std::vector<CountedMark> pipe_marks(const Chart& chart, const PlottedPoint& p) {
  constexpr double kVisible = 0.002, kUnexpected = 0.05;
  const Work& work = p.point->work;
  const auto bytes = counted_bytes(*p.point->counters, main_memory(chart.report->machine.device.kind));
  if (!bytes || *bytes <= 0) return {};
  const std::map<Pipe, double> counted = counted_flops(*p.point->counters);
  double all = 0;
  for (const auto& [pipe, flops] : counted) all += flops;
  std::vector<CountedMark> marks;
  for (const auto& [pipe, flops] : counted) {
    const bool expected = work.flops.contains(pipe) || work.uncounted.contains(pipe);
    if (!(flops > (expected ? kVisible : kUnexpected) * all)) continue;
    const double performance = flops / p.point->time->median;
    marks.push_back({flops / *bytes, performance, kPipeShape,
                     fmt::format("{}: {}, counted", to_string(pipe), rate(performance, CeilingKind::compute))});
  }
  if (marks.size() < 2) marks.clear();
  return marks;
}

Item counted_marker(std::size_t shape, Vec center, const Color& color, const Palette& colors) {
  Item item = marker(shape, center, kCountedRadius, colors, MarkerFill::hollow);
  const Stroke edge{color, kThread};
  if (Line* line = std::get_if<Line>(&item)) line->stroke = edge;
  if (Circle* circle = std::get_if<Circle>(&item)) circle->stroke = edge;
  return item;
}

Item titled(Item item, const std::string& title) {
  if (Line* line = std::get_if<Line>(&item)) line->title = title;
  if (Circle* circle = std::get_if<Circle>(&item)) circle->title = title;
  return item;
}

/// The marks inside the plot that the point's own does not cover, joined by a line from end to end; `through` are what
/// the line reaches besides.
void add_marks(Chart& chart, const PlottedPoint& p, std::vector<CountedMark> marks, std::vector<Vec> through,
               const char* what, Layer& layer) {
  std::erase_if(marks, [&](const CountedMark& mark) {
    return !chart.x.contains(mark.intensity) || !chart.y.contains(mark.performance) ||
           length(chart.at(mark.intensity, mark.performance) - chart.at(p)) < kMarkerRadius - 1;
  });
  // One mark where two would lie on each other: the first, with both names.
  std::vector<CountedMark> apart;
  for (CountedMark& mark : marks) {
    const Vec at = chart.at(mark.intensity, mark.performance);
    const auto twin = std::find_if(apart.begin(), apart.end(), [&](const CountedMark& other) {
      return length(chart.at(other.intensity, other.performance) - at) < kCountedRadius;
    });
    if (twin == apart.end()) {
      apart.push_back(std::move(mark));
    } else {
      twin->title = mark.title.substr(0, mark.title.find(':')) + ", " + twin->title;
    }
  }
  marks = std::move(apart);
  if (marks.empty()) return;
  Group group{.classes = what,
              .data = {{"of", fmt::format("{}", p.index)}},
              .shares_paint = true,
              .hidden = !chart.shows_counted};
  for (const CountedMark& mark : marks) through.push_back(chart.at(mark.intensity, mark.performance));
  const auto [left, right] =
      std::minmax_element(through.begin(), through.end(), [](Vec a, Vec b) { return a.x < b.x; });
  if (length(*right - *left) > 0)
    group.items.push_back(Line{{*left, *right}, false, chart.colors->background, Stroke{chart.color_of(p), kThread}});
  if (chart.shows_counted) chart.space.lines.push_back(Quad::stroke(*left, *right, kThread));
  for (const CountedMark& mark : marks) {
    const Vec at = chart.at(mark.intensity, mark.performance);
    group.items.push_back(titled(counted_marker(mark.shape, at, chart.color_of(p), *chart.colors), mark.title));
    if (chart.shows_counted) chart.space.markers.push_back(Rect{at.x, at.y, 0, 0}.inflated(kCountedRadius + 1.5));
  }
  layer.groups.push_back(std::move(group));
}

bool draws_any(const Chart& chart, std::vector<CountedMark> (*marks_of)(const Chart&, const PlottedPoint&)) {
  return chart.shows_counted && std::any_of(chart.points.begin(), chart.points.end(), [&](const PlottedPoint& p) {
           return p.point->counters && !marks_of(chart, p).empty();
         });
}

}  // namespace

std::vector<Item> counted_levels_sample(const Chart& chart) {
  std::vector<Item> sample;
  if (!draws_any(chart, level_marks)) return sample;
  double x = 4;
  for (const Level level : {Level::l2, Level::l1, Level::hbm}) {
    sample.push_back(counted_marker(shape_of(level), {x, 0}, chart.colors->muted, *chart.colors));
    x += 11;
  }
  return sample;
}

std::vector<Item> counted_pipes_sample(const Chart& chart) {
  if (!draws_any(chart, pipe_marks)) return {};
  return {counted_marker(kPipeShape, {6, 0}, chart.colors->muted, *chart.colors)};
}

Layer counted_layer(Chart& chart) {
  Layer layer{"counted"};
  for (const PlottedPoint& p : chart.points) {
    if (!p.point->counters) continue;
    add_marks(chart, p, level_marks(chart, p), {chart.at(p)}, "hierarchy", layer);
    add_marks(chart, p, pipe_marks(chart, p), {chart.at(p)}, "pipes", layer);
  }
  return layer;
}

}  // namespace roofline
