// What the hardware counted of a point: its intensities by the bytes of each level, and the work of each of its pipes,
// as ticks on a line that hangs on the point.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "render/chart/chart.hpp"
#include "report/diagnosis/counted.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr double kThread = 1.4;  // pixels, width of the ticks and of what joins them
constexpr double kTick = 5;      // half of a tick's length
constexpr double kSame = 4;      // ticks nearer than this are one

/// A point at its counted intensity.
struct CountedMark {
  double intensity = 0, performance = 0;
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
    marks.push_back(
        {value, p.performance, fmt::format("{}: {} FLOP/byte, counted", level_name(level), intensity(value))});
  }
  return marks;
}

/// The pipes that did a five-hundredth of the work (attention's softmax is a hundredth beside its products), or a
/// twentieth where the model has no operations on them (constants and conversions run on the half-precision pipe);
/// where that is more than one.
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
    marks.push_back(
        {flops / *bytes, performance, fmt::format("{}: {}, counted", to_string(pipe), si(performance, unit_of(pipe)))});
  }
  if (marks.size() < 2) marks.clear();
  return marks;
}

/// The marks inside the plot that the point's own does not cover: ticks, half of each is `across`, joined with the
/// point by a line from end to end. Ticks, because shapes are families' and hollow ones an earlier run's.
void add_marks(const Chart& chart, const PlottedPoint& p, std::vector<CountedMark> marks, const char* what, Vec across,
               Layer& layer) {
  std::erase_if(marks, [&](const CountedMark& mark) {
    return !chart.x.contains(mark.intensity) || !chart.y.contains(mark.performance) ||
           length(chart.at(mark.intensity, mark.performance) - chart.at(p)) < p.radius - 1;
  });
  // One tick where two would lie on each other: the first, with both names.
  std::vector<CountedMark> apart;
  for (CountedMark& mark : marks) {
    const Vec at = chart.at(mark.intensity, mark.performance);
    const auto twin = std::find_if(apart.begin(), apart.end(), [&](const CountedMark& other) {
      return length(chart.at(other.intensity, other.performance) - at) < kSame;
    });
    if (twin == apart.end()) {
      apart.push_back(std::move(mark));
    } else {
      twin->title = mark.title.substr(0, mark.title.find(':')) + ", " + twin->title;
    }
  }
  if (apart.empty()) return;
  Group group{.classes = what, .data = {{"of", fmt::format("{}", p.index)}}, .shares_paint = true, .hidden = true};
  std::vector<Vec> all = {chart.at(p)};
  for (const CountedMark& mark : apart) all.push_back(chart.at(mark.intensity, mark.performance));
  const auto [left, right] = std::minmax_element(all.begin(), all.end(), [](Vec a, Vec b) { return a.x < b.x; });
  const Stroke thread{chart.color_of(p), kThread};
  if (length(*right - *left) > 0) group.items.push_back(Line{{*left, *right}, false, {}, thread});
  for (const CountedMark& mark : apart) {
    const Vec at = chart.at(mark.intensity, mark.performance);
    group.items.push_back(Line{{at - across, at + across}, false, {}, thread, mark.title});
  }
  layer.groups.push_back(std::move(group));
}

}  // namespace

Layer counted_layer(const Chart& chart) {
  Layer layer{"counted"};
  for (const PlottedPoint& p : chart.points) {
    if (!p.point->counters) continue;
    add_marks(chart, p, level_marks(chart, p), "hierarchy", {0, kTick}, layer);
    add_marks(chart, p, pipe_marks(chart, p), "pipes", {kTick, 0}, layer);
  }
  return layer;
}

}  // namespace roofline
