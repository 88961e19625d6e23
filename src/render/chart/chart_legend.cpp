// The legend: families, runs, and the meaning of the lines in the chart.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "render/chart/chart.hpp"
#include "report/profile_findings.hpp"
#include "report/roof_share.hpp"
#include "report/roofs.hpp"
#include "report/work_source.hpp"
#include "text/format.hpp"
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

double text_size(const Chart& chart) { return chart.small ? 11 : 12; }
double row_height(const Chart& chart) { return chart.small ? 16 : 21; }

/// "2026-01-15", or with the time of day if several runs are of one day.
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

/// Several runs: each with its mark, and with its roofs' line if there are two machines.
void add_runs(const Chart& chart, std::vector<LegendEntry>& out) {
  for (std::size_t run = 0; chart.runs.size() > 1 && run < chart.runs.size(); ++run) {
    const bool last = run + 1 == chart.runs.size();
    const Color& color = chart.colors->muted;
    const Circle hollow{{6, 0}, kMarkerRadius - 1, chart.colors->background, Stroke{color, 1.6}};
    const Circle solid{{6, 0}, kMarkerRadius, color, {}};
    std::string name = last ? "now" : chart.runs.size() == 2 ? "before" : fmt::format("run {}", run + 1);
    if (chart.other && (last || run == 0)) name = last ? chart.name : chart.other->name;
    name += last && chart.projected ? ", projected" : when(chart, *chart.runs[run]);
    LegendEntry entry{std::move(name), "", {last ? solid : hollow}};
    if (chart.other && (last || run == 0)) {
      const Color& line = last ? chart.colors->roof_main : chart.colors->roof_other;
      entry.sample.push_back(Line{{{16, 0}, {34, 0}}, false, {}, Stroke{line, 2.2}});
      entry.sample_width = 34;
    }
    out.push_back(std::move(entry));
  }
}

double two_digits(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return std::round(value / power) * power;
}

