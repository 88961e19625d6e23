// The page around the plot (title, legend, footnotes), and the order in which a chart is laid out.
#include "render/chart/chart.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "render/chart/axis_ranges.hpp"
#include "report/comparison/comparison.hpp"
#include "report/findings.hpp"
#include "report/profile_findings.hpp"
#include "report/roofs.hpp"
#include "report/titles.hpp"
#include "report/work_source.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr double kSmall = 11;
constexpr double kTitle = 20, kSmallTitle = 15, kSubtitle = 12.5;
constexpr double kNoteRow = 16;
constexpr double kSmallestPlot = 100;  // below that the page is left
constexpr double kSmallHeight = 420;   // below this height a picture is small

/// Title and subtitle; of a plot alone the title of its vertical axis.
double header_height(const Chart& chart) { return chart.plot_only ? 20 : chart.small ? 54 : 76; }
/// Ticks and the title of the axis.
double axis_height(const Chart& chart) { return chart.plot_only ? 40 : chart.small ? 50 : 58; }

std::string joined(const std::vector<std::string>& parts, std::string_view with) {
  return fmt::format("{}", fmt::join(parts, with));
}

/// As much as fits into `width`: the day goes first, then the count, then each pipe's ridge for the range of them, and
/// then the highest pipe, which has its name in the plot.
std::string subtitle_of(const Chart& chart, double width) {
  const Roof *memory = chart.roofs.main_memory(), *compute = chart.roofs.main_compute();
  const std::string slope = memory ? memory->label() : "", top = compute ? compute->label() : "";
  const std::string ridges = ridge_label(chart.roofs), range = ridge_range(chart.roofs);
  const std::size_t n = chart.points.size();
  const std::string kernels = n == 0 && chart.of_program ? "" : n == 1 ? "1 kernel" : fmt::format("{} kernels", n);
  const std::string day = date_of(chart.report->invocation.started_at);
  const std::vector<std::string> choices[] = {{slope, top, ridges, kernels, day},
                                              {slope, top, ridges, kernels},
                                              {slope, top, ridges},
                                              {slope, top, range, kernels},
                                              {slope, top, range},
                                              {slope, range},
                                              {slope}};
  std::string text;
  for (std::vector<std::string> parts : choices) {
    std::erase(parts, "");
    text = joined(parts, " · ");
    if (Font::of(FontWeight::regular).width(text, kSubtitle) <= width) break;
  }
  return text;
}

std::vector<std::string> footnotes_of(const Chart& chart) {
  std::vector<std::string> notes;
  for (const Roof& roof : chart.roofs.memory) {
    if (roof.others.empty()) continue;
    std::vector<std::string> parts;
    for (const Ceiling* c : roof.others)
      parts.push_back(fmt::format("{} {}", c->pattern && c->level != Level::network ? to_string(*c->pattern) : c->name,
                                  rate(c->value, c->kind)));
    notes.push_back(fmt::format("{}: also {}.", roof.level_name(), joined(parts, ", ")));
  }
  const std::size_t rows = chart.report->points.size(), without = rows - chart.points.size();
  if (rows == 0) notes.emplace_back("The report has no rows.");
  if (chart.projected) {
    if (without > 0)
      notes.push_back(fmt::format("{} of {} rows are not projected, or have no FLOPs: see the table.", without, rows));
  } else if (chart.of_program) {
    if (without > 0) notes.push_back(off_chart(*chart.report));
  } else if (without > 0) {
    notes.push_back(fmt::format("{} of {} rows {} no point (skipped, failed, or without FLOPs{}): see the table.",
                                without, rows, without == 1 ? "has" : "have",
                                chart.of == Intensity::network ? " or network bytes" : ""));
  }
  if (std::any_of(chart.points.begin(), chart.points.end(), [](const PlottedPoint& p) { return p.at_edge; }))
    notes.emplace_back(
        "At the left edge, with an arrow: no FLOPs; their height under a memory roof is their bandwidth.");
  if (chart.roofs.memory.empty() && chart.roofs.compute.empty()) notes.emplace_back("No ceiling was measured.");
  if (std::string sentence = unfinished(*chart.report); !sentence.empty()) notes.push_back(std::move(sentence));
  if (chart.report->cancelled) notes.emplace_back("The run was cancelled.");
  const std::size_t nameless = chart.points.size() - chart.named - chart.numbered;
  if (nameless > 0 && chart.of_program) {
    notes.push_back(fmt::format("Labelled: the {} longest-running.", chart.name_labels));
  } else if (nameless > 0) {
    notes.push_back(fmt::format("{} {} not labelled (no space): see the table.", nameless,
                                nameless == 1 ? "point is" : "points are"));
  }
  return notes;
}

