// Where the bound changes: a line down from the ridge of each pipe that limits a kernel, and the words on either side.

#include <algorithm>

#include "render/chart/chart.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr double kNear = 16;  // pixels; nearer ridges share a line
constexpr double kRow = 14;

/// Ridges that lie together.
struct Ridges {
  double low = 0, high = 0;  ///< FLOP/byte
  const Roof* roof = nullptr;
};

std::vector<Ridges> visible_ridges(const Chart& chart) {
  std::vector<Ridges> out;
  for (const Ridge& ridge : chart.roofs.ridges()) {
    if (!chart.x.contains(ridge.intensity)) continue;
    const bool near = !out.empty() && chart.x.pixel(ridge.intensity) - chart.x.pixel(out.back().low) < kNear;
    if (!near) out.push_back({ridge.intensity, ridge.intensity, ridge.roof});
    out.back().high = ridge.intensity;
    out.back().roof = ridge.roof;
  }
  return out;
}

std::string value_of(const Ridges& ridges) {
  const std::string low = ridge_value(ridges.low), high = ridge_value(ridges.high);
  return low == high ? low : low + "–" + high;
}

bool is_free(const Chart& chart, const Text& text) {
  const Quad box = text.box();
  return chart.plot.inflated(-2).contains(box.bounds()) && !overlaps_any(box, chart.space.solid) &&
         !overlaps_any(box, chart.space.lines) && !overlaps_any(box, chart.space.markers);
}

/// At the foot of the plot, or as much higher as it takes to be free.
void write(Chart& chart, Text text, Group& group) {
  text.halo = chart.colors->background;
  for (double up = 9; up < chart.plot.height / 3; up += kRow) {
    text.at.y = chart.plot.bottom() - up;
    if (!is_free(chart, text)) continue;
    chart.space.solid.push_back(text.box());
    group.items.push_back(std::move(text));
    return;
  }
}

}  // namespace

void draw_ridges(Chart& chart) {
  const std::vector<Ridges> ridges = visible_ridges(chart);
  if (ridges.empty()) return;
  Group lines{.classes = "ridges"}, words{.classes = "regions"};
  for (const Ridges& r : ridges) {
    const double x = chart.x.pixel(r.high), top = std::max(chart.y.pixel(r.roof->ceiling->value), chart.plot.y);
    lines.items.push_back(
        Line{{{x, top}, {x, chart.plot.bottom()}}, false, {}, Stroke{chart.colors->faint, 1, {1.5, 4}}});
    chart.space.lines.push_back(Quad::stroke({x, top}, {x, chart.plot.bottom()}, 1));
  }
  const Color& color = chart.colors->muted;
  const double size = chart.small ? 11 : 11.5;
  const double first = chart.x.pixel(ridges.front().high), last = chart.x.pixel(ridges.back().high);
  const char* const slow = chart.of == Intensity::network ? "communication-bound" : "memory-bound";
  write(chart, Text{{first - 8, 0}, slow, size, FontWeight::semibold, color, Anchor::end, 0, {}, "region"}, words);
  write(chart, Text{{last + 8, 0}, "compute-bound", size, FontWeight::semibold, color, Anchor::start, 0, {}, "region"},
        words);
  for (std::size_t i = 0; i < ridges.size(); ++i) {
    const std::string text = (i == 0 ? "ridge " : "") + value_of(ridges[i]);
    write(chart,
          Text{{chart.x.pixel(ridges[i].high) + 4, 0},
               text,
               11,
               FontWeight::regular,
               color,
               Anchor::start,
               0,
               {},
               "ridge-name"},
          words);
  }
  chart.scene.layers.push_back({"ridges", {std::move(lines), std::move(words)}});
}

}  // namespace roofline
