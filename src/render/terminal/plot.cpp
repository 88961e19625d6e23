// The roofline chart in characters: roofs as lines, kernels as letters, and a key below.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "render/chart/axes.hpp"
#include "render/chart/axis_ranges.hpp"
#include "render/chart/points.hpp"
#include "render/render.hpp"
#include "render/terminal/bound.hpp"
#include "render/terminal/character_grid.hpp"
#include "report/findings.hpp"
#include "report/roofs.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr int kRows = 20;
constexpr int kMargin = 7;  // columns left of the plot: the labels of its ticks, and the axis
constexpr int kWidest = 160;
constexpr std::size_t kNamesALetter = 4;  // in the key; a crowd of points in one cell must not fill the screen
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Points that fall into one cell share a letter.
struct Place {
  int column = 0, row = 0;
  std::vector<const PlottedPoint*> points;
  std::string mark;

  double time_s() const {
    double sum = 0;
    for (const PlottedPoint* point : points) sum += point->point->time->median;
    return sum;
  }
};

/// Everything that is drawn, in the pixels of the grid.
struct Plot {
  TerminalStyle style;
  CharacterGrid grid;
  LogAxis x, y;

  Plot(const TerminalStyle& terminal, int columns, const AxisRanges& ranges)
      : style(terminal),
        grid(columns, kRows),
        x(ranges.intensity, 0, columns * CharacterGrid::kCellWidth - 1),
        y(ranges.performance, kRows * CharacterGrid::kCellHeight - 1, 0) {}

  int column(double intensity) const { return static_cast<int>(x.pixel(intensity)) / CharacterGrid::kCellWidth; }
  int row(double performance) const { return static_cast<int>(y.pixel(performance)) / CharacterGrid::kCellHeight; }
};

std::vector<Place> places_of(const std::vector<PlottedPoint>& points, const Plot& plot) {
  std::map<std::pair<int, int>, Place> cells;
  for (const PlottedPoint& point : points) {
    const int column = plot.column(point.intensity);
    const int row = plot.row(point.performance);
    Place& place = cells[{column, row}];
    place.column = column;
    place.row = row;
    place.points.push_back(&point);
  }
  std::vector<Place> places;
  places.reserve(cells.size());
  for (auto& [cell, place] : cells) places.push_back(std::move(place));
  return places;
}

/// Letters from left to right; with more places than letters, only the longest-running have one.
void letter(std::vector<Place>& places, const TerminalStyle& style) {
  std::vector<double> times;
  times.reserve(places.size());
  for (const Place& place : places) times.push_back(place.time_s());
  std::sort(times.rbegin(), times.rend());
  const double least = times.size() > kLetters.size() ? times[kLetters.size() - 1] : 0;
  std::size_t next = 0;
  for (Place& place : places) {
    const bool named = next < kLetters.size() && place.time_s() >= least;
    place.mark = named ? std::string(1, kLetters[next++]) : style.unicode ? "\u2022" : "*";
  }
}

bool is_named(const Place& place) { return kLetters.find(place.mark) != std::string_view::npos; }

/// What the chart draws: the roofs that kernels use, or all of them when there is none; the main one last, over the
/// others. A sustained roof is drawn where it can be told from the burst one.
std::vector<const Roof*> shown(const std::vector<Roof>& roofs, const Plot& plot) {
  const bool any = std::any_of(roofs.begin(), roofs.end(), [](const Roof& roof) { return roof.used || roof.main; });
  const auto hidden = [&](const Roof& roof) {
    const Ceiling& ceiling = *roof.ceiling;
    return ceiling.regime == Regime::sustained && std::any_of(roofs.begin(), roofs.end(), [&](const Roof& other) {
             return &other != &roof && other.ceiling->name == ceiling.name &&
                    plot.row(other.ceiling->value) == plot.row(ceiling.value);
           });
  };
  std::vector<const Roof*> result;
  for (const bool main : {false, true}) {
    for (const Roof& roof : roofs) {
      if (roof.main == main && (!any || roof.used || roof.main) && !hidden(roof)) result.push_back(&roof);
    }
  }
  return result;
}

