// The time-based view: what each resource would need, as bars under the measured time. It also shows kernels
// that have no FLOPs, and resources that have no ceiling. Static markup; widths are in per cent.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/html_marks.hpp"
#include "report/html_sections.hpp"
#include "report/html_text.hpp"

namespace roofline {
namespace {

constexpr int kBarHeight = 7;  // as in page.css
constexpr int kBarPitch = 10;

const char* kind_class(CeilingKind kind) {
  static constexpr std::array<const char*, 4> kClasses = {"k-memory", "k-compute", "k-latency", "k-latency"};
  return kClasses.at(static_cast<std::size_t>(kind));
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
  std::string html = fmt::format("<svg class=\"times\" height=\"{}\" aria-hidden=\"true\">", height);
  html += fmt::format("<rect class=\"track\" width=\"{:.2f}%\" height=\"{}\" rx=\"2\"/>", 100 / scale, height);
  for (std::size_t i = 0; i < resources.size(); ++i) {
    const double part = resources[i].time_s / point.time->median;
    if (!std::isfinite(part)) continue;
    html += fmt::format("<rect class=\"{}\" y=\"{}\" width=\"{:.2f}%\"/>", kind_class(resources[i].kind),
                        static_cast<int>(i) * kBarPitch + (kBarPitch - kBarHeight) / 2,
                        std::clamp(100 * part / scale, 0.15, 100.0));
  }
  return html + "</svg>";
}

std::string resource_list(const Point& point) {
  std::string html = "<ul>";
  for (const ResourceTime& resource : point.bound.resources) {
    const double part = resource.time_s / point.time->median;
    html +=
        fmt::format("<li><i class=\"{}\"></i>{} {}</li>", kind_class(resource.kind), html_name(resource.ceiling, 24),
                    std::isfinite(part) ? fmt::format("{} <b>{}</b>", duration(resource.time_s), percent(part))
                                        : std::string("no ceiling"));
  }
  return html + "</ul>";
}

}  // namespace

std::string html_times(const Report& report) {
  std::string rows;
  const double scale = longest(report);
  for (const Point& point : report.points) {
    if (point.status != PointStatus::ok || !point.time || !(point.time->median > 0)) continue;
    rows += fmt::format(
        "<tr><th scope=\"row\">{}<span>{}<small>{} measured</small></span></th><td>{}</td><td>{}</td></tr>\n",
        html_mark(report, point), html_name(point_name(point), 48), duration(point.time->median), bars(point, scale),
        resource_list(point));
  }
  if (rows.empty()) return {};
  return fmt::format(
      "<section id=\"times\" aria-labelledby=\"times-h\">\n<h2 id=\"times-h\">Where the time goes</h2>\n"
      "<p class=\"lead\">The grey field is the measured time. Each bar is the time that one resource would need for "
      "the "
      "kernel's work at its ceiling: "
      "<span class=\"key\"><i class=\"k-memory\"></i> memory</span> "
      "<span class=\"key\"><i class=\"k-compute\"></i> compute</span> "
      "<span class=\"key\"><i class=\"k-latency\"></i> launch</span>. The longest bar is the bound; grey beyond it is "
      "head-room.</p>\n"
      "<table class=\"times-table\"><thead><tr><th scope=\"col\">Kernel</th><th scope=\"col\">Time by resource</th>"
      "<th scope=\"col\">Share of the measured time</th></tr></thead><tbody>\n{}</tbody></table>\n</section>\n",
      rows);
}

}  // namespace roofline