std::string origin_of(const Chart& chart) {
  const Report& report = *chart.report;
  const Machine& m = report.machine;
  std::string text = "roofline";
  const std::string version = clean_line(report.invocation.tool_version);
  if (!version.empty()) text += " " + shorten(version, 20);
  if (chart.other) {
    for (const Report* run : {chart.other->report, chart.report}) {
      if (!not_measured(run->machine).empty())
        text += " · roofs of " + short_device_name(run->machine.device.name) + " not measured: data sheet";
    }
    return text;
  }
  const bool data_sheet = !not_measured(m).empty();
  if (data_sheet) text += " · roofs not measured: " + clean_line(m.ceilings.front().origin);
  if (!m.ceilings.empty() && !data_sheet) text += " · roofs measured on this machine";
  if (!m.ceilings.empty() && !data_sheet && !m.measured_at.empty()) text += " " + date_of(m.measured_at);
  return text;
}

void shift_down(Group& group, double by) {
  for (Item& item : group.items) {
    if (Line* line = std::get_if<Line>(&item))
      for (Vec& p : line->points) p.y += by;
    if (Circle* circle = std::get_if<Circle>(&item)) circle->center.y += by;
    if (Text* text = std::get_if<Text>(&item)) text->at.y += by;
  }
}

/// "NVIDIA H100 80GB HBM3 → NVIDIA H200".
std::string title_of_machines(const Chart& chart) {
  const std::string now = clean_line(chart.report->machine.device.name);
  const std::string before = clean_line(chart.runs.front()->machine.device.name);
  return before == now || before.empty() ? now : before + " → " + now;
}

/// What changed from one run to the other; of several runs the subtitle is the last one's.
std::string subtitle_of_runs(const Chart& chart) {
  if (chart.runs.size() != 2) return {};
  return comparison_headline(comparison_of(*chart.runs.front(), *chart.report));
}

void draw_header(Chart& chart, double left, double right) {
  const Color ink = chart.colors->ink, muted = chart.colors->muted;
  const bool fits = !chart.small && Font::of(FontWeight::semibold).width(chart.scene.title, kTitle) <= right - left;
  const double up = chart.small ? 12 : 0;
  const double size = fits ? kTitle : kSmallTitle;
  const std::string title = fitted(chart.scene.title, right - left, size, FontWeight::semibold);
  const std::string subtitle = fitted(chart.subtitle, right - left, kSubtitle);
  Group g{.classes = "header"};
  g.items.push_back(Text{{left, 34 - up}, title, size, FontWeight::semibold, ink, Anchor::start, 0, {}, "title"});
  g.items.push_back(
      Text{{left, 56 - up * 1.3}, subtitle, kSubtitle, FontWeight::regular, muted, Anchor::start, 0, {}, "subtitle"});
  chart.scene.layers.push_back({"header", {g}});
}

/// Notes from the left, the origin at the right of the last line, or below where both don't fit. Returns
/// the height; y counts from the first line.
double set_footer(const Chart& chart, double left, double right, Group& group) {
  const Font& font = Font::of(FontWeight::regular);
  const std::string origin = fitted(origin_of(chart), right - left, kSmall);
  Vec pen = {left, 0};
  for (const std::string& note : footnotes_of(chart)) {
    const std::string text = fitted(note, right - left, kSmall);
    const double width = font.width(text, kSmall);
    if (pen.x > left && pen.x + width > right) pen = {left, pen.y + kNoteRow};
    group.items.push_back(Text{pen, text, kSmall, FontWeight::regular, chart.colors->muted});
    pen.x += width + 12;
  }
  if (pen.x > left && pen.x + font.width(origin, kSmall) > right) pen.y += kNoteRow;
  group.items.push_back(Text{{right, pen.y}, origin, kSmall, FontWeight::regular, chart.colors->muted, Anchor::end});
  return pen.y + kNoteRow;
}

