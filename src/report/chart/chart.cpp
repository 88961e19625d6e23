// The page around the plot (title, legend, footnotes), and the order in which a chart is laid out.
#include "report/chart/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/chart/text.hpp"
#include "report/format.hpp"

namespace roofline {
namespace {

constexpr double kSmall = 11;
constexpr double kLegendSize = 12;
constexpr double kLegendRow = 21;
constexpr double kNoteRow = 16;

std::string joined(const std::vector<std::string>& parts, std::string_view with) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : std::string(with)) + part;
  return out;
}

std::string date_of(const std::string& iso) { return clean_text(iso.substr(0, 10)); }

std::string subtitle_of(const Chart& chart) {
  std::vector<std::string> parts;
  if (const Roof* r = chart.roofs.main_memory()) parts.push_back(r->label());
  if (const Roof* r = chart.roofs.main_compute()) parts.push_back(r->label());
  if (const auto ridge = chart.roofs.ridge()) parts.push_back("ridge " + number(*ridge, 3) + " FLOP/byte");
  const std::size_t n = chart.points.size();
  parts.push_back(n == 1 ? "1 kernel" : fmt::format("{} kernels", n));
  if (!chart.report->invocation.started_at.empty()) parts.push_back(date_of(chart.report->invocation.started_at));
  return joined(parts, " · ");
}

/// One entry of the legend: a sample of what is drawn, and its meaning.
struct LegendEntry {
  std::string text;
  std::string family;        ///< data-family of the group; empty for other entries
  std::vector<Item> sample;  ///< drawn around the origin, 26 pixels wide at most
  double sample_width = 14;
};

Item sample_line(const Color& color, double width, std::vector<double> dash) {
  return Line{{{0, 0}, {24, 0}}, false, {}, Stroke{color, width, std::move(dash)}};
}

