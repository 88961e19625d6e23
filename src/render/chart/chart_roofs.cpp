// The roofs: slopes, horizontal ceilings, their intervals and limits. Names are chart_roof_names.cpp's.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "render/chart/chart.hpp"
#include "report/roofs.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

RoofSpan visible(const Chart& chart, Vec a, Vec b) {
  const bool seen = clip_segment(a, b, chart.plot);
  return {a, b, seen};
}

/// Slopes end at the highest used roof; only unused roofs are drawn above it.
RoofSpan slope_span(const Chart& chart, double bandwidth, double from, double to) {
  return visible(chart, chart.at(from, from * bandwidth), chart.at(to, to * bandwidth));
}

double beyond_left(const Chart& chart) { return chart.x.range().low / 10; }

double top_of(const Chart& chart, const Roofs& roofs) {
  const Roof* compute = roofs.main_compute();
  return compute ? compute->ceiling->value : chart.y.range().high;
}

/// A ceiling in use begins at the steepest slope, one that recedes at the main one.
double flat_begin(const Chart& chart, const Roofs& roofs, const Roof& roof, double flops) {
  const Roof* main = roofs.main_memory();
  if (!roof.used && main) return flops / main->ceiling->value;
  return roofs.memory.empty() ? chart.x.range().low : flops / roofs.memory.front().ceiling->value;
}

Color color_of(const Chart& chart, const Roof& roof) {
  if (roof.ceiling->suspect()) return chart.colors->suspect;
  if (roof.ceiling->provisional()) return chart.colors->faint;
  if (roof.main) return chart.colors->roof_main;
  return roof.used ? chart.colors->roof : chart.colors->roof_idle;
}

double width_of(const Roof& roof) { return roof.main ? 2.4 : roof.limits ? 1.6 : roof.used ? 1.2 : 0.8; }

std::vector<double> dash_of(const Roof& roof) {
  if (roof.ceiling->is_data_sheet_limit()) return {2, 4};
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

/// A pattern is drawn a little beyond the points that hang on it, so that a line is seen, and no second slope.
constexpr double kBeyond = 1.8;
double begin_of(const Roof& pattern) { return pattern.from / kBeyond; }
double end_of(const Roof& pattern) { return pattern.to * kBeyond; }

void add_interval(const Chart& chart, const Roof& roof, Group& group) {
  const Interval& ci = roof.ceiling->ci95;
  if (!(ci.low > 0) || !std::isfinite(ci.high) || ci.high / ci.low < kVisibleInterval) return;
  const RoofSpan low = roof_span(chart, chart.roofs, roof, ci.low), high = roof_span(chart, chart.roofs, roof, ci.high);
  if (low.visible && high.visible)
    group.items.push_back(Line{{low.a, low.b, high.b, high.a}, true, chart.colors->band, {}});
}

/// Above the roofline the main slope goes on, faintly, to the ceilings that recede there.
void add_extension(Chart& chart, const Roof& roof, Group& group) {
  if (!roof.main || roof.ceiling->kind != CeilingKind::bandwidth || chart.roofs.compute.empty()) return;
  const double bandwidth = roof.ceiling->value, highest = chart.roofs.compute.front().ceiling->value;
  if (!(highest > top_of(chart, chart.roofs))) return;
  const RoofSpan s = slope_span(chart, bandwidth, top_of(chart, chart.roofs) / bandwidth, highest / bandwidth);
  if (!s.visible) return;
  group.items.push_back(Line{{s.a, s.b}, false, {}, Stroke{chart.colors->roof_idle, 0.8}});
  chart.space.lines.push_back(Quad::stroke(s.a, s.b, 1));
}

void add_limit(Chart& chart, const Roof& roof, Group& group) {
  if (!roof.shows_limit()) return;
  const RoofSpan s = roof_span(chart, chart.roofs, roof, roof.ceiling->limit->value);
  if (!s.visible) return;
  group.items.push_back(Line{{s.a, s.b}, false, {}, Stroke{chart.colors->faint, 1, {1.2, 3}}});
  chart.space.limits.push_back(Quad::stroke(s.a, s.b, 1));
}

Group roof_group(Chart& chart, const Roof& roof) {
  const Ceiling& c = *roof.ceiling;
  Group group{.id = id_of(c), .classes = "ceiling", .title = roof.title(), .title_notes = roof.title_notes()};
  if (roof.main) group.classes += " main";
  if (!roof.used) group.classes += " idle";
  if (roof.to > 0) group.classes += " pattern";
  if (c.suspect()) group.classes += " suspect";
  if (c.provisional()) group.classes += " provisional";
  if (c.is_data_sheet_limit()) group.classes += " promised";
  group.data = {{"ceiling", ceiling_label(c)},
                {"kind", std::string(to_string(c.kind))},
                {"value", fmt::format("{:.6g}", c.value)}};
  if (roof.to > 0) group.data.emplace_back("stretch", fmt::format("{:.4g} {:.4g}", begin_of(roof), end_of(roof)));
  add_interval(chart, roof, group);
  add_limit(chart, roof, group);
  add_extension(chart, roof, group);
  const RoofSpan s = roof_span(chart, chart.roofs, roof, c.value);
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
  const double low = chart.x.range().low, high = chart.x.range().high, bottom = chart.y.range().low;
  const double top = compute->ceiling->value, ridge = top / memory->ceiling->value;
  Group group{.classes = "under-roof", .clipped = true};
  group.items.push_back(Line{{chart.at(low, bottom), chart.at(low, low * memory->ceiling->value), chart.at(ridge, top),
                              chart.at(std::max(high, ridge), top), chart.at(std::max(high, ridge), bottom)},
                             true,
                             chart.colors->under,
                             {}});
  chart.scene.layers.push_back({"area", {group}});
}

}  // namespace

RoofSpan roof_span(const Chart& chart, const Roofs& roofs, const Roof& roof, double value) {
  if (roof.ceiling->kind != CeilingKind::bandwidth) {
    return visible(chart, chart.at(flat_begin(chart, roofs, roof, value), value),
                   chart.at(chart.x.range().high, value));
  }
  const double end = top_of(chart, roofs) / value;
  if (roof.to > 0) return slope_span(chart, value, begin_of(roof), std::min(end_of(roof), end));
  return slope_span(chart, value, beyond_left(chart), end);
}

double roof_at(const PlottedPoint& p) {
  return p.performance * p.point->time->median / p.point->bound.attainable_time_s;
}

RoofGroups draw_roofs(Chart& chart) {
  add_area(chart);
  RoofGroups groups;
  for (const Roof& roof : chart.roofs.memory) groups.slopes.push_back(roof_group(chart, roof));
  for (const Roof& roof : chart.roofs.patterns) groups.patterns.push_back(roof_group(chart, roof));
  for (const Roof& roof : chart.roofs.compute) groups.flats.push_back(roof_group(chart, roof));
  return groups;
}

}  // namespace roofline
