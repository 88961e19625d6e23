// The busiest window of a program as bars: one lane per stream, and host threads below. Places are in per cent
// of the window, so that a page zooms by making the drawing wider.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "render/chart/palette.hpp"
#include "render/chart/points.hpp"
#include "render/html/escape.hpp"
#include "render/html/profile_sections.hpp"
#include "report/findings.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr double kAxisHeight = 22;
constexpr double kLane = 42;  // a lane's name, its bars, and the gap to the next
constexpr double kBarTop = 16, kBarHeight = 20;
constexpr double kLabelled = 4;  // per cent of the window from which a bar has room for a name
constexpr std::size_t kMostLanes = 24, kMostSlices = 4000;

struct Look {
  std::string style;  ///< class, and the chart's colour
  std::string name;
};

std::string style_of_family(std::size_t family) {
  const std::vector<Color>& colors = palette(Theme::light).families;
  const Color& color = colors[family % colors.size()];
  return fmt::format("class=\"f-{}\" fill=\"{}\"", color.role, color.hex());
}

/// `families` are the report's, found once: a window has thousands of bars.
Look look_of(const Report& report, const std::vector<std::string>& families, const Lane& lane, const Slice& slice) {
  const bool is_row = slice.point >= 0 && static_cast<std::size_t>(slice.point) < report.points.size();
  if (!is_row) return {lane.host ? "class=\"host\"" : "class=\"copy\"", slice.text};
  const Point& point = report.points[static_cast<std::size_t>(slice.point)];
  const auto family =
      static_cast<std::size_t>(std::find(families.begin(), families.end(), family_of(point)) - families.begin());
  return {style_of_family(family), point_name(point)};
}

/// Where a bar lies, in per cent; a bar outside of the window has no width.
struct Extent {
  double at = 0, width = 0;
};
Extent extent_of(const Slice& slice, double length) {
  const double begin = std::clamp(slice.start_s, 0.0, length), end = std::clamp(slice.end_s, begin, length);
  return {100 * begin / length, 100 * (end - begin) / length};
}

std::string slice_html(const Report& report, const std::vector<std::string>& families, const Lane& lane,
                       const Slice& slice, double y) {
  const Extent extent = extent_of(slice, report.profile->timeline->length_s);
  if (!(extent.width > 0)) return {};
  const Look look = look_of(report, families, lane, slice);
  const std::string name = escape_html(shorten(clean_line(look.name), 80));
  const std::string row = slice.point >= 0 ? fmt::format(" data-row=\"{}\"", slice.point) : "";
  return fmt::format(
      "<svg class=\"slice\"{} x=\"{:.4f}%\" y=\"{}\" width=\"{:.4f}%\" height=\"{}\"><title>{}: {}, from "
      "{}</title><rect {} width=\"100%\" height=\"100%\"/>{}</svg>",
      row, extent.at, y, extent.width, kBarHeight, name, duration(slice.end_s - slice.start_s),
      duration(std::max(0.0, slice.start_s)), look.style,
      extent.width >= kLabelled ? fmt::format("<text x=\"5\" y=\"14\">{}</text>", name) : "");
}

/// Even steps of 1, 2 or 5, some eight over the window.
std::string ticks(double length, double height) {
  const double rough = length / 8;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double step = power * (rough / power < 1.5 ? 1 : rough / power < 3.5 ? 2 : rough / power < 7.5 ? 5 : 10);
  std::string html = "<g class=\"ticks\" aria-hidden=\"true\">";
  for (int i = 0; i * step <= length && i < 20; ++i) {
    const double x = 100 * i * step / length;
    html += fmt::format("<line x1=\"{0:.3f}%\" x2=\"{0:.3f}%\" y1=\"{1}\" y2=\"{2}\"/>", x, kAxisHeight - 6, height);
    if (x < 94) html += fmt::format("<text x=\"{:.3f}%\" y=\"12\">{}</text>", x, i == 0 ? "0" : duration(i * step));
  }
  return html + "</g>";
}

