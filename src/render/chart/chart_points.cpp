// The points: markers, their names or numbers, and the key of the numbered ones.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>

#include "render/chart/chart.hpp"
#include "report/profile_findings.hpp"
#include "report/roof_share.hpp"
#include "report/work_source.hpp"

namespace roofline {
namespace {

constexpr double kNameSize = 11.5;
constexpr double kNumberSize = 11;
constexpr double kKeyRow = 15;
constexpr double kNameReach = 74;   // where every point is named
constexpr double kShortReach = 38;  // where a number will do instead
constexpr double kNumberReach = 25;
constexpr double kCentre = 1.1;  // radius of the dot in a mark's centre
constexpr std::size_t kNamedOnNarrow = 5;
constexpr std::size_t kCostliest = 14;  // above kAllNamed points, this many are named

double text_height(double size) { return (Font::kAscent + Font::kDescent) * size; }

std::string name_of(const PlottedPoint& p) { return p.point->above_roof() ? p.name + " ↑" : p.name; }

/// Points by the time they take, longest first.
std::vector<std::size_t> by_cost(const Chart& chart) {
  std::vector<std::size_t> order(chart.points.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return cost_of(*chart.points[a].point) > cost_of(*chart.points[b].point);
  });
  return order;
}

/// The roof that a point is above of, over its mark: whatever line is drawn there, it is of another clock or pattern.
void add_roof(const Chart& chart, const PlottedPoint& p, Group& group) {
  const double roof = roof_at(p);
  if (!chart.y.contains(roof)) return;
  const Vec at = {chart.at(p).x, chart.y.pixel(roof)}, half = {p.radius + 7, 0};
  group.items.push_back(Line{{chart.at(p), at}, false, {}, Stroke{chart.colors->above, 1}});
  group.items.push_back(Line{{at - half, at + half}, false, {}, Stroke{chart.colors->background, 4.5}});
  group.items.push_back(Line{{at - half, at + half}, false, {}, Stroke{chart.colors->above, 2}});
}

/// What the roof's probe reached beside the row, over its mark: the share of a paired row is of it.
void add_probe(const Chart& chart, const PlottedPoint& p, Group& group) {
  const double reached = p.performance / p.point->fraction_of_roof();
  if (!chart.y.contains(reached)) return;
  const Vec at = {chart.at(p).x, chart.y.pixel(reached)}, half = {p.radius + 7, 0};
  group.items.push_back(Line{{at - half, at + half}, false, {}, Stroke{chart.colors->background, 4}});
  group.items.push_back(Line{{at - half, at + half}, false, {}, Stroke{chart.colors->ink, 1.5, {3, 2}}});
}

/// `run` is the place of an earlier run, std::nullopt for the last.
Group point_group(const Chart& chart, const PlottedPoint& p, std::optional<std::size_t> run) {
  const ShareBasis basis = share_basis(*p.point, *chart.report);
  Group g{.id = fmt::format("point-{}", p.index),
          .classes = "point",
          .title = point_title(p),
          .title_notes = point_notes(p, basis)};
  if (run) {
    g.id = fmt::format("run-{}-{}", *run, g.id);
    g.data = {{"run", fmt::format("{}", *run)}};
  }
  g.data.insert(g.data.end(), {{"point", fmt::format("{}", p.index)},
                               {"intensity", fmt::format("{:.6g}", p.intensity)},
                               {"performance", fmt::format("{:.6g}", p.performance)},
                               {"family", chart.families[p.family]},
                               {"bound", std::string(to_string(p.point->bound.label))},
                               {"limiting", p.point->bound.limiting_ceiling}});
  if (p.radius != kMarkerRadius) g.data.emplace_back("radius", fmt::format("{:.1f}", p.radius));
  if (bytes_is_lower_bound(*p.point)) g.data.emplace_back("bytes", "least");
  if (p.at_edge) g.data.emplace_back("edge", "");
  if (!run && std::isfinite(roof_at(p))) g.data.emplace_back("roof", fmt::format("{:.4g}", roof_at(p)));
  const Vec at = chart.at(p);
  const Interval& ci = p.performance_ci95;
  if (ci.low > 0 && std::isfinite(ci.high)) {
    const double low = chart.y.pixel(std::max(ci.low, chart.y.range().low));
    const double high = chart.y.pixel(std::min(ci.high, chart.y.range().high));
    if (low - high > 2 * p.radius + 2)
      g.items.push_back(Line{{{at.x, low}, {at.x, high}}, false, {}, Stroke{chart.color_of(p), 1.6, {}, true}});
  }
  if (bytes_is_lower_bound(*p.point) || p.at_edge) add_arrow(at, p.radius, chart.color_of(p), g.items);
  const MarkerFill fill = run ? MarkerFill::hollow : MarkerFill::solid;
  if (!run && basis == ShareBasis::probe) add_probe(chart, p, g);
  const bool above = p.point->above_roof();
  if (above) {
    g.classes += " above-roof";
    add_roof(chart, p, g);
  }
  g.items.push_back(marker(p.style, at, p.radius, *chart.colors, fill));
  if (above) {
    const auto outline = [&](std::optional<Stroke>& edge) { edge = Stroke{chart.colors->above, 1.6}; };
    if (Line* line = std::get_if<Line>(&g.items.back())) outline(line->stroke);
    if (Circle* circle = std::get_if<Circle>(&g.items.back())) outline(circle->stroke);
  }
  // Where a mark is: its edge may reach over a roof that its centre is below.
  g.items.push_back(Circle{at, kCentre, run ? chart.color_of(p) : chart.colors->background, {}});
  return g;
}

double clearance_of(const PlottedPoint& p) { return p.radius + 1; }

/// True if another mark lies where the leader of a point runs or ends.
bool is_covered(const Chart& chart, const PlottedPoint& p, const LabelPlacement& place) {
  const Quad leader = Quad::stroke(place.leader_from, place.leader_to, 1);
  return std::any_of(chart.points.begin(), chart.points.end(), [&](const PlottedPoint& other) {
    const Vec at = chart.at(other);
    return &other != &p && overlap(leader, Quad::from(Rect{at.x, at.y, 0, 0}.inflated(other.radius)));
  });
}

/// Names stand under the marks, so that no leader runs over one; but those whose mark another may cover stand over
/// them.
struct Labels {
  Layer under{"labels"}, over{"labels over"};
};

/// Points whose marks lie on each other, costliest first: they share one label.
using Cluster = std::vector<std::size_t>;

void add_label(const Chart& chart, const Cluster& cluster, const LabelPlacement& place, const std::string& text,
               double size, FontWeight weight, Labels& labels) {
  Group g{.classes = "point-label"};
  const PlottedPoint& p = chart.points[cluster.front()];
  g.data = {{"label-of", fmt::format("{}", p.index)}};
  if (cluster.size() > 1) {
    std::string also;
    for (std::size_t i = 1; i < cluster.size(); ++i)
      also += fmt::format("{}{}", i > 1 ? " " : "", chart.points[cluster[i]].index);
    g.data.emplace_back("also", std::move(also));
  }
  // Where marks overlap, a leader ends at the centre of its mark.
  const bool covered = place.has_leader && is_covered(chart, p, place);
  if (place.has_leader) {
    const Stroke thin{covered ? chart.colors->ink : chart.colors->faint, covered ? 0.9 : 1};
    g.items.push_back(Line{{covered ? chart.at(p) : place.leader_from, place.leader_to}, false, {}, thin});
    if (covered) g.items.push_back(Circle{chart.at(p), 1.6, chart.colors->ink, {}});
  }
  const Vec baseline = {place.box.center().x, place.box.y + Font::kAscent * size};
  g.items.push_back(
      Text{baseline, text, size, weight, chart.colors->ink, Anchor::middle, 0, chart.colors->background, "name"});
  (covered ? labels.over : labels.under).groups.push_back(std::move(g));
}

void occupy(LabelSpace& space, const LabelPlacement& place) {
  space.solid.push_back(Quad::from(place.box.inflated(1)));
  if (place.has_leader) space.leaders.push_back(Quad::stroke(place.leader_from, place.leader_to, 1));
}

/// In the order of their costliest points.
std::vector<Cluster> clusters_of(const Chart& chart, const std::vector<std::size_t>& by_cost) {
  constexpr double kTogether = 9;  // pixels between centres: shapes that the eye doesn't tell apart
  constexpr std::size_t kCompared = 400;
  std::vector<Cluster> clusters;
  for (const std::size_t i : by_cost) {
    const Vec at = chart.at(chart.points[i]);
    const auto end = clusters.begin() + static_cast<std::ptrdiff_t>(std::min(clusters.size(), kCompared));
    const auto near = std::find_if(clusters.begin(), end, [&](const Cluster& cluster) {
      return length(chart.at(chart.points[cluster.front()]) - at) < kTogether;
    });
    if (near == end) {
      clusters.push_back({i});
    } else {
      near->push_back(i);
    }
  }
  return clusters;
}

std::string name_of(const Chart& chart, const Cluster& cluster) {
  constexpr double kNarrowName = 110;  // pixels
  std::string name = name_of(chart.points[cluster.front()]);
  if (chart.plot_only) name = fitted(name, kNarrowName, kNameSize);
  return cluster.size() == 1 ? name : fmt::format("{} +{}", name, cluster.size() - 1);
}

/// Labels the clusters of `which` that find a place; returns the others.
std::vector<Cluster> name_points(Chart& chart, const std::vector<Cluster>& which, double reach, Labels& labels) {
  std::vector<LabelRequest> requests;
  for (const Cluster& cluster : which) {
    const PlottedPoint& p = chart.points[cluster.front()];
    const double width = Font::of(FontWeight::regular).width(name_of(chart, cluster), kNameSize);
    requests.push_back({chart.at(p), clearance_of(p), width, text_height(kNameSize), reach + p.radius - kMarkerRadius});
  }
  const auto places = place_labels(requests, chart.space);
  std::vector<Cluster> left;
  for (std::size_t k = 0; k < which.size(); ++k) {
    if (!places[k]) {
      left.push_back(which[k]);
      continue;
    }
    add_label(chart, which[k], *places[k], name_of(chart, which[k]), kNameSize, FontWeight::regular, labels);
    occupy(chart.space, *places[k]);
    chart.named += which[k].size();
    ++chart.name_labels;
  }
  return left;
}

/// "7", or "7–9" of three.
std::string numbers_of(std::size_t first, std::size_t count) {
  return count == 1 ? fmt::format("{}", first) : fmt::format("{}\u2013{}", first, first + count - 1);
}

void place_numbers(Chart& chart, std::span<const Cluster> which, Labels& labels) {
  // Numbers are given after placing, so that they run without gaps: placement reserves room for the widest.
  const std::string_view widest = chart.points.size() > 99 ? "888" : "88";
  std::vector<LabelRequest> requests;
  for (const Cluster& cluster : which) {
    const PlottedPoint& p = chart.points[cluster.front()];
    const std::string text = cluster.size() == 1 ? std::string(widest) : fmt::format("{0}\u2013{0}", widest);
    const double width = Font::of(FontWeight::semibold).width(text, kNumberSize);
    requests.push_back({chart.at(p), clearance_of(p), width, text_height(kNumberSize), kNumberReach});
  }
  const auto places = place_labels(requests, chart.space, 300);
  for (std::size_t k = 0; k < which.size(); ++k) {
    if (!places[k]) continue;
    const std::string number = numbers_of(chart.key.size() + 1, which[k].size());
    chart.key.insert(chart.key.end(), which[k].begin(), which[k].end());
    add_label(chart, which[k], *places[k], number, kNumberSize, FontWeight::semibold, labels);
    occupy(chart.space, *places[k]);
    chart.numbered += which[k].size();
  }
}

/// Numbers as many of `which` as the key has room for, in their order; what finds no place leaves its to the next.
void number_points(Chart& chart, std::vector<Cluster> which, std::size_t room, Labels& labels) {
  constexpr int kRounds = 3;
  for (int round = 0; round < kRounds && !which.empty(); ++round) {
    std::vector<Cluster> now, later;
    std::size_t rows = chart.key.size();
    for (Cluster& cluster : which) {
      const bool fits = rows + cluster.size() <= room;
      if (fits) rows += cluster.size();
      (fits ? now : later).push_back(std::move(cluster));
    }
    place_numbers(chart, now, labels);
    which = std::move(later);
  }
}

constexpr double kKeyMargin = 12;  // between the plot and the key
constexpr double kKeyBefore = 39;  // number and marker before a name
constexpr double kKeyTextSize = 11;

std::size_t key_rows(double height) { return std::max<std::size_t>(1, static_cast<std::size_t>(height / kKeyRow)); }

double key_column(const Chart& chart) {
  double widest = 40;
  for (const PlottedPoint& p : chart.points)
    widest = std::max(widest, Font::of(FontWeight::regular).width(name_of(p), kKeyTextSize));
  return std::min(kKeyBefore + widest + 8, std::clamp(0.25 * chart.scene.width, 150.0, 260.0));  // longer ones are cut
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
    g.items.push_back(marker(p.style, {x + 30, y - 3.6}, 4, *chart.colors));
    g.items.push_back(Text{{x + kKeyBefore, y},
                           fitted(name_of(p), column - kKeyBefore - 4, kKeyTextSize),
                           kKeyTextSize,
                           FontWeight::regular,
                           chart.colors->ink});
    layer.groups.push_back(std::move(g));
  }
  chart.scene.layers.push_back(std::move(layer));
}