double highest(const std::vector<const Roof*>& roofs, double fallback) {
  double value = 0;
  for (const Roof* roof : roofs) value = std::max(value, roof->ceiling->value);
  return value > 0 ? value : fallback;
}

Ink roof_ink(const Roof& roof) {
  if (roof.ceiling->suspect()) return Ink::warn;
  return roof.main ? Ink::bold : Ink::dim;
}

/// A pattern beside its level's own slope is drawn where points hang on it.
void draw_slope(Plot& plot, const Roof& roof, double most) {
  const int width = plot.grid.columns() * CharacterGrid::kCellWidth;
  for (int pixel = 0; pixel < width; ++pixel) {
    const double intensity = plot.x.value(pixel), performance = roof.ceiling->value * intensity;
    const bool within = roof.to == 0 || (intensity >= roof.from / 1.5 && intensity <= roof.to * 1.5);
    if (within && performance <= most) plot.grid.dot(pixel, plot.y.pixel(performance), roof_ink(roof), '/');
  }
}

void draw_ceiling(Plot& plot, const Roof& roof, double steepest) {
  const int width = plot.grid.columns() * CharacterGrid::kCellWidth;
  for (int pixel = 0; pixel < width; ++pixel) {
    const bool under_memory = roof.ceiling->value <= steepest * plot.x.value(pixel);
    if (under_memory) plot.grid.dot(pixel, plot.y.pixel(roof.ceiling->value), roof_ink(roof), '-');
  }
}

struct Candidate {
  int column = 0, row = 0;
  bool on_line = false;  ///< lines may run there
};

/// Writes a roof's name at the first place that is free.
bool write_name(Plot& plot, const Roof& roof, const std::vector<Candidate>& candidates) {
  const std::string text = for_terminal(" " + clean_line(roof.label()) + " ", plot.style);
  for (const Candidate& place : candidates) {
    if (!plot.grid.is_free(place.column, place.row, display_width(text), !place.on_line)) continue;
    plot.grid.write(place.column, place.row, text, roof_ink(roof));
    return true;
  }
  return false;
}

/// Above its line at the right, else below, else on the line, else a little to the left; not over its corner.
bool name_ceiling(Plot& plot, const Roof& roof, int corner) {
  const int width = display_width(roof.label()) + 2;
  const int row = plot.row(roof.ceiling->value);
  const int right = plot.grid.columns() - width;
  std::vector<Candidate> candidates;
  for (const int shift : {0, 3, 6, 9, 12, 15}) {
    for (const int line : {row - 1, row + 1}) candidates.push_back({right - shift, line, false});
    if (right - shift > corner) candidates.push_back({right - shift, row, true});
  }
  return write_name(plot, roof, candidates);
}

/// Left of its line, where it is empty: above a roof there are no points.
bool name_slope(Plot& plot, const Roof& roof) {
  const int width = display_width(roof.label()) + 2;
  std::vector<Candidate> candidates;
  for (const bool on_line : {false, true}) {
    for (int row = plot.grid.rows() - 2; row > 0; --row) {
      const double intensity = plot.y.value((row + 1) * CharacterGrid::kCellHeight) / roof.ceiling->value;
      if (plot.x.contains(intensity)) candidates.push_back({plot.column(intensity) - width - 1, row, on_line});
    }
  }
  return write_name(plot, roof, candidates);
}

