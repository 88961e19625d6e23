// A typical step of a program as bars: host threads above, and below them the streams and idle times of the GPUs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "render/chart/points.hpp"
#include "render/html/bars.hpp"
#include "render/html/escape.hpp"
#include "render/html/profile_sections.hpp"
#include "report/findings.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr double kAxisHeight = 22;
constexpr double kLane = 40;  // a lane's name, its bars, and the gap to the next
constexpr double kBarTop = 16, kBarHeight = 20;
constexpr std::size_t kMostLanes = 40, kMostSlices = 4000;

/// Classes of bars that are no kernels, in the order of the legend.
constexpr std::pair<const char*, const char*> kSliceStyles[] = {{"copy", "copies and memsets"},
                                                                {"idle", "GPU idle"},
                                                                {"call", "CUDA calls"},
                                                                {"run", "thread on a CPU"},
                                                                {"ready", "thread without a CPU or the GIL"},
                                                                {"wait", "thread waits"}};

bool names_row(const Report& report, int point) {
  return point >= 0 && static_cast<std::size_t>(point) < report.points.size();
}
const Point& row_at(const Report& report, int point) { return report.points[static_cast<std::size_t>(point)]; }

std::string style_of_state(ThreadState state) {
  if (state == ThreadState::running) return "run";
  return state == ThreadState::runnable || state == ThreadState::gil ? "ready" : "wait";
}

std::string style_of_family(const std::vector<std::string>& families, const std::string& family) {
  const std::vector<Color>& colors = palette(Theme::light).families;
  const auto index = static_cast<std::size_t>(std::ranges::find(families, family) - families.begin());
  return fmt::format("f-{}", colors[index % colors.size()].role);
}

/// `families` are the report's, found once: a timeline has thousands of bars.
std::string style_of_slice(const Report& report, const std::vector<std::string>& families, LaneKind lane,
                           const Slice& slice) {
  switch (lane) {
    case LaneKind::idle:
      return "idle";
    case LaneKind::calls:
      return slice.state ? style_of_state(*slice.state) : "call";
    case LaneKind::samples:
      return style_of_state(slice.state.value_or(ThreadState::other));
    case LaneKind::stream:
      break;
  }
  return names_row(report, slice.point) ? style_of_family(families, family_of(row_at(report, slice.point))) : "copy";
}

std::string name_of_slice(const Report& report, LaneKind lane, const Slice& slice) {
  if (lane == LaneKind::samples && slice.state) {
    return slice.line.empty() ? std::string(to_string(*slice.state))
                              : fmt::format("{}: {}", slice.line, to_string(*slice.state));
  }
  if (!names_row(report, slice.point)) return slice.text;
  const std::string name = point_name(row_at(report, slice.point));
  return slice.text.empty() ? name : fmt::format("{}: {}", slice.text, name);
}

/// "1.2 ms, from 3 ms, model.py:10 forward", and of merged bars what they are.
std::string rest_of_slice(const Report& report, LaneKind lane, const Slice& slice) {
  std::string text =
      fmt::format("{}, from {}", duration(slice.end_s - slice.start_s), duration(std::max(0.0, slice.start_s)));
  std::string line = slice.line;
  if (line.empty() && names_row(report, slice.point)) line = row_at(report, slice.point).profiled->line;
  if (!line.empty() && lane != LaneKind::samples) text += ", " + shorten(clean_line(line), 60);
  if (slice.merged > 0) text += fmt::format("; {} bars, {} in all", count(slice.merged), duration(slice.busy_s));
  return text;
}

PageBar slice_bar(const Report& report, const std::vector<std::string>& families, const Lane& lane,
                  const Slice& slice) {
  const double length = report.profile->timeline->length_s;
  // What is outside the window has no width.
  const double begin = std::clamp(slice.start_s, 0.0, length), end = std::clamp(slice.end_s, begin, length);
  PageBar bar = {.at = 100 * begin / length,
                 .width = 100 * (end - begin) / length,
                 .style = style_of_slice(report, families, lane.kind, slice),
                 .name = name_of_slice(report, lane.kind, slice),
                 .rest = rest_of_slice(report, lane.kind, slice),
                 .row = names_row(report, slice.point) ? slice.point : -1};
  if (slice.merged > 0 && end > begin) bar.density = slice.busy_s / (end - begin);
  return bar;
}

/// Even steps of 1, 2 or 5, some eight over the window.
std::string timeline_ticks(double length, double height) {
  const double rough = length / 8;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double step = power * (rough / power < 1.5 ? 1 : rough / power < 3.5 ? 2 : rough / power < 7.5 ? 5 : 10);
  std::string html = "<g class=\"ticks\" aria-hidden=\"true\">";
  for (int i = 0; i * step <= length && i < 20; ++i) {
    const double x = 100 * i * step / length;
    html += fmt::format("<line x1=\"{0:.3f}%\" x2=\"{0:.3f}%\" y1=\"{1}\" y2=\"{2}\"/>", x, kAxisHeight - 6, height);
    if (x < 94) html += fmt::format("<text x=\"{:.3f}%\" y=\"12\">{}</text>", x, i == 0 ? "0" : duration(i * step));
  }
  return html + "</g>\n";
}

