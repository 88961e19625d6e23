// The time-based view: what each resource would need, as bars under the measured time. It also shows kernels
// that have no FLOPs, and resources that have no ceiling. Static markup; widths are in per cent.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "render/html/escape.hpp"
#include "render/html/marks.hpp"
#include "render/html/sections.hpp"
#include "report/findings.hpp"
#include "report/profile_findings.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr int kBarThickness = 7;  // as in page.css
constexpr int kBarPitch = 10;

const char* kind_class(CeilingKind kind) {
  static constexpr std::array<const char*, 4> kClasses = {"k-memory", "k-compute", "k-latency", "k-latency"};
  return kClasses.at(static_cast<std::size_t>(kind));
}

constexpr std::size_t kMostBars = 250;  // each row has a dozen elements

/// Timed kernels with known work that are below their roof.
bool is_shown(const Point& point) {
  constexpr double kAtRoof = 0.9;
  return point.status == PointStatus::ok && point.time && point.time->median > 0 &&
         (!point.profiled || !point.bound.resources.empty()) &&
         !(point.fraction_of_roof() >= kAtRoof && !point.above_roof());
}

std::size_t count_timed(const Report& report) {
  return static_cast<std::size_t>(std::count_if(report.points.begin(), report.points.end(), is_shown));
}

/// The timed points in the order of the run; of too many, the longest-running.
std::vector<std::size_t> longest_points(const Report& report) {
  std::vector<std::size_t> points;
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    if (is_shown(report.points[i])) points.push_back(i);
  }
  if (points.size() <= kMostBars) return points;
  std::stable_sort(points.begin(), points.end(),
                   [&](std::size_t a, std::size_t b) { return cost_of(report.points[a]) > cost_of(report.points[b]); });
  points.resize(kMostBars);
  std::sort(points.begin(), points.end());
  return points;
}

/// The right end of all bars, as a multiple of the measured time: 1, or more where a point is above its roof.
double longest(const Report& report) {
  double most = 1;
  for (const Point& point : report.points) {
    if (std::isfinite(point.fraction_of_roof())) most = std::max(most, point.fraction_of_roof());
  }
  return std::min(most, 4.0);  // an absurd point must not squeeze all others
}

std::string bars(const Point& point, double scale) {
  const std::vector<ResourceTime>& resources = point.bound.resources;
  const int height = std::max(1, static_cast<int>(resources.size())) * kBarPitch;
  std::string html =
      fmt::format("<svg class=\"times\" height=\"{0}\"><rect class=\"track\" width=\"{1:.4g}%\" height=\"{0}\"/>",
                  height, 100 / scale);
  for (std::size_t i = 0; i < resources.size(); ++i) {
    const double part = resources[i].time_s / point.time->median;
    if (!std::isfinite(part)) continue;
    html += fmt::format("<rect class=\"{}\" y=\"{}\" width=\"{:.1f}%\"/>", kind_class(resources[i].kind),
                        static_cast<int>(i) * kBarPitch + (kBarPitch - kBarThickness) / 2,
                        std::clamp(100 * part / scale, 0.15, 100.0));
  }
  return html + "</svg>";
}

std::string resource_list(const Point& point) {
  constexpr double kLeast = 0.01;
  std::string html = "<ul>";
  std::size_t idle = 0;
  for (const ResourceTime& resource : point.bound.resources) {
    const double part = resource.time_s / point.time->median;
    if (part < kLeast) {
      ++idle;
      continue;
    }
    html += fmt::format("<li><i class=\"{}\"></i>{} {}", kind_class(resource.kind), html_name(resource.ceiling, 24),
                        std::isfinite(part) ? fmt::format("{} <b>{}</b>", duration(resource.time_s), percent(part))
                                            : std::string("no ceiling"));
  }
  return html + (idle > 0 ? fmt::format("<li>{} below 1 %", idle) : "") + "</ul>";
}

}  // namespace

std::string html_times(const Report& report, const Marks& marks) {
  const std::vector<std::size_t> shown = longest_points(report);
  if (shown.empty()) return {};
  const double scale = longest(report);
  std::string rows;
  for (const std::size_t i : shown) {
    const Point& point = report.points[i];
    rows += fmt::format("<tr><th scope=\"row\">{}<span>{}<small>{} measured</small></span><td>{}<td>{}\n",
                        marks.of(point), html_name(point_name(point), 48), duration(point.time->median),
                        bars(point, scale), resource_list(point));
  }
  const std::size_t timed = count_timed(report);
  const std::string which = shown.size() == timed ? ""
                                                  : fmt::format(" The {} longest-running of {} kernels are shown.",
                                                                shown.size(), count(static_cast<std::int64_t>(timed)));
  return fmt::format(
      "<section id=\"times\" aria-labelledby=\"times-h\">\n<h2 id=\"times-h\">Time by resource</h2>\n"
      "<p class=\"lead\">Grey: measured time. Each bar: the time that one resource needs at its ceiling: <span "
      "class=\"key\"><i class=\"k-memory\"></i> memory</span> "
      "<span class=\"key\"><i class=\"k-compute\"></i> compute</span> "
      "<span class=\"key\"><i class=\"k-latency\"></i> launch</span>. The longest bar is the bound; grey beyond it is "
      "headroom. Kernels above 90 % of their roof are omitted.{}</p>\n"
      "<table class=\"times-table\"><thead><tr><th scope=\"col\">Kernel<th scope=\"col\">Time by resource"
      "<th scope=\"col\">Share of the measured time</tr></thead><tbody>\n{}</tbody></table>\n</section>\n",
      which, rows);
}

}  // namespace roofline
