// The legend: families, runs, and what lines mean that the chart has.
#include <fmt/format.h>

#include <algorithm>

#include "render/chart/chart.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// Kernels without FLOPs have a family and no point.
bool has_point(const Chart& chart, std::size_t family) {
  const auto has = [family](const std::vector<PlottedPoint>& points) {
    return std::any_of(points.begin(), points.end(), [family](const PlottedPoint& p) { return p.family == family; });
  };
  return has(chart.points) || std::any_of(chart.earlier.begin(), chart.earlier.end(), has);
}

constexpr double kLegendSize = 12;
constexpr double kLegendRow = 21;

/// "2026-01-15", or with the time of day where runs of one day are told apart.
std::string when(const Chart& chart, const Report& run) {
  const std::string& iso = run.invocation.started_at;
  const bool same_day =
      date_of(chart.runs.front()->invocation.started_at) == date_of(chart.report->invocation.started_at);
  std::string text = date_of(iso);
  if (same_day && iso.size() >= 16) text += " " + clean_line(iso.substr(11, 5));
  return text.empty() ? "" : " (" + text + ")";
}

/// One entry of the legend: a sample of what is drawn, and its meaning.
struct LegendEntry {
  std::string text;
  std::string family;        ///< data-family of the group; empty for other entries
  std::vector<Item> sample;  ///< drawn around the origin, 30 pixels wide at most
  double sample_width = 14;
};

Item sample_line(const Color& color, double width, std::vector<double> dash) {
  return Line{{{0, 0}, {24, 0}}, false, {}, Stroke{color, width, std::move(dash)}};
}

void add_runs(const Chart& chart, std::vector<LegendEntry>& out) {
  for (std::size_t run = 0; chart.runs.size() > 1 && run < chart.runs.size(); ++run) {
    const bool last = run + 1 == chart.runs.size();
    const Color& color = chart.colors->muted;
    const Circle hollow{{6, 0}, kMarkerRadius - 1, chart.colors->background, Stroke{color, 1.6}};
    const Circle solid{{6, 0}, kMarkerRadius, color, {}};
    const std::string name = last ? "now" : chart.runs.size() == 2 ? "before" : fmt::format("run {}", run + 1);
    out.push_back({name + when(chart, *chart.runs[run]), "", {last ? solid : hollow}});
  }
}

/// A small mark and a large one.
std::vector<Item> sizes(const Chart& chart) {
  const Stroke edge{chart.colors->muted, 1.4};
  return {Circle{{4, 0}, 3.5, {}, edge}, Circle{{21, 0}, 9, {}, edge}};
}

std::vector<LegendEntry> legend_of(const Chart& chart) {
  std::vector<LegendEntry> out;
  for (std::size_t i = 0; i < chart.families.size(); ++i)
    if (has_point(chart, i))
      out.push_back(
          {shorten(chart.families[i], 32), chart.families[i], {marker(i, {6, 0}, kMarkerRadius, *chart.colors)}});
  add_runs(chart, out);
  if (chart.of_program && !chart.points.empty()) out.push_back({"area: time of all launches", "", sizes(chart), 34});
  bool sustained = false, limits = false, band = false, suspect = false;
  for (const auto* roofs : {&chart.roofs.memory, &chart.roofs.compute}) {
    for (const Roof& roof : *roofs) {
      const Ceiling& c = *roof.ceiling;
      sustained |= c.regime == Regime::sustained;
      limits |= roof.shows_limit();
      band |= c.ci95.low > 0 && c.ci95.high / c.ci95.low >= kVisibleInterval;
      suspect |= c.suspect();
    }
  }
  if (sustained) out.push_back({"sustained", "", {sample_line(chart.colors->roof, 1.5, {7, 5})}, 24});
  if (limits) out.push_back({"hardware limit", "", {sample_line(chart.colors->faint, 1.2, {1.2, 3})}, 24});
  if (band) out.push_back({"95 % interval", "", {sample_line(chart.colors->band, 8, {})}, 24});
  if (suspect) out.push_back({"failed its audit", "", {sample_line(chart.colors->suspect, 1.5, {9, 3, 2, 3})}, 24});
  const auto above = [](const PlottedPoint& p) { return p.point->above_roof(); };
  if (std::any_of(chart.points.begin(), chart.points.end(), above))
    out.push_back({"▲ above its roof", "", {Circle{{7, 0}, 6, {}, Stroke{chart.colors->above, 1.8}}}, 14});
  if (auto marks = counted_levels_sample(chart); !marks.empty())
    out.push_back({"counted at L2, L1, DRAM", "", std::move(marks), 30});
  if (auto marks = counted_pipes_sample(chart); !marks.empty())
    out.push_back({"counted by pipe", "", std::move(marks), 12});
  return out;
}

}  // namespace

std::vector<Group> set_legend(const Chart& chart, double x, double right, double& height) {
  std::vector<Group> out;
  Vec pen = {x, 0};
  for (const LegendEntry& e : legend_of(chart)) {
    const std::string label = fitted(e.text, right - x - 40, kLegendSize);
    const double width = e.sample_width + 7 + Font::of(FontWeight::regular).width(label, kLegendSize);
    if (pen.x > x && pen.x + width > right) pen = {x, pen.y + kLegendRow};
    Group g{.classes = e.family.empty() ? "legend-entry" : "legend-entry legend-family"};
    if (!e.family.empty()) g.data = {{"family", e.family}};
    for (Item item : e.sample) {
      if (Line* line = std::get_if<Line>(&item))
        for (Vec& p : line->points) p = p + pen;
      if (Circle* circle = std::get_if<Circle>(&item)) circle->center = circle->center + pen;
      g.items.push_back(std::move(item));
    }
    g.items.push_back(
        Text{pen + Vec{e.sample_width + 7, 4}, label, kLegendSize, FontWeight::regular, chart.colors->ink});
    out.push_back(std::move(g));
    pen.x += width + 22;
  }
  height = pen.y + kLegendRow;
  return out;
}

}  // namespace roofline
