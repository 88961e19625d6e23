// The roofline chart, laid out: one scene from one report. Written once for all canvases.
#pragma once

#include <string>
#include <vector>

#include "render/chart/axes.hpp"
#include "render/chart/labels.hpp"
#include "render/chart/points.hpp"
#include "render/chart/scene.hpp"
#include "render/render.hpp"
#include "report/roofs.hpp"

namespace roofline {

/// A chart in the making, and what a test or a page wants to know of the finished one.
struct Chart {
  std::vector<const Report*> runs;  ///< the last is `report`
  const Report* report = nullptr;
  const Palette* colors = nullptr;
  Roofs roofs;
  std::vector<std::string> families;
  std::vector<PlottedPoint> points;                ///< of the last run
  std::vector<std::vector<PlottedPoint>> earlier;  ///< of the runs before it
  Rect plot;
  LogAxis x, y;
  LabelSpace space;  ///< what the names of points have to keep clear of
  std::string subtitle;
  Scene scene;
  bool shows_counted = false;    ///< what counters say is drawn, not only there for a page to show
  std::size_t named = 0;         ///< points with their name beside them
  std::size_t numbered = 0;      ///< points with a number, and their name in the key
  bool of_program = false;       ///< marks are sized by their time, and only those that take most have a name
  std::vector<std::size_t> key;  ///< the numbered points, in order: indices into `points`

  Vec at(double intensity, double performance) const { return {x.pixel(intensity), y.pixel(performance)}; }
  Vec at(const PlottedPoint& p) const { return at(p.intensity, p.performance); }
  const Color& color_of(const PlottedPoint& p) const { return colors->families[p.family % colors->families.size()]; }
};

/// Radius of the marks of what was counted.
inline constexpr double kCountedRadius = 3.4;
/// Of a program so many are named beside their marks; the others have their rows in the table.
inline constexpr std::size_t kNamedOfProgram = 12;
/// Up to here every point is named beside it, where there is room.
inline constexpr std::size_t kAllNamed = 25;
/// Up to so many points show what was counted of them; of more, their marks would hide them.
inline constexpr std::size_t kAllCounted = 32;
/// A ceiling's 95 % interval is drawn where its ends differ by this factor: less is thinner than the line.
inline constexpr double kVisibleInterval = 1.05;

/// A text cut in the middle until it fits into `width` pixels.
std::string fitted(std::string text, double width, double size, FontWeight weight = FontWeight::regular);

/// The day of an ISO time.
std::string date_of(const std::string& iso);

/// The whole layout. Never fails on a report's content: what can't be shown is counted in the footnote.
/// The chart points into the report, which has to outlive it.
Chart lay_out_chart(const Runs& runs, const ChartOptions& options);
Chart lay_out_chart(const Report&& report, const ChartOptions& options) = delete;

/// A roof's line from where it begins to where it ends.
struct RoofSpan {
  Vec a, b;
  bool visible = false;
};
RoofSpan roof_span(const Chart& chart, const Roof& roof, double value);

/// Entries in rows from `x` to `right`; y counts from the first row, and `height` is that of all.
std::vector<Group> set_legend(const Chart& chart, double x, double right, double& height);

// The steps of the layout; each adds layers to chart.scene, and obstacles to chart.space.
void draw_axes(Chart& chart);
void draw_roofs(Chart& chart);
/// Writes the roofs' names where they cross no line; the groups are those of chart.roofs, in its order.
void name_roofs(Chart& chart, std::vector<Group>& slopes, std::vector<Group>& flats, Group& ridge);
/// Ladders and sweeps, or the changes from the first run to the last; under the markers.
void draw_paths(Chart& chart);
/// What the hardware counted of the last run's points, for names to keep clear of; not yet in the scene.
Layer counted_layer(Chart& chart);
/// Its marks as the legend shows them, around the origin; empty where the chart draws none of the kind.
std::vector<Item> counted_levels_sample(const Chart& chart);
std::vector<Item> counted_pipes_sample(const Chart& chart);
/// Width of the key of numbered points beside a plot of that height, in at most so many columns.
double key_size(const Chart& chart, double height, std::size_t most_columns);
/// `key_area` takes the names of numbered points; without one, what can't be named has no name. Returns
/// whether every point has a name or a number.
bool draw_points(Chart& chart, const Rect* key_area);

}  // namespace roofline