/// The footer of a picture without notes: rows and colours that are not shown.
void set_short_footer(const Chart& chart, double left, double right, bool legend, Group& group) {
  const std::size_t named = chart.named + chart.numbered, more = chart.report->points.size() - named;
  std::string text = more == 0    ? ""
                     : named == 0 ? fmt::format("{} in the table", more)
                                  : fmt::format("{} more in the table", more);
  if (!legend) text += std::string(text.empty() ? "" : " · ") + "colours: see the table";
  group.items.push_back(Text{
      {right, 0}, fitted(text, right - left, kSmall), kSmall, FontWeight::regular, chart.colors->muted, Anchor::end});
}

void draw_footer(Chart& chart, double left, double right, double y, bool whole, bool legend) {
  Group group{.classes = "footer"};
  if (whole) set_footer(chart, left, right, group);
  if (!whole) set_short_footer(chart, left, right, legend, group);
  shift_down(group, y);
  chart.scene.layers.push_back({"footer", {group}});
}

/// The notice in an empty chart of a program.
void draw_notice(Chart& chart) {
  const Vec middle = {chart.plot.x + chart.plot.width / 2, chart.plot.y + chart.plot.height * 0.55};
  const bool unknown = std::ranges::all_of(chart.report->points, [](const Point& p) { return work_source(p).empty(); });
  const char* const notice = unknown ? "No marks: FLOPs and bytes of the kernels are unknown"
                                     : "No marks: no kernel's intensity is within the axes";
  Group group{.classes = "notice"};
  group.items.push_back(
      Text{middle, notice, 15, FontWeight::semibold, chart.colors->muted, Anchor::middle, 0, chart.colors->background});
  chart.scene.layers.push_back({"notice", {std::move(group)}});
}

/// Unused roofs are drawn first, the main roofline last.
Layer roofs_layer(std::string name, RoofGroups roofs) {
  Layer layer{std::move(name)};
  for (auto* groups : {&roofs.slopes, &roofs.patterns, &roofs.flats})
    for (Group& g : *groups) layer.groups.push_back(std::move(g));
  const auto rank = [](const Group& g) {
    return g.classes.find(" main") != std::string::npos ? 2 : g.classes.find(" idle") == std::string::npos ? 1 : 0;
  };
  std::stable_sort(layer.groups.begin(), layer.groups.end(),
                   [&](const Group& a, const Group& b) { return rank(a) < rank(b); });
  return layer;
}

/// The radius of the largest mark: a share of the picture, and small enough that none reaches far over its roof, nor
/// covers the arrow from where it was.
double largest_mark(const Chart& chart) {
  if (chart.runs.size() > 1) return kMarkerRadius + 1;
  return std::clamp(chart.scene.height / 70, kMarkerRadius + 1, 11.0);
}

AxisRanges joined(const AxisRanges& a, const AxisRanges& b) {
  const auto both = [](const Range& one, const Range& other) {
    return Range{std::min(one.low, other.low), std::max(one.high, other.high)};
  };
  return {both(a.intensity, b.intensity), both(a.performance, b.performance)};
}

/// The points of all runs.
std::vector<PlottedPoint> all_points(const Chart& chart) {
  std::vector<PlottedPoint> all = chart.points;
  for (const auto& run : chart.earlier) all.insert(all.end(), run.begin(), run.end());
  return all;
}

