// The rows of a report that have a point on the chart, their labels, and the look of families.
#pragma once

#include <string>
#include <vector>

#include "render/chart/axes.hpp"
#include "render/chart/geometry.hpp"
#include "render/chart/palette.hpp"
#include "render/chart/scene.hpp"
#include "report/roof_share.hpp"
#include "report/roofs.hpp"
#include "report/runs.hpp"

namespace roofline {

/// Radius of a point's marker in pixels, where all are alike.
inline constexpr double kMarkerRadius = 6;
/// Shapes of smaller marks are indistinguishable.
inline constexpr double kSmallestRadius = 4.5;

/// A row that a chart can show.
struct PlottedPoint {
  std::size_t index = 0;  ///< index into Report::points
  const Point* point = nullptr;
  double intensity = 0;    ///< FLOP/byte, by the chart's choice of bytes
  double performance = 0;  ///< FLOP/s
  Interval performance_ci95;
  std::size_t family = 0;  ///< index into families_of()
  std::size_t style = 0;   ///< its marker's, style_of its family
  std::string name;        ///< shortest unambiguous name: "gemm fp16 · cublas"
  double radius = kMarkerRadius;
  bool at_edge = false;  ///< without FLOPs: at the left edge, at the height of its bandwidth under a memory roof
};

/// Meaning of a row's colour and shape: its op's family, or its bound in a profile, where each name is unique.
std::string family_of(const Point& point);

/// The families of all rows, in the order of their first appearance; those of the last run first. A profile's have an
/// order of their own, so that a colour means the same in each.
std::vector<std::string> families_of(const Runs& runs);

/// The colour and shape of a family's markers, which are the same in every chart: a function of its name.
std::size_t style_of(const std::string& family);

/// They point into the report, which has to outlive them.
std::vector<PlottedPoint> plotted_points(const Report& report, const std::vector<std::string>& families,
                                         Intensity of = Intensity::memory);
std::vector<PlottedPoint> plotted_points(const Report& report);
std::vector<PlottedPoint> plotted_points(const Report&& report) = delete;

/// Rows without FLOPs, by their bandwidth at the left edge of an axis of this range.
void add_edge_points(std::vector<PlottedPoint>& points, const Report& report, const std::vector<std::string>& families,
                     const Range& intensities);

/// One line with the figures of a point, for hover and screen readers.
std::string point_title(const PlottedPoint& point);
/// Warnings about the point and the sources of its figures; the tables of a page have them too.
std::vector<std::string> point_notes(const PlottedPoint& point, ShareBasis basis = ShareBasis::roof);

/// Makes each marker's area proportional to its share of the time, within the range of sizes; `largest` is the radius
/// of the longest-running one. Overlaid runs share a scale. Returns the seconds represented by a mark of radius 1; 0 if
/// no time is known and marks keep their size.
double size_by_time(const std::vector<std::vector<PlottedPoint>*>& runs, double largest);

/// An arrow from a mark to the left: its intensity is an upper bound.
void add_arrow(Vec center, double radius, const Color& color, std::vector<Item>& items);

/// A marker of a style, about `radius` pixels in radius: solid with an outline in the background's colour, or hollow.
enum class MarkerFill : std::uint8_t { solid, hollow };
Item marker(std::size_t style, Vec center, double radius, const Palette& colors, MarkerFill how = MarkerFill::solid);

}  // namespace roofline
