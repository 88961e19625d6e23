// The roofs: slopes, horizontal ceilings, their intervals, limits, ridges and names.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/chart/chart.hpp"
#include "report/format.hpp"

namespace roofline {
namespace {

constexpr double kNameSize = 11.5;
constexpr double kNameHeight = 16;  // lines closer than this share one row of names
constexpr double kNameGap = 16;

/// A roof's line: y = slope * x for a slope, y = value for a ceiling, from where it begins to where it ends.
struct Span {
  Vec a, b;
  bool visible = false;
};

Span visible(const Chart& chart, Vec a, Vec b) {
  const bool seen = clip_segment(a, b, chart.plot);
  return {a, b, seen};
}

double top_of(const Chart& chart) {
  return chart.roofs.compute.empty() ? chart.y.range().high : chart.roofs.compute.front().ceiling->value;
}

Span slope_span(const Chart& chart, double bandwidth) {
  const double low = chart.x.range().low / 10, high = top_of(chart) / bandwidth;
  return visible(chart, chart.at(low, low * bandwidth), chart.at(high, high * bandwidth));
}

Span flat_span(const Chart& chart, double flops) {
  const double steepest = chart.roofs.memory.empty() ? 0 : chart.roofs.memory.front().ceiling->value;
  const double low = steepest > 0 ? flops / steepest : chart.x.range().low;
  return visible(chart, chart.at(low, flops), chart.at(chart.x.range().high, flops));
}

Span span_of(const Chart& chart, const Roof& roof, double value) {
  return roof.ceiling->kind == CeilingKind::bandwidth ? slope_span(chart, value) : flat_span(chart, value);
}

Color color_of(const Chart& chart, const Roof& roof) {
  if (roof.ceiling->suspect()) return chart.colors->suspect;
  if (roof.main) return chart.colors->roof_main;
  return roof.used ? chart.colors->roof : chart.colors->roof_idle;
}

double width_of(const Roof& roof) { return roof.main ? 2.4 : roof.used ? 1.5 : 1; }

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
  const Span low = span_of(chart, roof, ci.low), high = span_of(chart, roof, ci.high);
  if (low.visible && high.visible)
    group.items.push_back(Line{{low.a, low.b, high.b, high.a}, true, chart.colors->band, {}});
}

void add_limit(const Chart& chart, const Roof& roof, Group& group) {
  const Ceiling& c = *roof.ceiling;
  if (!c.limit || !(c.limit->value > c.value) || !std::isfinite(c.limit->value)) return;
  // Nearer than the line is wide it would only make the line ragged; hovering tells it.
  if (std::abs(chart.y.pixel(c.limit->value) - chart.y.pixel(c.value)) < 3) return;
  const Span s = span_of(chart, roof, c.limit->value);
  if (!s.visible) return;
  group.items.push_back(Line{{s.a, s.b}, false, {}, Stroke{chart.colors->faint, 1, {1.2, 3}}});
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
  const Span s = span_of(chart, roof, c.value);
  if (!s.visible) return group;
  Color hit = chart.colors->background;  // a wide invisible stroke, so that a pointer finds the line
  hit.alpha = 0;
  group.items.push_back(Line{{s.a, s.b}, false, {}, Stroke{hit, 11}});
  group.items.push_back(Line{{s.a, s.b}, false, {}, Stroke{color_of(chart, roof), width_of(roof), dash_of(roof)}});
  chart.space.lines.push_back(Quad::stroke(s.a, s.b, width_of(roof)));
  return group;
}

Text name_text(const Chart& chart, const Roof& roof, Vec at, Anchor anchor, double rotation) {
  Color color = roof.main ? chart.colors->ink : chart.colors->muted;
  if (roof.ceiling->suspect()) color = chart.colors->suspect;
  const FontWeight weight = roof.used ? FontWeight::semibold : FontWeight::regular;
  return {at, roof.label(), kNameSize, weight, color, anchor, rotation, chart.colors->background, "ceiling-name"};
}

std::size_t hits(const std::vector<Quad>& obstacles, const Quad& box) {
  return static_cast<std::size_t>(
      std::count_if(obstacles.begin(), obstacles.end(), [&](const Quad& q) { return overlap(q, box); }));
}

/// Writes along a slope where it hides the least, or nowhere.
void name_slope(Chart& chart, const Roof& roof, Group& group) {
  const Span s = slope_span(chart, roof.ceiling->value);
  if (!s.visible) return;
  const Vec along = (s.b - s.a) * (1 / std::max(length(s.b - s.a), 1e-9));
  const Vec up = {along.y, -along.x};
  const double angle = std::atan2(along.y, along.x) * 180 / 3.14159265358979323846;
  std::optional<Text> best;
  double best_cost = 0;
  for (int step = 0; step <= 40; ++step) {
    const double t = 0.1 + 0.02 * step;
    const Text text = name_text(chart, roof, s.a + (s.b - s.a) * t + up * 5, Anchor::middle, angle);
    const Rect bounds = text.box().bounds();
    if (!chart.plot.contains(bounds) || hits(chart.space.solid, text.box()) > 0) continue;
    const double cost = 4.0 * static_cast<double>(hits(chart.space.lines, text.box())) + std::abs(t - 0.42) * 6;
    if (!best || cost < best_cost) best = text, best_cost = cost;
  }
  if (!best) return;
  chart.space.solid.push_back(best->box());
  group.items.push_back(*best);
}

/// Names of horizontal ceilings stand on their lines, at the right. Lines too close for two rows share
/// one, the highest rightmost. A row moves left to where it covers no marker and nothing that is written.
class FlatNames {
 public:
  FlatNames(Chart& chart, std::vector<Group>& groups) : chart_(chart), groups_(groups) {}