/// Returns the names that found no place.
std::vector<std::string> draw_roofs(Plot& plot, const Roofs& roofs) {
  const std::vector<const Roof*> memory = shown(roofs.memory, plot);
  std::vector<const Roof*> compute = shown(roofs.compute, plot);
  const double most = highest(compute, plot.y.range().high);
  const double steepest = highest(memory, most / plot.x.range().low);
  for (const Roof& roof : roofs.patterns) draw_slope(plot, roof, most);
  for (const Roof* roof : memory) draw_slope(plot, *roof, most);
  for (const Roof* roof : compute) draw_ceiling(plot, *roof, steepest);
  std::vector<std::string> unnamed;
  const auto name = [&](const Roof& roof, bool named) {
    if (!named) unnamed.push_back(for_terminal(clean_line(roof.label()), plot.style));
  };
  std::stable_partition(compute.begin(), compute.end(), [](const Roof* roof) { return !roof->limits; });
  for (auto roof = compute.rbegin(); roof != compute.rend(); ++roof) {  // the main roof first, then limiting roofs
    name(**roof, name_ceiling(plot, **roof, plot.column((*roof)->ceiling->value / steepest)));
  }
  for (auto roof = memory.rbegin(); roof != memory.rend(); ++roof) name(**roof, name_slope(plot, **roof));
  for (const Roof& roof : roofs.patterns) name(roof, false);  // so near to its level's that a name could be of either
  return unnamed;
}

/// One line of the key: "A gemm fp16 · cublas      86.2 %".
std::string key_entry(const Place& place, const PlottedPoint& plotted, int width, const TerminalStyle& style) {
  const Point& point = *plotted.point;
  const std::string share = for_terminal(percent(point.fraction_of_roof()), style);
  const int room = width - 3 - display_width(share);
  const std::string name = for_terminal(shorten(clean_line(plotted.name), room), style);
  const std::string space(static_cast<std::size_t>(std::max(1, room + 1 - display_width(name))), ' ');
  const Ink ink = point.above_roof() ? Ink::bad : bound_ink(point.bound.label);
  return inked(place.mark, ink, style) + " " + name + space + inked(share, ink, style);
}

/// The letters, in as many columns as fit.
std::string key(const std::vector<Place>& places, std::size_t plotted, const TerminalStyle& style) {
  constexpr int kEntry = 38;
  constexpr std::string_view kGap = "  ";
  const int columns = std::max(1, (style.columns + 2) / (kEntry + 2));
  const int width = std::min(style.columns, (style.columns + 2) / columns - 2);
  std::vector<std::string> entries;
  for (const Place& place : places) {
    if (!is_named(place)) continue;
    for (std::size_t i = 0; i < std::min(place.points.size(), kNamesALetter); ++i) {
      entries.push_back(key_entry(place, *place.points[i], width, style));
    }
  }
  std::string text;
  const std::size_t across = static_cast<std::size_t>(columns);
  const std::size_t rows = (entries.size() + across - 1) / across;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = row; i < entries.size(); i += rows) text += std::string(i == row ? "" : kGap) + entries[i];
    text += '\n';
  }
  if (plotted > entries.size() && !entries.empty())
    text += fmt::format("and {} more, in the table\n", plotted - entries.size());
  return text;
}

/// The meaning of the colours, and the number of rows without a point.
std::string footer(const Runs& runs, const std::vector<PlottedPoint>& points, const std::vector<std::string>& unnamed,
                   const TerminalStyle& style) {
  std::string text;
  if (style.color) {
    for (const BoundLabel label : {BoundLabel::memory, BoundLabel::compute, BoundLabel::latency,
                                   BoundLabel::communication, BoundLabel::balanced}) {
      const bool any = std::any_of(points.begin(), points.end(),
                                   [&](const PlottedPoint& p) { return p.point->bound.label == label; });
      if (any) text += (text.empty() ? "" : ", ") + inked(to_string(label), bound_ink(label), style);
    }
    if (!text.empty()) text = "bound: " + text + '\n';
  }
  std::string names;
  for (const std::string& name : unnamed) names += (names.empty() ? "" : ", ") + name;
  if (!unnamed.empty()) text += wrapped("more roofs: ", names, style);
  if (runs.several()) text += fmt::format("{} an earlier run\n", style.unicode ? "\u25cb" : "o");
  if (std::any_of(points.begin(), points.end(), [](const PlottedPoint& p) { return p.at_edge; }))
    text += "at the left edge: no FLOPs; their height under a memory roof is their bandwidth\n";
  const std::size_t missing = runs.last().points.size() - points.size();
  if (missing > 0) text += fmt::format("{} without a point: see the table\n", missing);
  if (const std::string sentence = unfinished(runs.last()); !sentence.empty()) text += wrapped("", sentence, style);
  return text;
}

