// The points: markers, their names or numbers, and the key of the numbered ones.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>

#include "render/chart/chart.hpp"
#include "report/profile_findings.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr double kNameSize = 11.5;
constexpr double kNumberSize = 10;
constexpr double kKeyRow = 15;
constexpr double kNameReach = 74;   // where every point is named
constexpr double kShortReach = 38;  // where a number will do instead
constexpr double kNumberReach = 25;
constexpr std::size_t kCostliest = 14;  // above kAllNamed points, this many are named

double text_height(double size) { return (Font::kAscent + Font::kDescent) * size; }

std::string name_of(const PlottedPoint& p) { return p.point->above_roof() ? p.name + " ▲" : p.name; }

/// Points by the time they take, the longest first.
std::vector<std::size_t> by_cost(const Chart& chart) {
  std::vector<std::size_t> order(chart.points.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return cost_of(*chart.points[a].point) > cost_of(*chart.points[b].point);
  });
  return order;
}

/// Large marks lie on each other.
void see_through(Item& mark) {
  constexpr double kOpacity = 0.72;
  const auto fill = [](std::optional<Color>& color) { color->alpha = kOpacity; };
  if (Line* line = std::get_if<Line>(&mark)) fill(line->fill);
  if (Circle* circle = std::get_if<Circle>(&mark)) fill(circle->fill);
}

/// `run` is the place of an earlier run, nothing for the last.
Group point_group(const Chart& chart, const PlottedPoint& p, std::optional<std::size_t> run) {
  Group g{.id = fmt::format("point-{}", p.index), .classes = "point", .title = point_title(p)};
  if (run) {
    g.id = fmt::format("run-{}-{}", *run, g.id);
    g.data = {{"run", fmt::format("{}", *run)}};
  }
  g.data.insert(g.data.end(), {{"point", fmt::format("{}", p.index)},
                               {"intensity", fmt::format("{}", p.intensity)},
                               {"performance", fmt::format("{}", p.performance)},
                               {"family", chart.families[p.family]},
                               {"bound", std::string(to_string(p.point->bound.label))},
                               {"limiting", p.point->bound.limiting_ceiling}});
  if (chart.of_program) g.data.emplace_back("radius", fmt::format("{:.1f}", p.radius));
  const Vec at = chart.at(p);
  const Interval& ci = p.performance_ci95;
  if (ci.low > 0 && std::isfinite(ci.high)) {
    const double low = chart.y.pixel(std::max(ci.low, chart.y.range().low));
    const double high = chart.y.pixel(std::min(ci.high, chart.y.range().high));
    if (low - high > 2 * p.radius + 2)
      g.items.push_back(Line{{{at.x, low}, {at.x, high}}, false, {}, Stroke{chart.color_of(p), 1.6, {}, true}});
  }
  if (p.point->above_roof()) {
    g.classes += " above-roof";
    g.items.push_back(Circle{at, p.radius + 4, {}, Stroke{chart.colors->above, 1.8}});
  }
  const MarkerFill fill = run ? MarkerFill::hollow : MarkerFill::solid;
  g.items.push_back(marker(p.family, at, p.radius, *chart.colors, fill));
  if (chart.of_program && !run) see_through(g.items.back());
  return g;
}

double clearance_of(const PlottedPoint& p) { return p.radius + (p.point->above_roof() ? 5 : 1); }

Group label_group(const Chart& chart, const PlottedPoint& p, const LabelPlacement& place, const std::string& text,
                  double size, FontWeight weight) {
  Group g{.classes = "point-label"};
  g.data = {{"label-of", fmt::format("{}", p.index)}};
  if (place.has_leader)
    g.items.push_back(Line{{place.leader_from, place.leader_to}, false, {}, Stroke{chart.colors->faint, 1}});
  const Vec baseline = {place.box.center().x, place.box.y + Font::kAscent * size};
  g.items.push_back(
      Text{baseline, text, size, weight, chart.colors->ink, Anchor::middle, 0, chart.colors->background, "name"});
  return g;
}

void occupy(LabelSpace& space, const LabelPlacement& place) {
  space.solid.push_back(Quad::from(place.box.inflated(1)));
  if (place.has_leader) space.leaders.push_back(Quad::stroke(place.leader_from, place.leader_to, 1));
}

/// Names those of `which` that find a place; returns the others.
std::vector<std::size_t> name_points(Chart& chart, const std::vector<std::size_t>& which, double reach, Layer& layer) {
  std::vector<LabelRequest> requests;
  for (const std::size_t i : which) {
    const PlottedPoint& p = chart.points[i];
    const double width = Font::of(FontWeight::regular).width(name_of(p), kNameSize);
    requests.push_back({chart.at(p), clearance_of(p), width, text_height(kNameSize), reach + p.radius - kMarkerRadius});
  }
  const auto places = place_labels(requests, chart.space);
  std::vector<std::size_t> left;
  for (std::size_t k = 0; k < which.size(); ++k) {
    if (!places[k]) {
      left.push_back(which[k]);
      continue;
    }
    const PlottedPoint& p = chart.points[which[k]];
    layer.groups.push_back(label_group(chart, p, *places[k], name_of(p), kNameSize, FontWeight::regular));
    occupy(chart.space, *places[k]);
    ++chart.named;
  }
  return left;
}

