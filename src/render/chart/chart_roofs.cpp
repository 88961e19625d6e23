// The roofs: slopes, horizontal ceilings, their intervals, limits and ridges. Names are chart_roof_names.cpp's.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "render/chart/chart.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

RoofSpan visible(const Chart& chart, Vec a, Vec b) {
  const bool seen = clip_segment(a, b, chart.plot);
  return {a, b, seen};
}

/// Slopes end at the roof of these kernels; what lies above it is for the roofs that recede.
RoofSpan slope_span(const Chart& chart, double bandwidth, double from, double to) {
  return visible(chart, chart.at(from, from * bandwidth), chart.at(to, to * bandwidth));
}

double beyond_left(const Chart& chart) { return chart.x.range().low / 10; }

double top_of(const Chart& chart) {
  const Roof* compute = chart.roofs.main_compute();
  return compute ? compute->ceiling->value : chart.y.range().high;
}

/// A ceiling in use begins at the steepest slope, one that recedes at the main one.
double flat_begin(const Chart& chart, const Roof& roof, double flops) {
  const Roof* main = chart.roofs.main_memory();
  if (!roof.used && main) return flops / main->ceiling->value;
  return chart.roofs.memory.empty() ? chart.x.range().low : flops / chart.roofs.memory.front().ceiling->value;
}

Color color_of(const Chart& chart, const Roof& roof) {
  if (roof.ceiling->suspect()) return chart.colors->suspect;
  if (roof.main) return chart.colors->roof_main;
  return roof.used ? chart.colors->roof : chart.colors->roof_idle;
}

double width_of(const Roof& roof) { return roof.main ? 2.4 : roof.used ? 1.5 : 0.8; }

std::vector<double> dash_of(const Roof& roof) {
  if (roof.ceiling->suspect()) return {9, 3, 2, 3};
  if (roof.ceiling->regime == Regime::sustained) return {7, 5};
  return {};
}

std::string id_of(const Ceiling& c) {
  std::string id = "ceiling-" + c.name;
  if (c.regime == Regime::sustained) id += "-sustained";
  std::replace_if(
      id.begin(), id.end(), [](char ch) { return !std::isalnum(static_cast<unsigned char>(ch)); }, '-');
  return id;
}

void add_interval(const Chart& chart, const Roof& roof, Group& group) {
  const Interval& ci = roof.ceiling->ci95;
  if (!(ci.low > 0) || !std::isfinite(ci.high) || ci.high / ci.low < kVisibleInterval) return;
  const RoofSpan low = roof_span(chart, roof, ci.low), high = roof_span(chart, roof, ci.high);
  if (low.visible && high.visible)
    group.items.push_back(Line{{low.a, low.b, high.b, high.a}, true, chart.colors->band, {}});
}

/// Above the roofline the main slope goes on, faintly, to the ceilings that recede there.
void add_extension(Chart& chart, const Roof& roof, Group& group) {
  if (!roof.main || roof.ceiling->kind != CeilingKind::bandwidth || chart.roofs.compute.empty()) return;
  const double bandwidth = roof.ceiling->value, highest = chart.roofs.compute.front().ceiling->value;
  if (!(highest > top_of(chart))) return;
  const RoofSpan s = slope_span(chart, bandwidth, top_of(chart) / bandwidth, highest / bandwidth);
  if (!s.visible) return;
  group.items.push_back(Line{{s.a, s.b}, false, {}, Stroke{chart.colors->roof_idle, 0.8}});
  chart.space.lines.push_back(Quad::stroke(s.a, s.b, 1));
}

void add_limit(Chart& chart, const Roof& roof, Group& group) {
  if (!roof.shows_limit()) return;
  const RoofSpan s = roof_span(chart, roof, roof.ceiling->limit->value);
  if (!s.visible) return;
  group.items.push_back(Line{{s.a, s.b}, false, {}, Stroke{chart.colors->faint, 1, {1.2, 3}}});
  chart.space.limits.push_back(Quad::stroke(s.a, s.b, 1));
}