/// Everything inside the plot's frame, and the key right of it.
bool draw_plot(Chart& chart, const Rect* key_area) {
  const std::vector<PlottedPoint> all = all_points(chart);
  AxisRanges ranges = axis_ranges(chart.roofs, all);
  if (chart.other) ranges = joined(ranges, axis_ranges(chart.other->roofs, {}));
  chart.x = LogAxis(ranges.intensity, chart.plot.x, chart.plot.right());
  chart.y = LogAxis(ranges.performance, chart.plot.bottom(), chart.plot.y);
  chart.scene.clip = chart.plot;
  chart.space.bounds = chart.plot.inflated(-3);
  for (const PlottedPoint& p : all) {
    const Vec at = chart.at(p);
    chart.space.markers.push_back(Rect{at.x, at.y, 0, 0}.inflated(p.radius + 1));
  }
  draw_axes(chart);
  RoofGroups roofs = draw_roofs(chart), others;
  if (chart.other) others = draw_other_roofs(chart);
  name_limiting_roofs(chart, roofs);
  if (chart.other) name_roofs_of_other(chart, others, true);
  if (Layer counted = counted_layer(chart); !counted.groups.empty()) chart.scene.layers.push_back(std::move(counted));
  const std::size_t under_points = chart.scene.layers.size();
  draw_ridges(chart);
  draw_paths(chart);
  if (chart.of_program && chart.points.empty()) draw_notice(chart);
  const bool all_named = draw_points(chart, key_area);
  if (chart.other) name_roofs_of_other(chart, others, false);
  name_other_roofs(chart, roofs);
  const auto under = chart.scene.layers.begin() + static_cast<std::ptrdiff_t>(under_points);
  const auto at = chart.scene.layers.insert(under, roofs_layer("ceilings", std::move(roofs)));
  if (chart.other) chart.scene.layers.insert(at, roofs_layer("other-roofs", std::move(others)));
  return all_named;
}

void describe(Chart& chart) {
  const auto full = [](double v) { return fmt::format("{}", v); };
  const auto pixel = [](double v) { return fmt::format("{:.2f}", v); };
  chart.scene.description = chart.subtitle + ". " + joined(footnotes_of(chart), " ");
  chart.scene.data = {{"plot-x", pixel(chart.plot.x)},         {"plot-y", pixel(chart.plot.y)},
                      {"plot-width", pixel(chart.plot.width)}, {"plot-height", pixel(chart.plot.height)},
                      {"x-low", full(chart.x.range().low)},    {"x-high", full(chart.x.range().high)},
                      {"y-low", full(chart.y.range().low)},    {"y-high", full(chart.y.range().high)}};
  if (chart.plot_only) chart.scene.data.emplace_back("narrow", "");
}

/// Layout below the plot. In a small picture the plot has priority: notes are omitted first, then the legend. A line
/// that states what is missing is always kept.
struct BelowPlot {
  bool legend = true, footer = true;
  double height = 0;
};
BelowPlot below_plot(const Chart& chart, double legend_height, double footer_height) {
  if (chart.plot_only) return {false, false, 0};
  const double page = chart.scene.height, least = chart.small ? 0.45 : 0.35;  // share of the page, for the plot
  const auto fits = [&](double height) {
    return page - header_height(chart) - axis_height(chart) - height >= least * page;
  };
  const double all = legend_height + footer_height;
  if (fits(all)) return {true, true, all};
  if (fits(legend_height + kNoteRow)) return {true, false, legend_height + kNoteRow};
  return {false, false, kNoteRow};
}

/// Beyond the size of a large screen a picture has larger letters, and no more room.
double zoom_of(const ChartOptions& options) {
  constexpr double kLargeWidth = 1920, kLargeHeight = 1200;
  return std::max(1.0, std::min(options.width / kLargeWidth, options.height / kLargeHeight));
}

