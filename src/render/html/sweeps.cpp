// Bandwidth against the working set, and against threads: one small drawing a sweep, with the plateaus and the sizes
// at which one level of the memory hierarchy gives way to the next. Its colours are the page's.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "render/chart/axes.hpp"
#include "render/html/escape.hpp"
#include "render/html/sections.hpp"
#include "report/findings.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr double kWidth = 600, kHeight = 250;
constexpr double kLeft = 58, kRight = 588, kTop = 14, kBottom = 212;

struct SweepAxes {
  LogAxis x, y;
};

/// For messages: the points with the most ranks.
std::vector<SweepPoint> drawable(const Sweep& sweep) {
  std::vector<SweepPoint> points;
  const std::int64_t ranks = sweep.points.empty() ? 0 : sweep.points.back().ranks;
  for (const SweepPoint& point : sweep.points) {
    if (point.ranks != ranks) continue;
    if (point.x > 0 && point.value > 0 && std::isfinite(point.x) && std::isfinite(point.value)) points.push_back(point);
  }
  return points;
}

SweepAxes axes_of(const std::vector<SweepPoint>& points) {
  Range x = {points.front().x, points.front().x}, y = {points.front().value, points.front().value};
  for (const SweepPoint& point : points) {
    x = {std::min(x.low, point.x), std::max(x.high, point.x)};
    y = {std::min(y.low, point.value), std::max(y.high, point.value)};
  }
  return {{{x.low / 1.15, x.high * 1.15}, kLeft, kRight}, {{y.low / 1.5, y.high * 1.7}, kBottom, kTop}};
}

double tenths(double pixels) { return std::round(pixels * 10) / 10; }

std::string line(std::string_view style, double x1, double y1, double x2, double y2) {
  return fmt::format("<path class=\"{}\" d=\"M{} {}L{} {}\"/>", style, tenths(x1), tenths(y1), tenths(x2), tenths(y2));
}

std::string text(std::string_view style, double x, double y, const std::string& content) {
  return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>", style, tenths(x), tenths(y),
                     escape_html(content));
}

std::string x_label(const Sweep& sweep, double x) {
  return sweep.axis == SweepAxis::threads ? number(x, 4) : binary_bytes(x);
}

/// Powers of two, as sizes of memory and numbers of threads are counted, eight of them at most.
std::string x_ticks(const Sweep& sweep, const LogAxis& axis) {
  const int first = static_cast<int>(std::ceil(std::log2(axis.range().low)));
  const int last = static_cast<int>(std::floor(std::log2(axis.range().high)));
  const int step = std::max(1, (last - first + 7) / 8);
  std::string svg;
  for (int power = first; power <= last; power += step) {
    const double x = axis.pixel(std::exp2(power));
    svg += line("g", x, kTop, x, kBottom) + text("t m", x, kBottom + 17, x_label(sweep, std::exp2(power)));
  }
  return svg;
}

std::string y_ticks(const LogAxis& axis) {
  std::string svg;
  for (const Tick& tick : axis.ticks(true)) {
    const double y = axis.pixel(tick.value);
    if (!tick.label.empty()) svg += line("g", kLeft, y, kRight, y) + text("t e", kLeft - 8, y + 4, tick.label);
  }
  return svg;
}

std::string curve(const std::vector<SweepPoint>& points, const SweepAxes& axes) {
  std::string path, dots;
  for (const SweepPoint& point : points) {
    const double x = axes.x.pixel(point.x), y = axes.y.pixel(point.value);
    path += fmt::format("{}{} {}", path.empty() ? "M" : "L", tenths(x), tenths(y));
    dots += fmt::format("M{} {}h0", tenths(x), tenths(y));  // round caps make dots of them
  }
  return fmt::format("<path class=\"c\" d=\"{}\"/><path class=\"d\" d=\"{}\"/>", path, dots);
}

/// Where the curve holds still, with its rate, and the size at which it stops to.
std::string plateaus(const Sweep& sweep, const SweepAxes& axes) {
  std::string svg;
  for (const double boundary : sweep.boundaries) {
    if (!axes.x.contains(boundary)) continue;
    const double x = axes.x.pixel(boundary);
    svg += line("b", x, kTop, x, kBottom) + text("t", x + 5, kBottom - 8, binary_bytes(boundary));
  }
  for (const Plateau& plateau : sweep.plateaus) {
    if (!(plateau.value > 0) || !(plateau.from > 0)) continue;
    const double y = axes.y.pixel(plateau.value);
    const double from = std::max(kLeft, axes.x.pixel(plateau.from)), to = std::min(kRight, axes.x.pixel(plateau.to));
    const double middle = std::clamp((from + to) / 2, kLeft + 40, kRight - 40);
    svg += line("p", from, y, to, y) + text("v m", middle, y - 9, rate(plateau.value, CeilingKind::bandwidth));
  }
  if (sweep.saturates_at && axes.x.contains(*sweep.saturates_at)) {
    const double x = axes.x.pixel(*sweep.saturates_at);
    svg += line("b", x, kTop, x, kBottom) + text("t", x + 5, kBottom - 8, "saturated");
  }
  return svg;
}

std::string figure(const Sweep& sweep) {
  const std::string sentence = escape_html(sweep_sentence(sweep));
  std::string html = "<figure>\n";
  if (const std::vector<SweepPoint> points = drawable(sweep); points.size() > 1) {
    const SweepAxes axes = axes_of(points);
    const bool threads = sweep.axis == SweepAxis::threads;
    html += fmt::format("<svg class=\"sweep\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}: {}\">", kWidth,
                        kHeight, escape_html(sweep.name), sentence);
    html += y_ticks(axes.y) + x_ticks(sweep, axes.x) + plateaus(sweep, axes) + curve(points, axes);
    const bool message = sweep.axis == SweepAxis::message;
    const std::string axis = message   ? fmt::format("bytes over a link, {} ranks", points.front().ranks)
                             : threads ? "threads"
                                       : "working set";
    html += text("t e", kRight, kHeight - 4, axis) + text("t", 4, 10, "byte/s");
    html += "</svg>\n";
  }
  return html + fmt::format("<figcaption><b>{}</b> {}</figcaption>\n</figure>\n", html_name(sweep.name, 40), sentence);
}

}  // namespace

std::string html_sweeps(const Machine& machine) {
  if (machine.sweeps.empty()) return {};
  std::string html =
      "<section id=\"sweeps\" aria-labelledby=\"sweeps-h\">\n<h2 id=\"sweeps-h\">Bandwidth by working set</h2>\n"
      "<p class=\"lead\">One kernel on growing working sets: each plateau is a level of the memory hierarchy, each "
      "dashed line its capacity. Collectives: bus bandwidth by message size.</p>\n<div class=\"figures\">\n";
  for (const Sweep& sweep : machine.sweeps) html += figure(sweep);
  return html + "</div>\n</section>\n";
}

}  // namespace roofline