Group roof_group(Chart& chart, const Roof& roof) {
  const Ceiling& c = *roof.ceiling;
  Group group{.id = id_of(c), .classes = "ceiling", .title = roof.title()};
  if (roof.main) group.classes += " main";
  if (!roof.used) group.classes += " idle";
  if (c.suspect()) group.classes += " suspect";
  group.data = {{"ceiling", ceiling_label(c)},
                {"kind", std::string(to_string(c.kind))},
                {"value", fmt::format("{}", c.value)},
                {"regime", std::string(to_string(c.regime))}};
  add_interval(chart, roof, group);
  add_limit(chart, roof, group);
  add_extension(chart, roof, group);
  const RoofSpan s = roof_span(chart, roof, c.value);
  if (!s.visible) return group;
  Color hit = chart.colors->background;  // a wide invisible stroke, so that a pointer finds the line
  hit.alpha = 0;
  group.items.push_back(Line{{s.a, s.b}, false, {}, Stroke{hit, 11}});
  group.items.push_back(Line{{s.a, s.b}, false, {}, Stroke{color_of(chart, roof), width_of(roof), dash_of(roof)}});
  const Quad stroke = Quad::stroke(s.a, s.b, width_of(roof));
  chart.space.lines.push_back(stroke);
  if (roof.main) chart.space.roofline.push_back(stroke);
  return group;
}

void add_area(Chart& chart) {
  const Roof *memory = chart.roofs.main_memory(), *compute = chart.roofs.main_compute();
  if (!memory || !compute) return;
  const double ridge = *chart.roofs.ridge(), low = chart.x.range().low, high = chart.x.range().high;
  const double top = compute->ceiling->value, bottom = chart.y.range().low;
  Group group{.classes = "under-roof", .clipped = true};
  group.items.push_back(Line{{chart.at(low, bottom), chart.at(low, low * memory->ceiling->value), chart.at(ridge, top),
                              chart.at(std::max(high, ridge), top), chart.at(std::max(high, ridge), bottom)},
                             true,
                             chart.colors->under,
                             {}});
  chart.scene.layers.push_back({"area", {group}});
}

/// Where ceilings meet the main slope.
Group ridge_marks(Chart& chart) {
  Group marks{.classes = "ridges"};
  const Roof* memory = chart.roofs.main_memory();
  for (const Roof& roof : chart.roofs.compute) {
    if (!memory || !roof.used) continue;
    const double ridge = roof.ceiling->value / memory->ceiling->value;
    if (!chart.x.contains(ridge) || !chart.y.contains(roof.ceiling->value)) continue;
    const Vec at = chart.at(ridge, roof.ceiling->value);
    const double radius = roof.main ? 3.6 : 2.8;
    marks.items.push_back(Circle{at, radius, chart.colors->background, Stroke{color_of(chart, roof), 1.4}});
    chart.space.solid.push_back(Quad::from(Rect{at.x, at.y, 0, 0}.inflated(radius)));
  }
  return marks;
}

/// The line from the main ridge down to the axis.
Group ridge_drop(Chart& chart) {
  Group drop{.id = "ridge", .classes = "ridge"};
  const auto ridge = chart.roofs.ridge();
  if (!ridge || !chart.x.contains(*ridge)) return drop;
  drop.data = {{"ridge", fmt::format("{}", *ridge)}};
  const double x = chart.x.pixel(*ridge), y = chart.y.pixel(top_of(chart)) + 4;
  drop.items.push_back(Line{{{x, y}, {x, chart.plot.bottom()}}, false, {}, Stroke{chart.colors->faint, 1.2, {3, 4}}});
  chart.space.lines.push_back(Quad::stroke({x, y}, {x, chart.plot.bottom()}, 1));
  return drop;
}

}  // namespace

RoofSpan roof_span(const Chart& chart, const Roof& roof, double value) {
  if (roof.ceiling->kind == CeilingKind::bandwidth)
    return slope_span(chart, value, beyond_left(chart), top_of(chart) / value);
  return visible(chart, chart.at(flat_begin(chart, roof, value), value), chart.at(chart.x.range().high, value));
}

void draw_roofs(Chart& chart) {
  add_area(chart);
  std::vector<Group> slopes, flats;
  for (const Roof& roof : chart.roofs.memory) slopes.push_back(roof_group(chart, roof));
  for (const Roof& roof : chart.roofs.compute) flats.push_back(roof_group(chart, roof));
  Group marks = ridge_marks(chart), drop = ridge_drop(chart);
  name_roofs(chart, slopes, flats, drop);
  // What recedes is drawn first, the roofline itself last.
  std::vector<Group> all;
  for (auto* groups : {&slopes, &flats})
    for (Group& g : *groups) all.push_back(std::move(g));
  const auto rank = [](const Group& g) {
    return g.classes.find(" main") != std::string::npos ? 2 : g.classes.find(" idle") == std::string::npos ? 1 : 0;
  };
  std::stable_sort(all.begin(), all.end(), [&](const Group& a, const Group& b) { return rank(a) < rank(b); });
  chart.scene.layers.push_back({"ceilings", std::move(all)});
  chart.scene.layers.push_back({"ridges", {std::move(drop), std::move(marks)}});
}

}  // namespace roofline