Chart lay_out(const Runs& runs, const ChartOptions& options, bool with_key) {
  Chart chart;
  const Report& report = runs.last();
  chart.report = &report;
  chart.of_program = report.profile.has_value();
  for (const Report& run : runs) chart.runs.push_back(&run);
  chart.colors = &palette(options.theme);
  chart.families = families_of(runs);
  chart.of = options.of;
  chart.points = plotted_points(report, chart.families, options.of);
  for (std::size_t run = 0; run + 1 < runs.size(); ++run)
    chart.earlier.push_back(plotted_points(runs[run], chart.families, options.of));
  chart.roofs = roofs_of(report, options.of);
  if (options.of == Intensity::memory) {
    const Range edge = axis_ranges(chart.roofs, all_points(chart)).intensity;
    add_edge_points(chart.points, report, chart.families, edge);
    for (std::size_t run = 0; run + 1 < runs.size(); ++run)
      add_edge_points(chart.earlier[run], runs[run], chart.families, edge);
  }
  chart.projected = options.projected;
  chart.other = other_machine(chart);
  if (chart.other) chart.name = name_beside(chart, *chart.other);
  chart.scene.zoom = zoom_of(options);
  chart.scene.width = options.width / chart.scene.zoom;
  chart.scene.height = options.height / chart.scene.zoom;
  chart.scene.background = chart.colors->background;
  chart.plot_only = options.plot_only;
  chart.small = chart.plot_only || chart.scene.height < kSmallHeight;
  if (options.marks == MarkSize::time) {
    std::vector<std::vector<PlottedPoint>*> all = {&chart.points};
    for (auto& run : chart.earlier) all.push_back(&run);
    chart.seconds = size_by_time(all, largest_mark(chart));
  }
  const double left = chart.plot_only ? 44 : chart.small ? 72 : 82;
  const double right = chart.scene.width - (chart.plot_only ? 8 : 24);
  const std::string device = title_of_machines(chart);
  const std::string program = chart.of_program ? shorten(program_name(*report.profile), 60) + " — " : "";
  chart.scene.title = program + (device.empty() ? "Unknown device" : device) +
                      (chart.of_program                   ? ""
                       : options.of == Intensity::network ? " — communication roofline"
                                                          : " — roofline");
  if (!options.title.empty()) chart.scene.title = clean_line(options.title);
  chart.subtitle = options.subtitle.empty() ? subtitle_of_runs(chart) : clean_line(options.subtitle);
  if (chart.subtitle.empty()) chart.subtitle = subtitle_of(chart, right - left);

  double legend_height = 0;
  std::vector<Group> legend = set_legend(chart, left, right, legend_height);
  // Measured before any point has a name, with the note that names are missing: a line too many at most.
  Group measured;
  const double footer_height = set_footer(chart, left, right, measured) + 12;
  const BelowPlot around = below_plot(chart, legend_height, footer_height);
  const double top = header_height(chart), plot_height = chart.scene.height - top - axis_height(chart) - around.height;
  const double key_width = with_key ? key_size(chart, plot_height, chart.scene.width >= 1000 ? 2 : 1) : 0;
  chart.plot = {left, top, std::max(right - left - key_width, kSmallestPlot), std::max(plot_height, kSmallestPlot)};
  const Rect key_area = {right - key_width + 12, chart.plot.y, key_width - 12, chart.plot.height};
  draw_plot(chart, with_key ? &key_area : nullptr);
  describe(chart);
  if (chart.plot_only) return chart;
  draw_header(chart, left, right);
  const double legend_y = chart.plot.bottom() + axis_height(chart) + 8;
  for (Group& g : legend) shift_down(g, legend_y);
  if (around.legend) chart.scene.layers.push_back({"legend", std::move(legend)});
  const double footer_y = around.footer ? legend_y + legend_height + 4 : chart.scene.height - 6;
  draw_footer(chart, left, right, footer_y, around.footer, around.legend);
  return chart;
}

}  // namespace

std::string date_of(const std::string& iso) { return clean_line(iso.substr(0, 10)); }

std::string fitted(std::string text, double width, double size, FontWeight weight) {
  const Font& font = Font::of(weight);
  text = shorten(clean_line(text), 400);
  if (font.width(text, size) <= width) return text;
  int fits = 2, too_long = display_width(text);
  while (fits + 1 < too_long) {
    const int middle = (fits + too_long) / 2;
    (font.width(shorten(text, middle), size) <= width ? fits : too_long) = middle;
  }
  return shorten(text, fits);
}

Chart lay_out_chart(const Runs& runs, const ChartOptions& options) {
  constexpr double kRoomForKey = 620;
  const bool has_room = options.width >= kRoomForKey && !runs.last().profile;
  // Many points are known to need a key: one layout is saved where it is the dearest.
  if (has_room && runs.last().points.size() > 2 * kAllNamed) return lay_out(runs, options, true);
  Chart chart = lay_out(runs, options, false);
  return has_room && chart.named < chart.points.size() ? lay_out(runs, options, true) : chart;
}

}  // namespace roofline