/// The plot with its axes: a line a row.
std::string framed(const Plot& plot, const std::string& unit_of_rows) {
  const bool unicode = plot.style.unicode;
  std::vector<std::string> labels(kRows);
  for (const Tick& tick : plot.y.ticks(true)) {
    if (!tick.label.empty()) labels[static_cast<std::size_t>(plot.row(tick.value))] = tick.label;
  }
  std::string text = unit_of_rows + '\n';
  for (int row = 0; row < kRows; ++row) {
    const std::string& label = labels[static_cast<std::size_t>(row)];
    const std::string axis = label.empty() ? (unicode ? "\u2502" : "|") : (unicode ? "\u2524" : "+");
    std::string line = fmt::format("{:>{}} {}{}", label, kMargin - 2, axis, plot.grid.row(row, plot.style));
    text += line + '\n';
  }
  CharacterGrid axis(plot.grid.columns() + kMargin, 2);
  for (int column = 0; column < plot.grid.columns(); ++column) {
    axis.write(kMargin + column, 0, unicode ? "\u2500" : "-", Ink::plain);
  }
  axis.write(kMargin - 1, 0, unicode ? "\u2514" : "+", Ink::plain);
  const std::string unit = "FLOP/byte";
  axis.write(kMargin + plot.grid.columns() - display_width(unit), 1, unit, Ink::plain);
  for (const Tick& tick : plot.x.ticks(false)) {
    if (tick.label.empty()) continue;
    const int column = kMargin + plot.column(tick.value);
    const int width = display_width(tick.label);
    axis.write(column, 0, unicode ? "\u252c" : "+", Ink::plain);
    if (axis.is_free(column - width / 2 - 1, 1, width + 2, false))
      axis.write(column - width / 2, 1, tick.label, Ink::plain);
  }
  return text + axis.row(0, plot.style) + '\n' + axis.row(1, plot.style) + '\n';
}

}  // namespace

std::string render_terminal_plot(const Runs& runs, const TerminalStyle& style) {
  const Report& report = runs.last();
  const Roofs roofs = roofs_of(report);
  std::vector<PlottedPoint> points = plotted_points(report);
  const std::string title =
      inked(for_terminal(shorten(clean_line(report.machine.device.name), style.columns), style), Ink::bold, style);
  if (points.empty() && roofs.memory.empty() && roofs.compute.empty())
    return title + "\nno roof and no point to draw\n";
  std::vector<PlottedPoint> all;
  for (const Report& run : runs) {
    const std::vector<PlottedPoint> more = plotted_points(run);
    all.insert(all.end(), more.begin(), more.end());
  }
  const Range edge = axis_ranges(roofs, all).intensity;
  add_edge_points(points, report, families_of(report), edge);
  for (const Report& run : runs) add_edge_points(all, run, families_of(run), edge);
  Plot plot(style, std::clamp(style.columns, 40, kWidest) - kMargin, axis_ranges(roofs, all));
  std::vector<Place> places = places_of(points, plot);
  letter(places, style);
  for (const PlottedPoint& point : all) {  // points of the last run are drawn over these
    plot.grid.write(plot.column(point.intensity), plot.row(point.performance), style.unicode ? "\u25cb" : "o",
                    Ink::dim);
  }
  for (const Place& place : places) {
    plot.grid.write(place.column, place.row, place.mark, bound_ink(place.points.front()->point->bound.label));
  }
  const std::vector<std::string> unnamed = draw_roofs(plot, roofs);
  return title + '\n' + framed(plot, operation_unit(report.points)) + key(places, points.size(), style) +
         footer(runs, points, unnamed, style);
}

}  // namespace roofline
