// The roofline chart, laid out: one scene from one report. Written once for all canvases.
#pragma once

#include <string>
#include <vector>

#include "report/chart/axes.hpp"
#include "report/chart/labels.hpp"
#include "report/chart/points.hpp"
#include "report/chart/roofs.hpp"
#include "report/chart/scene.hpp"
#include "report/render.hpp"

namespace roofline {

/// A chart in the making, and what a test or a page wants to know of the finished one.
struct Chart {
  const Report* report = nullptr;
  const Palette* colors = nullptr;
  Roofs roofs;
  std::vector<std::string> families;
  std::vector<PlottedPoint> points;
  Rect plot;
  LogAxis x, y;
  LabelSpace space;  ///< what the names of points have to keep clear of
  Scene scene;
  std::size_t named = 0;         ///< points with their name beside them
  std::size_t numbered = 0;      ///< points with a number, and their name in the key
  std::vector<std::size_t> key;  ///< the numbered points, in order: indices into `points`

  Vec at(double intensity, double performance) const { return {x.pixel(intensity), y.pixel(performance)}; }
};

/// Radius of a point's marker in pixels.
inline constexpr double kMarkerRadius = 6;
/// A ceiling's 95 % interval is drawn where its ends differ by this factor: less is thinner than the line.
inline constexpr double kVisibleInterval = 1.05;

/// A text cut in the middle until it fits into `width` pixels.
std::string fitted(std::string text, double width, double size, FontWeight weight = FontWeight::regular);

/// The whole layout. Never fails on a report's content: what can't be shown is counted in the footnote.
/// The chart points into the report, which has to outlive it.
Chart lay_out_chart(const Runs& runs, const ChartOptions& options);
Chart lay_out_chart(const Report&& report, const ChartOptions& options) = delete;

// The steps of the layout; each adds layers to chart.scene, and obstacles to chart.space.
void draw_axes(Chart& chart);
void draw_roofs(Chart& chart);
/// Width of the key of numbered points beside a plot of that height, in at most so many columns.
double key_size(const Chart& chart, double height, std::size_t most_columns);
/// `key_area` takes the names of numbered points; without one, what can't be named has no name. Returns
/// whether every point has a name or a number.
bool draw_points(Chart& chart, const Rect* key_area);

}  // namespace roofline