std::vector<LegendEntry> legend_of(const Chart& chart) {
  std::vector<LegendEntry> out;
  for (std::size_t i = 0; i < chart.families.size(); ++i)
    out.push_back(
        {shorten_middle(chart.families[i], 32), chart.families[i], {marker(i, {6, 0}, kMarkerRadius, *chart.colors)}});
  bool sustained = false, limits = false, band = false, suspect = false;
  for (const auto* roofs : {&chart.roofs.memory, &chart.roofs.compute}) {
    for (const Roof& roof : *roofs) {
      const Ceiling& c = *roof.ceiling;
      sustained |= c.regime == Regime::sustained;
      limits |= c.limit && c.limit->value > c.value * 1.02;
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
  return out;
}

/// Sets entries in rows from `x` to `right`; returns the groups, with y counted from the first row.
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

std::vector<std::string> footnotes_of(const Chart& chart) {
  std::vector<std::string> notes;
  for (const Roof& roof : chart.roofs.memory) {
    if (roof.others.empty()) continue;
    std::vector<std::string> parts;
    for (const Ceiling* c : roof.others)
      parts.push_back(fmt::format("{} {}", c->pattern ? to_string(*c->pattern) : c->name, rate(c->value, c->kind)));
    notes.push_back(fmt::format("{}: also {}.", roof.level_name(), joined(parts, ", ")));
  }
  const std::size_t rows = chart.report->points.size(), without = rows - chart.points.size();
  if (rows == 0) notes.emplace_back("The report has no rows.");
  if (without > 0)
    notes.push_back(fmt::format("{} of {} rows {} no point (skipped, failed, or without FLOPs): see the table.",
                                without, rows, without == 1 ? "has" : "have"));
  if (chart.roofs.memory.empty() && chart.roofs.compute.empty()) notes.emplace_back("No ceiling was measured.");
  if (chart.report->cancelled) notes.emplace_back("The run was cancelled.");
  const std::size_t nameless = chart.points.size() - chart.named - chart.numbered;
  if (nameless > 0)
    notes.push_back(fmt::format("{} {} no name here for want of room: see the table.", nameless,
                                nameless == 1 ? "point has" : "points have"));
  return notes;
}

std::string origin_of(const Report& report) {
  const Machine& m = report.machine;
  std::string text = "roofline";
  const std::string version = clean_text(report.invocation.tool_version);
  if (!version.empty()) text += " " + shorten_middle(version, 20);
  if (!m.ceilings.empty()) text += " · roofs measured on this machine";
  if (!m.ceilings.empty() && !m.measured_at.empty()) text += " " + date_of(m.measured_at);
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

void draw_header(Chart& chart, double left, double right) {
  const Color ink = chart.colors->ink, muted = chart.colors->muted;
  Group g{.classes = "header"};
  g.items.push_back(Text{{left, 34},
                         fitted(chart.scene.title, right - left, 20, FontWeight::semibold),
                         20,
                         FontWeight::semibold,
                         ink,
                         Anchor::start,
                         0,
                         {},
                         "title"});
  g.items.push_back(Text{{left, 56},
                         fitted(subtitle_of(chart), right - left, 12.5),
                         12.5,
                         FontWeight::regular,
                         muted,
                         Anchor::start,
                         0,
                         {},
                         "subtitle"});
  chart.scene.layers.push_back({"header", {g}});
}

/// Notes from the left, the origin at the right of the last line, or below where both don't fit. Returns
/// the height; y counts from the first line.
double set_footer(const Chart& chart, double left, double right, Group& group) {
  const Font& font = Font::of(FontWeight::regular);
  const std::string origin = fitted(origin_of(*chart.report), right - left, kSmall);
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

void draw_footer(Chart& chart, double left, double right, double y) {
  Group group{.classes = "footer"};
  set_footer(chart, left, right, group);
  shift_down(group, y);
  chart.scene.layers.push_back({"footer", {group}});
}

/// Everything inside the plot's frame, and the key right of it.
bool draw_plot(Chart& chart, const Rect* key_area) {
  const AxisRanges ranges = axis_ranges(chart.roofs, chart.points);
  chart.x = LogAxis(ranges.intensity, chart.plot.x, chart.plot.right());
  chart.y = LogAxis(ranges.performance, chart.plot.bottom(), chart.plot.y);
  chart.scene.clip = chart.plot;
  chart.space.bounds = chart.plot.inflated(-3);
  for (const PlottedPoint& p : chart.points) {
    const double r = kMarkerRadius + (p.point->above_roof() ? 5 : 1);
    const Vec at = chart.at(p.intensity, p.performance);
    chart.space.solid.push_back(Quad::from(Rect{at.x, at.y, 0, 0}.inflated(r)));
  }
  draw_axes(chart);
  draw_roofs(chart);
  return draw_points(chart, key_area);
}

void describe(Chart& chart) {
  const auto full = [](double v) { return fmt::format("{}", v); };
  const auto pixel = [](double v) { return fmt::format("{:.2f}", v); };
  chart.scene.description = subtitle_of(chart) + ". " + joined(footnotes_of(chart), " ");
  chart.scene.data = {{"plot-x", pixel(chart.plot.x)},         {"plot-y", pixel(chart.plot.y)},
                      {"plot-width", pixel(chart.plot.width)}, {"plot-height", pixel(chart.plot.height)},
                      {"x-low", full(chart.x.range().low)},    {"x-high", full(chart.x.range().high)},
                      {"y-low", full(chart.y.range().low)},    {"y-high", full(chart.y.range().high)}};
}

Chart lay_out(const Report& report, const ChartOptions& options, bool with_key) {
  Chart chart;
  chart.report = &report;
  chart.colors = &palette(options.theme);
  chart.points = plotted_points(report);
  chart.families = families_of(report);
  chart.roofs = roofs_of(report);
  chart.scene.width = options.width;
  chart.scene.height = options.height;
  chart.scene.background = chart.colors->background;
  const std::string device = clean_text(report.machine.device.name);
  chart.scene.title = (device.empty() ? "Unknown device" : device) + " — roofline";

  const double left = 82, right = options.width - 24;
  double legend_height = 0;
  std::vector<Group> legend = set_legend(chart, left, right, legend_height);
  // Measured before any point has a name, with the note that names are missing: a line too many at most.
  Group measured;
  const double footer_height = set_footer(chart, left, right, measured) + 12;
  const double plot_height = std::max(options.height - 76 - 58 - legend_height - footer_height, 120.0);
  const double key_width = with_key ? key_size(chart, plot_height, options.width >= 1000 ? 2 : 1) : 0;
  chart.plot = {left, 76, right - left - key_width, plot_height};
  chart.plot.width = std::max(chart.plot.width, 120.0);
  const Rect key_area = {right - key_width + 12, chart.plot.y, key_width - 12, chart.plot.height};
  draw_plot(chart, with_key ? &key_area : nullptr);
  draw_header(chart, left, right);
  const double legend_y = chart.plot.bottom() + 66;
  for (Group& g : legend) shift_down(g, legend_y);
  chart.scene.layers.push_back({"legend", std::move(legend)});
  draw_footer(chart, left, right, legend_y + legend_height + 4);
  describe(chart);
  return chart;
}

}  // namespace

std::string fitted(std::string text, double width, double size, FontWeight weight) {
  const Font& font = Font::of(weight);
  text = shorten_middle(clean_text(text), 400);
  if (font.width(text, size) <= width) return text;
  std::size_t fits = 2, too_long = decode_utf8(text).size();
  while (fits + 1 < too_long) {
    const std::size_t middle = (fits + too_long) / 2;
    (font.width(shorten_middle(text, middle), size) <= width ? fits : too_long) = middle;
  }
  return shorten_middle(text, fits);
}

Chart lay_out_chart(const Runs& runs, const ChartOptions& options) {
  const Report& report = runs.last();
  constexpr double kRoomForKey = 620;
  Chart chart = lay_out(report, options, false);
  const bool crowded = chart.named < chart.points.size();
  return crowded && options.width >= kRoomForKey ? lay_out(report, options, true) : chart;
}

}  // namespace roofline