  void add(std::size_t roof) {
    const Ceiling& c = *chart_.roofs.compute[roof].ceiling;
    if (!flat_span(chart_, c.value).visible) return;
    const double y = chart_.y.pixel(c.value);
    if (!row_.empty() && y - row_y_ >= kNameHeight) flush();
    if (row_.empty()) row_y_ = y;
    row_.push_back(roof);
  }

  void flush() {
    for (double shift = 0; !row_.empty() && shift < chart_.plot.width * 0.6; shift += 12) {
      if (place(shift)) break;
    }
    row_.clear();
  }

 private:
  bool place(double shift) {
    double right = chart_.plot.right() - 8 - shift;
    std::vector<std::pair<std::size_t, Text>> texts;
    for (const std::size_t roof : row_) {
      Text text = name_text(chart_, chart_.roofs.compute[roof], {right, row_y_ - 5}, Anchor::end, 0);
      const Rect box = text.box().bounds();
      // What finds no room on this row keeps its name for hovering.
      if (box.x < chart_.plot.x + chart_.plot.width * 0.3) break;
      if (hits(chart_.space.solid, Quad::from(box.inflated(1))) > 0) return false;
      right = box.x - kNameGap;
      texts.emplace_back(roof, std::move(text));
    }
    for (auto& [roof, text] : texts) {
      chart_.space.solid.push_back(text.box());
      groups_[roof].items.push_back(std::move(text));
    }
    return true;
  }

  Chart& chart_;
  std::vector<Group>& groups_;
  std::vector<std::size_t> row_;
  double row_y_ = 0;
};

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

void add_ridges(Chart& chart) {
  const Roof* memory = chart.roofs.main_memory();
  if (!memory) return;
  Group marks{.classes = "ridges"};
  for (const Roof& roof : chart.roofs.compute) {
    const double ridge = roof.ceiling->value / memory->ceiling->value;
    if (!chart.x.contains(ridge) || !chart.y.contains(roof.ceiling->value)) continue;
    const Vec at = chart.at(ridge, roof.ceiling->value);
    marks.items.push_back(
        Circle{at, roof.main ? 3.6 : 2.8, chart.colors->background, Stroke{color_of(chart, roof), 1.4}});
  }
  const auto ridge = chart.roofs.ridge();
  Group drop{.id = "ridge", .classes = "ridge"};
  if (ridge && chart.x.contains(*ridge)) {
    drop.data = {{"ridge", fmt::format("{}", *ridge)}};
    const double x = chart.x.pixel(*ridge), y = chart.y.pixel(chart.roofs.main_compute()->ceiling->value) + 4;
    drop.items.push_back(Line{{{x, y}, {x, chart.plot.bottom()}}, false, {}, Stroke{chart.colors->faint, 1.2, {3, 4}}});
    chart.space.lines.push_back(Quad::stroke({x, y}, {x, chart.plot.bottom()}, 1));
    for (double up = 10; up < chart.plot.height * 0.7; up += 10) {
      Text text = {{x + 7, chart.plot.bottom() - up},
                   "ridge " + number(*ridge, 3) + " FLOP/byte",
                   11.5,
                   FontWeight::regular,
                   chart.colors->muted,
                   Anchor::start,
                   0,
                   chart.colors->background,
                   "ridge-name"};
      if (text.box().bounds().right() > chart.plot.right() - 4) text.at.x = x - 7, text.anchor = Anchor::end;
      if (hits(chart.space.solid, text.box()) > 0 || !chart.plot.contains(text.box().bounds())) continue;
      chart.space.solid.push_back(text.box());
      drop.items.push_back(text);
      break;
    }
  }
  chart.scene.layers.push_back({"ridges", {drop, marks}});
}

}  // namespace

void draw_roofs(Chart& chart) {
  add_area(chart);
  std::vector<Group> slopes, flats;
  for (const Roof& roof : chart.roofs.memory) slopes.push_back(roof_group(chart, roof));
  for (const Roof& roof : chart.roofs.compute) flats.push_back(roof_group(chart, roof));
  FlatNames names(chart, flats);
  for (std::size_t i = 0; i < flats.size(); ++i) names.add(i);
  names.flush();
  for (std::size_t i = 0; i < slopes.size(); ++i) name_slope(chart, chart.roofs.memory[i], slopes[i]);
  // What recedes is drawn first, the roofline itself last.
  std::vector<Group> all;
  for (auto* groups : {&slopes, &flats})
    for (Group& g : *groups) all.push_back(std::move(g));
  const auto rank = [](const Group& g) {
    return g.classes.find(" main") != std::string::npos ? 2 : g.classes.find(" idle") == std::string::npos ? 1 : 0;
  };
  std::stable_sort(all.begin(), all.end(), [&](const Group& a, const Group& b) { return rank(a) < rank(b); });
  chart.scene.layers.push_back({"ceilings", std::move(all)});
  add_ridges(chart);
}

}  // namespace roofline
