// The roofline chart, laid out: one scene from one report. Written once for all canvases.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "render/chart/axes.hpp"
#include "render/chart/labels.hpp"
#include "render/chart/points.hpp"
#include "render/chart/scene.hpp"
#include "render/render.hpp"
#include "report/roofs.hpp"

namespace roofline {

/// The machine of the first run, where it is another one, or its roofs are.
struct OtherMachine {
  const Report* report = nullptr;
  std::string name;  ///< "H100", or "before" where both have one name
  Roofs roofs;       ///< those that differ from the last run's
};

/// The chart during layout, with the results that tests and pages read.
struct Chart {
  std::vector<const Report*> runs;  ///< the last is `report`
  const Report* report = nullptr;
  const Palette* colors = nullptr;
  Intensity of = Intensity::memory;
  Roofs roofs;
  std::optional<OtherMachine> other;
  std::string name;  ///< name of the machine, if there are two
  std::vector<std::string> families;
  std::vector<PlottedPoint> points;                ///< points of the last run
  std::vector<std::vector<PlottedPoint>> earlier;  ///< points of earlier runs
  Rect plot;
  LogAxis x, y;
  LabelSpace space;  ///< obstacles for the labels of points
  std::string subtitle;
  Scene scene;
  std::size_t named = 0;         ///< points labelled with their name, or with that of the costliest of their cluster
  std::size_t name_labels = 0;   ///< the names, one for a cluster
  std::size_t numbered = 0;      ///< points with a number, and their name in the key
  bool of_program = false;       ///< only the points that take most have a name
  double seconds = 0;            ///< seconds represented by a mark of radius 1; 0 if all marks have one size
  bool projected = false;        ///< the last run was computed, not measured
  bool plot_only = false;        ///< for narrow pages: axes, roofs, marks and few names
  bool small = false;            ///< a small picture: fewer notes and names
  std::vector<std::size_t> key;  ///< the numbered points, in order: indices into `points`

  Vec at(double intensity, double performance) const { return {x.pixel(intensity), y.pixel(performance)}; }
  Vec at(const PlottedPoint& p) const { return at(p.intensity, p.performance); }
  const Color& color_of(const PlottedPoint& p) const { return colors->families[p.style % colors->families.size()]; }
};

/// The number of labelled points of a program; the others are in the table.
inline constexpr std::size_t kNamedOfProgram = 12;
/// Up to this number, every point is labelled if there is room.
inline constexpr std::size_t kAllNamed = 25;
/// A ceiling's 95 % interval is drawn where its ends differ by this factor: less is thinner than the line.
inline constexpr double kVisibleInterval = 1.05;

/// A text cut in the middle until it fits into `width` pixels.
std::string fitted(std::string text, double width, double size, FontWeight weight = FontWeight::regular);

/// The day of an ISO time.
std::string date_of(const std::string& iso);

/// The whole layout. Never fails on the content of a report: points that can't be shown are counted in a footnote.
/// The chart points into the report, which has to outlive it.
Chart lay_out_chart(const Runs& runs, const ChartOptions& options);
Chart lay_out_chart(const Report&& report, const ChartOptions& options) = delete;

/// A roof's line from where it begins to where it ends.
struct RoofSpan {
  Vec a, b;
  bool visible = false;
};
RoofSpan roof_span(const Chart& chart, const Roofs& roofs, const Roof& roof, double value);

/// Entries in rows from `x` to `right`; y counts from the first row, and `height` is that of all.
std::vector<Group> set_legend(const Chart& chart, double x, double right, double& height);

/// The FLOP/s that its roof allows a point; NaN where it has none.
double roof_at(const PlottedPoint& p);

/// The roofs' groups, in the order of chart.roofs: their lines, and in time their names.
struct RoofGroups {
  std::vector<Group> slopes, patterns, flats;
};

// The steps of the layout; each adds layers to chart.scene, and obstacles to chart.space.
void draw_axes(Chart& chart);
/// The lines, and the labels of limiting roofs, which take precedence over labels of points.
RoofGroups draw_roofs(Chart& chart);
void name_limiting_roofs(Chart& chart, RoofGroups& groups);
/// The lines of the other machine, in their own colour; its names then, of the roofs that limit its points.
RoofGroups draw_other_roofs(Chart& chart);
void name_roofs_of_other(Chart& chart, RoofGroups& groups, bool limiting);
std::optional<OtherMachine> other_machine(const Chart& chart);
/// Name of the last run's machine next to another one: "H200", or "now" if both names are equal.
std::string name_beside(const Chart& chart, const OtherMachine& other);
/// Labels the other machine's roofs where room is left.
void name_other_roofs(Chart& chart, RoofGroups& groups);
/// The ridges' lines and values, and on which side of them memory or compute is the bound.
void draw_ridges(Chart& chart);
/// Ladders and sweeps, or the changes from the first run to the last; under the markers.
void draw_paths(Chart& chart);
/// Hardware counts of the points of the last run: hidden, for a page to show.
Layer counted_layer(const Chart& chart);
/// Width of the key of numbered points beside a plot of that height, in at most that many columns.
double key_size(const Chart& chart, double height, std::size_t most_columns);
/// `key_area` takes the names of numbered points; without one, what can't be named has no name. Returns
/// whether every point has a name or a number.
bool draw_points(Chart& chart, const Rect* key_area);

}  // namespace roofline