void place_numbers(Chart& chart, std::span<const std::size_t> which, Layer& layer) {
  // Numbers are given after placing, so that they run without gaps: room for the widest is asked for.
  const double width = Font::of(FontWeight::semibold).width(chart.points.size() > 99 ? "888" : "88", kNumberSize);
  std::vector<LabelRequest> requests;
  for (const std::size_t i : which) {
    const PlottedPoint& p = chart.points[i];
    requests.push_back({chart.at(p), clearance_of(p), width, text_height(kNumberSize), kNumberReach});
  }
  const auto places = place_labels(requests, chart.space, 300);
  for (std::size_t k = 0; k < which.size(); ++k) {
    if (!places[k]) continue;
    chart.key.push_back(which[k]);
    const std::string number = fmt::format("{}", chart.key.size());
    layer.groups.push_back(
        label_group(chart, chart.points[which[k]], *places[k], number, kNumberSize, FontWeight::semibold));
    occupy(chart.space, *places[k]);
    ++chart.numbered;
  }
}

/// Numbers as many of `which` as the key has room for, in their order; what finds no place leaves its to the next.
void number_points(Chart& chart, const std::vector<std::size_t>& which, std::size_t room, Layer& layer) {
  constexpr std::size_t kRounds = 3;
  std::size_t next = 0;
  for (std::size_t round = 0; round < kRounds && next < which.size() && chart.key.size() < room; ++round) {
    const std::size_t end = std::min(which.size(), next + room - chart.key.size());
    place_numbers(chart, {which.data() + next, end - next}, layer);
    next = end;
  }
}

constexpr double kKeyMargin = 12;   // between the plot and the key
constexpr double kKeyBefore = 39;   // number and marker before a name
constexpr double kKeyWidest = 180;  // a longer name is cut
constexpr double kKeyTextSize = 11;

std::size_t key_rows(double height) { return std::max<std::size_t>(1, static_cast<std::size_t>(height / kKeyRow)); }

double key_column(const Chart& chart) {
  double widest = 40;
  for (const PlottedPoint& p : chart.points)
    widest = std::max(widest, Font::of(FontWeight::regular).width(name_of(p), kKeyTextSize));
  return std::min(kKeyBefore + widest + 8, kKeyWidest);
}

std::size_t key_room(const Chart& chart, const Rect& area) {
  return key_rows(area.height) * static_cast<std::size_t>(std::lround(area.width / key_column(chart)));
}

void draw_key(Chart& chart, const Rect& area) {
  Layer layer{"key"};
  const double column = key_column(chart);
  const std::size_t rows = key_rows(area.height);
  for (std::size_t k = 0; k < chart.key.size(); ++k) {
    const PlottedPoint& p = chart.points[chart.key[k]];
    const std::size_t columns_before = k / rows;
    const double x = area.x + column * static_cast<double>(columns_before);
    const double y = area.y + kKeyRow * (static_cast<double>(k % rows) + 0.8);
    Group g{.classes = "key-row"};
    g.data = {{"label-of", fmt::format("{}", p.index)}};
    g.items.push_back(Text{
        {x + 20, y}, fmt::format("{}", k + 1), kNumberSize, FontWeight::semibold, chart.colors->muted, Anchor::end});
    g.items.push_back(marker(p.family, {x + 30, y - 3.6}, 4, *chart.colors));
    g.items.push_back(Text{{x + kKeyBefore, y},
                           fitted(name_of(p), column - kKeyBefore - 4, kKeyTextSize),
                           kKeyTextSize,
                           FontWeight::regular,
                           chart.colors->ink});
    layer.groups.push_back(std::move(g));
  }
  chart.scene.layers.push_back(std::move(layer));
}

}  // namespace

double key_size(const Chart& chart, double height, std::size_t most_columns) {
  const std::size_t named = chart.points.size() <= kAllNamed ? 0 : kCostliest, rows = key_rows(height);
  const std::size_t columns = (chart.points.size() - named + rows - 1) / rows;
  return kKeyMargin + key_column(chart) * static_cast<double>(std::clamp<std::size_t>(columns, 1, most_columns));
}

bool draw_points(Chart& chart, const Rect* key_area) {
  Layer marks{"points"}, names{"labels"};
  const std::vector<std::size_t> order = by_cost(chart);
  for (std::size_t run = 0; run < chart.earlier.size(); ++run)
    for (const PlottedPoint& p : chart.earlier[run]) marks.groups.push_back(point_group(chart, p, run));
  // The costliest is drawn last, so that no cheaper one hides it; but where it is the largest, below all others.
  for (auto i = order.rbegin(); i != order.rend(); ++i)
    marks.groups.push_back(point_group(chart, chart.points[*i], std::nullopt));
  if (chart.of_program) {
    std::reverse(marks.groups.end() - static_cast<std::ptrdiff_t>(order.size()), marks.groups.end());
  }
  const std::size_t all = chart.of_program ? kNamedOfProgram : kAllNamed;
  const std::size_t named = order.size() <= all ? order.size() : chart.of_program ? kNamedOfProgram : kCostliest;
  const auto split = order.begin() + static_cast<std::ptrdiff_t>(named);
  std::vector<std::size_t> rest =
      name_points(chart, {order.begin(), split}, key_area ? kShortReach : kNameReach, names);
  rest.insert(rest.end(), split, order.end());
  if (key_area && !rest.empty()) number_points(chart, rest, key_room(chart, *key_area), names);
  // Under the markers, so that a leader never runs over one.
  chart.scene.layers.push_back(std::move(names));
  chart.scene.layers.push_back(std::move(marks));
  if (key_area) draw_key(chart, *key_area);
  return chart.named + chart.numbered == chart.points.size();
}

}  // namespace roofline