std::string legend(const Report& report) {
  const auto families = families_of(report);
  std::set<std::string> used;
  bool copies = false, host = false;
  for (const Lane& lane : report.profile->timeline->lanes) {
    for (const Slice& slice : lane.slices) {
      if (slice.point >= 0 && static_cast<std::size_t>(slice.point) < report.points.size()) {
        used.insert(family_of(report.points[static_cast<std::size_t>(slice.point)]));
      } else {
        (lane.host ? host : copies) = true;
      }
    }
  }
  std::string html = "<ul class=\"parts\">\n";
  const auto entry = [&](const std::string& style, const std::string& name) {
    html += fmt::format(
        "<li><svg class=\"swatch\" aria-hidden=\"true\"><rect {} width=\"100%\" height=\"100%\"/></svg>{}\n", style,
        name);
  };
  for (std::size_t i = 0; i < families.size(); ++i) {
    if (used.contains(families[i])) entry(style_of_family(i), families[i]);
  }
  if (copies) entry("class=\"copy\"", "copies and memsets");
  if (host) entry("class=\"host\"", "calls of the host");
  return html + "</ul>\n";
}

constexpr const char* kControls =
    "<div class=\"zoom over\" role=\"group\" aria-label=\"Timeline\" hidden><button type=\"button\" "
    "id=\"timeline-in\">Zoom in</button><button type=\"button\" id=\"timeline-out\">Zoom out</button><button "
    "type=\"button\" id=\"timeline-reset\">Reset</button></div>\n";

constexpr const char* kHint =
    "<p class=\"hint\" hidden>Hover a bar for its name and time; click it to select its kernel. Zoom: + \u2212 0, Ctrl "
    "+ wheel or double click. Pan: drag. Keyboard: Tab to the timeline, arrow keys between bars, Enter to the "
    "row.</p>\n";

}  // namespace

std::string html_timeline(const Report& report) {
  const auto& timeline = report.profile->timeline;
  if (!timeline || !(timeline->length_s > 0) || timeline->lanes.empty()) return {};
  std::vector<const Lane*> lanes;
  for (const bool host : {false, true}) {
    for (const Lane& lane : timeline->lanes) {
      if (lane.host == host && lanes.size() < kMostLanes) lanes.push_back(&lane);
    }
  }
  const std::vector<std::string> families = families_of(report);
  std::string names, bars;
  std::size_t slices = 0, left_out = 0;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const double y = kAxisHeight + kLane * static_cast<double>(i);
    names += fmt::format("<text class=\"lane-name\" x=\"2\" y=\"{}\">{}</text>", y + 11,
                         escape_html(shorten(clean_line(lanes[i]->name), 50)));
    bars += fmt::format("<g class=\"lane\" data-name=\"{}\">", escape_html(shorten(clean_line(lanes[i]->name), 50)));
    for (const Slice& slice : lanes[i]->slices) {
      if (slices++ >= kMostSlices) {
        ++left_out;
      } else {
        bars += slice_html(report, families, *lanes[i], slice, y + kBarTop);
      }
    }
    bars += "</g>\n";
  }
  const double height = kAxisHeight + kLane * static_cast<double>(lanes.size());
  std::string note = left_out > 0 ? fmt::format(" {} bars not shown.", count(static_cast<std::int64_t>(left_out))) : "";
  if (lanes.size() < timeline->lanes.size()) {
    note += fmt::format(" {} lanes not shown.", timeline->lanes.size() - lanes.size());
  }
  return fmt::format(
      "<section id=\"time\" aria-labelledby=\"time-h\">\n<h2 id=\"time-h\">The busiest window</h2>\n<p "
      "class=\"lead\">{} "
      "starting {} into the recording. One lane per stream; host threads below.{}</p>\n{}<svg "
      "id=\"timeline\" height=\"{}\" data-length=\"{}\" role=\"img\" aria-label=\"Timeline of {}: {} lanes\"><svg "
      "class=\"window\" width=\"100%\" height=\"{}\">{}\n{}</svg><g "
      "aria-hidden=\"true\">{}</g></svg>\n{}{}</section>\n",
      duration(timeline->length_s), duration(std::max(0.0, timeline->start_s)), note, kControls, height,
      timeline->length_s, duration(timeline->length_s), lanes.size(), height, ticks(timeline->length_s, height), bars,
      names, legend(report), kHint);
}

}  // namespace roofline