/// 1, 2 or 5 times a power of ten, not more than `value`.
double round_below(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  const double digit = value / power;
  return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

double largest_radius(const Chart& chart) {
  double largest = kSmallestRadius;
  for (const PlottedPoint& p : chart.points) largest = std::max(largest, p.radius);
  return largest;
}

/// The smallest mark and a larger one, with the times that they stand for. Filled, because a hollow one is an earlier
/// run's.
void add_sizes(const Chart& chart, std::vector<LegendEntry>& out) {
  if (!(chart.seconds > 0) || chart.points.empty()) return;
  const double room = std::min(9.5, largest_radius(chart));  // pixels: what is in the picture, and fits into a row
  const double small = chart.seconds * kSmallestRadius * kSmallestRadius;
  const double large = round_below(chart.seconds * room * room), radius = std::sqrt(large / chart.seconds);
  constexpr double kVisibly = 1.25;
  if (radius < kVisibly * kSmallestRadius) return;
  const Color& color = chart.colors->faint;
  const double first = 2 * kSmallestRadius + 4;
  out.push_back(
      {fmt::format("time {}: ≤ {}, {}", chart.of_program ? "of all launches" : "of a launch",
                   duration(two_digits(small)), duration(large)),
       "",
       {Circle{{kSmallestRadius, 0}, kSmallestRadius, color, {}}, Circle{{first + radius, 0}, radius, color, {}}},
       first + 2 * radius});
}

/// Lines with a special look.
void add_lines(const Chart& chart, std::vector<LegendEntry>& out) {
  bool sustained = false, limits = false, band = false, suspect = false, provisional = false, data_sheet = false;
  for (const auto* roofs : {&chart.roofs.memory, &chart.roofs.compute}) {
    for (const Roof& roof : *roofs) {
      const Ceiling& c = *roof.ceiling;
      sustained |= c.regime == Regime::sustained;
      limits |= roof.shows_limit();
      band |= c.ci95.low > 0 && c.ci95.high / c.ci95.low >= kVisibleInterval;
      suspect |= c.suspect();
      provisional |= c.provisional();
      data_sheet |= c.is_data_sheet_limit();
    }
  }
  if (sustained) out.push_back({"sustained", "", {sample_line(chart.colors->roof, 1.5, {7, 5})}, 24});
  if (limits) out.push_back({"hardware limit", "", {sample_line(chart.colors->faint, 1.2, {1.2, 3})}, 24});
  if (band) out.push_back({"95 % interval", "", {sample_line(chart.colors->band, 8, {})}, 24});
  if (data_sheet) out.push_back({"data-sheet limit", "", {sample_line(chart.colors->roof, 1.5, {2, 4})}, 24});
  if (provisional) out.push_back({"provisional", "", {sample_line(chart.colors->faint, 1.5, {})}, 24});
  if (suspect) out.push_back({"failed its audit", "", {sample_line(chart.colors->suspect, 1.5, {9, 3, 2, 3})}, 24});
}

std::vector<LegendEntry> legend_of(const Chart& chart) {
  std::vector<LegendEntry> out;
  for (std::size_t i = 0; i < chart.families.size(); ++i)
    if (has_point(chart, i))
      out.push_back({shorten(chart.families[i], 32),
                     chart.families[i],
                     {marker(style_of(chart.families[i]), {6, 0}, kMarkerRadius, *chart.colors)}});
  add_runs(chart, out);
  add_sizes(chart, out);
  const auto above = [](const PlottedPoint& p) { return p.point->above_roof(); };
  if (std::any_of(chart.points.begin(), chart.points.end(), above))
    out.push_back({"above its roof (red line)",
                   "",
                   {Circle{{9, -2}, 5, chart.colors->muted, Stroke{chart.colors->above, 1.6}},
                    Line{{{0, 5}, {18, 5}}, false, {}, Stroke{chart.colors->above, 2}}},
                   18});
  const auto beside = [&](const PlottedPoint& p) { return share_basis(*p.point, *chart.report) == ShareBasis::probe; };
  if (std::any_of(chart.points.begin(), chart.points.end(), beside)) {
    out.push_back({"its roof's probe beside it", "", {sample_line(chart.colors->ink, 1.5, {3, 2})}, 24});
  }
  const auto least = [](const PlottedPoint& p) { return bytes_is_lower_bound(*p.point); };
  if (std::any_of(chart.points.begin(), chart.points.end(), least)) {
    LegendEntry entry{"modelled bytes: intensity at most", "", {}, 22};
    add_arrow({16, 0}, 5, chart.colors->muted, entry.sample);
    entry.sample.push_back(Circle{{16, 0}, 5, chart.colors->muted, {}});
    out.push_back(std::move(entry));
  }
  if (!chart.small) add_lines(chart, out);
  return out;
}
}  // namespace

std::vector<Group> set_legend(const Chart& chart, double x, double right, double& height) {
  std::vector<Group> out;
  Vec pen = {x, 0};
  for (const LegendEntry& e : legend_of(chart)) {
    const std::string label = fitted(e.text, right - x - 40, text_size(chart));
    const double width = e.sample_width + 7 + Font::of(FontWeight::regular).width(label, text_size(chart));
    if (pen.x > x && pen.x + width > right) pen = {x, pen.y + row_height(chart)};
    Group g{.classes = e.family.empty() ? "legend-entry" : "legend-entry legend-family"};
    if (!e.family.empty()) g.data = {{"family", e.family}};
    for (Item item : e.sample) {
      if (Line* line = std::get_if<Line>(&item))
        for (Vec& p : line->points) p = p + pen;
      if (Circle* circle = std::get_if<Circle>(&item)) circle->center = circle->center + pen;
      g.items.push_back(std::move(item));
    }
    g.items.push_back(
        Text{pen + Vec{e.sample_width + 7, 4}, label, text_size(chart), FontWeight::regular, chart.colors->ink});
    out.push_back(std::move(g));
    pen.x += width + 22;
  }
  height = pen.y + row_height(chart);
  return out;
}

}  // namespace roofline