/// As they are drawn: where marks stand for time the largest first, so that a small one is seen on it; where all are
/// alike the costliest last, so that no cheaper one hides it.
std::vector<Group> point_groups(const Chart& chart, const std::vector<std::size_t>& by_cost) {
  std::vector<Group> groups;
  for (std::size_t run = 0; run < chart.earlier.size(); ++run)
    for (const PlottedPoint& p : chart.earlier[run]) groups.push_back(point_group(chart, p, run));
  std::vector<std::size_t> order = by_cost;
  if (chart.seconds == 0) std::reverse(order.begin(), order.end());
  for (const std::size_t i : order) groups.push_back(point_group(chart, chart.points[i], std::nullopt));
  return groups;
}

}  // namespace

double key_size(const Chart& chart, double height, std::size_t most_columns) {
  const std::size_t named = chart.points.size() <= kAllNamed ? 0 : kCostliest, rows = key_rows(height);
  const std::size_t columns = (chart.points.size() - named + rows - 1) / rows;
  return kKeyMargin + key_column(chart) * static_cast<double>(std::clamp<std::size_t>(columns, 1, most_columns));
}

bool draw_points(Chart& chart, const Rect* key_area) {
  Labels labels;
  const std::vector<std::size_t> order = by_cost(chart);
  const std::vector<Cluster> clusters = clusters_of(chart, order);
  const std::size_t all = chart.of_program ? kNamedOfProgram : kAllNamed;
  std::size_t most = order.size() <= all ? order.size() : chart.of_program ? kNamedOfProgram : kCostliest;
  if (chart.plot_only) most = std::min(most, kNamedOnNarrow);
  // Beside a key the points of a cluster have a number each, so that none is nameless.
  std::vector<Cluster> named, rest;
  for (const Cluster& cluster : clusters) {
    const bool name = named.size() < most && (key_area == nullptr || cluster.size() == 1);
    (name ? named : rest).push_back(cluster);
  }
  const std::vector<Cluster> left = name_points(chart, named, key_area ? kShortReach : kNameReach, labels);
  rest.insert(rest.begin(), left.begin(), left.end());
  if (key_area && !rest.empty()) number_points(chart, rest, key_room(chart, *key_area), labels);
  chart.scene.layers.push_back(std::move(labels.under));
  chart.scene.layers.push_back({"points", point_groups(chart, order)});
  chart.scene.layers.push_back(std::move(labels.over));
  if (key_area) draw_key(chart, *key_area);
  return chart.named + chart.numbered == chart.points.size();
}

}  // namespace roofline