std::string timeline_legend(const Report& report, const std::vector<std::string>& families) {
  std::vector<std::string> used;
  for (const Lane& lane : report.profile->timeline->lanes) {
    for (const Slice& slice : lane.slices) {
      const std::string style = style_of_slice(report, families, lane.kind, slice);
      if (std::ranges::find(used, style) == used.end()) used.push_back(style);
    }
  }
  std::vector<std::pair<std::string, std::string>> entries;
  const auto add = [&](const std::string& style, const std::string& name) {
    if (std::ranges::find(used, style) != used.end()) entries.emplace_back(style, name);
  };
  for (const std::string& family : families) add(style_of_family(families, family), family);
  for (const auto& [style, name] : kSliceStyles) add(style, name);
  return html_bar_legend(entries);
}

constexpr const char* kTimelineHint =
    "<p class=\"hint\" hidden>Hover a bar for its name and time; click a kernel to select its row. Zoom: + \u2212 0, "
    "Ctrl + wheel or double click. Pan: drag. Keyboard: Tab to the timeline, arrow keys between bars, Enter to the "
    "row. "
    "Enter in the search goes to the next match. Lanes of samples are empty where nothing was sampled.</p>\n";

/// Lanes as they stand on the page: those of host threads first.
std::vector<const Lane*> page_lanes(const Timeline& timeline) {
  std::vector<const Lane*> lanes;
  for (const bool host : {true, false}) {
    for (const Lane& lane : timeline.lanes) {
      if (lane.host() == host) lanes.push_back(&lane);
    }
  }
  return lanes;
}

/// What the timeline is of.
std::string timeline_lead(const Profile& profile) {
  const Timeline& timeline = *profile.timeline;
  if (timeline.step && profile.steps) {
    return fmt::format("Step {} takes {}, closest to the median. Host threads above, GPUs below.",
                       count(*timeline.step), duration(timeline.length_s));
  }
  return fmt::format(
      "{} starting {} into the recording: the window with the most GPU work. Host threads above, GPUs "
      "below.",
      duration(timeline.length_s), duration(std::max(0.0, timeline.start_s)));
}

/// What is not drawn.
std::string timeline_omissions(const Timeline& timeline, std::size_t lanes, std::size_t slices) {
  std::int64_t merged = 0, into = 0;
  for (const Lane& lane : timeline.lanes) {
    for (const Slice& slice : lane.slices) {
      merged += slice.merged;
      into += slice.merged > 0 ? 1 : 0;
    }
  }
  std::string text;
  if (merged > 0) text += fmt::format(" {} short bars are merged into {}.", count(merged), count(into));
  if (slices > 0) text += fmt::format(" {} bars not shown.", count(static_cast<std::int64_t>(slices)));
  if (lanes > 0) text += fmt::format(" {} lanes not shown.", lanes);
  if (timeline.hidden_threads > 0) {
    text += fmt::format(" Without a lane: {} thread{} not seen on a CPU.", count(timeline.hidden_threads),
                        timeline.hidden_threads == 1 ? "" : "s");
  }
  return text;
}

}  // namespace

std::string html_timeline(const Report& report) {
  const auto& timeline = report.profile->timeline;
  if (!timeline || !(timeline->length_s > 0) || timeline->lanes.empty()) return {};
  std::vector<const Lane*> lanes = page_lanes(*timeline);
  const std::size_t more_lanes = lanes.size() - std::min(lanes.size(), kMostLanes);
  lanes.resize(lanes.size() - more_lanes);
  const std::vector<std::string> families = families_of(report);
  BarChart chart = {.id = "timeline"};
  std::size_t slices = 0, left_out = 0;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const double y = kAxisHeight + kLane * static_cast<double>(i);
    chart.above += fmt::format("<text class=\"lane-name\" x=\"2\" y=\"{}\">{}</text>", y + 11,
                               escape_html(shorten(clean_line(lanes[i]->name), 60)));
    std::vector<PageBar> bars;
    for (const Slice& slice : lanes[i]->slices) {
      if (slices++ >= kMostSlices) {
        ++left_out;
      } else {
        bars.push_back(slice_bar(report, families, *lanes[i], slice));
      }
    }
    chart.rows += html_bar_row(lanes[i]->name, y + kBarTop, kBarHeight, bars);
  }
  chart.height = kAxisHeight + kLane * static_cast<double>(lanes.size());
  chart.below = timeline_ticks(timeline->length_s, chart.height);
  chart.attributes = fmt::format(" data-length=\"{}\"", timeline->length_s);
  chart.label = fmt::format("Timeline of {}: {} lanes", duration(timeline->length_s), lanes.size());
  return fmt::format(
      "<section id=\"time\" aria-labelledby=\"time-h\">\n<h2 id=\"time-h\">{}</h2>\n<p class=\"lead\">{}{}</p>\n"
      "{}{}{}</section>\n",
      timeline->step ? "A typical step" : "The busiest window", timeline_lead(*report.profile),
      timeline_omissions(*timeline, more_lanes, left_out), html_bar_chart(chart), timeline_legend(report, families),
      kTimelineHint);
}

}  // namespace roofline
