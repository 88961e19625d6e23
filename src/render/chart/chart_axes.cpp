// Grid, axes, ticks and their titles. Lines of one look stand together: the SVG makes them one path.
#include <iterator>
#include <string>
#include <utility>

#include "render/chart/chart.hpp"
#include "report/findings.hpp"

namespace roofline {
namespace {

constexpr double kTickSize = 11.5;
constexpr double kTitleSize = 12.5;

Line hairline(Vec a, Vec b, const Color& color, double width = 1) { return {{a, b}, false, {}, Stroke{color, width}}; }

void add_grid(Chart& chart) {
  Group minor{.classes = "grid-minor"}, major{.classes = "grid-major"};
  const Rect& p = chart.plot;
  for (const Tick& t : chart.x.ticks(false)) {
    const double x = chart.x.pixel(t.value);
    (t.major ? major : minor)
        .items.push_back(hairline({x, p.y}, {x, p.bottom()}, t.major ? chart.colors->grid : chart.colors->grid_minor));
  }
  for (const Tick& t : chart.y.ticks(true)) {
    const double y = chart.y.pixel(t.value);
    (t.major ? major : minor)
        .items.push_back(hairline({p.x, y}, {p.right(), y}, t.major ? chart.colors->grid : chart.colors->grid_minor));
  }
  chart.scene.layers.push_back({"grid", {minor, major}});
}

Text tick_label(Vec at, const Tick& tick, Anchor anchor, const Color& color) {
  return {at, tick.label, kTickSize, FontWeight::regular, color, anchor, 0, {}, "tick"};
}

Text axis_title(Vec at, std::string words, double rotation, const Color& color) {
  return {at, std::move(words), kTitleSize, FontWeight::regular, color, Anchor::middle, rotation, {}, "axis-title"};
}

Group x_axis(const Chart& chart) {
  const Rect& p = chart.plot;
  Group g{.classes = "axis-x"};
  std::vector<Item> labels;
  g.items.push_back(hairline({p.x, p.bottom()}, {p.right(), p.bottom()}, chart.colors->axis, 1.2));
  for (const Tick& t : chart.x.ticks(false)) {
    const double x = chart.x.pixel(t.value);
    g.items.push_back(hairline({x, p.bottom()}, {x, p.bottom() + (t.major ? 6 : 3)}, chart.colors->axis));
    if (!t.label.empty()) labels.emplace_back(tick_label({x, p.bottom() + 20}, t, Anchor::middle, chart.colors->muted));
  }
  std::move(labels.begin(), labels.end(), std::back_inserter(g.items));
  const char* const title = chart.of == Intensity::network ? "FLOPs per byte over the network (FLOP/byte)"
                                                           : "Arithmetic intensity (FLOP/byte)";
  if (chart.plot_only) {
    g.items.push_back(Text{{p.right(), p.bottom() + 36},
                           "FLOP/byte",
                           kTickSize,
                           FontWeight::regular,
                           chart.colors->ink,
                           Anchor::end,
                           0,
                           {},
                           "axis-title"});
  } else {
    g.items.push_back(axis_title({p.center().x, p.bottom() + (chart.small ? 36 : 40)}, title, 0, chart.colors->ink));
  }
  return g;
}

Group y_axis(const Chart& chart) {
  const Rect& p = chart.plot;
  Group g{.classes = "axis-y"};
  std::vector<Item> labels;
  g.items.push_back(hairline({p.x, p.y}, {p.x, p.bottom()}, chart.colors->axis, 1.2));
  for (const Tick& t : chart.y.ticks(true)) {
    const double y = chart.y.pixel(t.value);
    g.items.push_back(hairline({p.x - (t.major ? 6 : 3), y}, {p.x, y}, chart.colors->axis));
    if (!t.label.empty()) labels.emplace_back(tick_label({p.x - 10, y + 4}, t, Anchor::end, chart.colors->muted));
  }
  std::move(labels.begin(), labels.end(), std::back_inserter(g.items));
  const std::string unit = operation_unit(chart.report->points);
  if (chart.plot_only) {
    g.items.push_back(Text{
        {4, p.y - 8}, unit, kTickSize, FontWeight::regular, chart.colors->ink, Anchor::start, 0, {}, "axis-title"});
  } else {
    g.items.push_back(axis_title({p.x - (chart.small ? 52 : 56), p.center().y}, "Performance (" + unit + ")", -90,
                                 chart.colors->ink));
  }
  return g;
}

}  // namespace

void draw_axes(Chart& chart) {
  add_grid(chart);
  chart.scene.layers.push_back({"axes", {x_axis(chart), y_axis(chart)}});
}

}  // namespace roofline
