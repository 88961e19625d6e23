#include "report/largest_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "model/find.hpp"
#include "report/budget.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

/// Kernels launched at one line, per step, in seconds; they may overlap.
struct LineTime {
  double all = 0, backward = 0;
  double roofed = 0, at_roof = 0;       ///< of kernels with a roof: their time, and the time that it allows
  std::map<std::string, double> roofs;  ///< time by limiting roof
};

std::map<std::string, LineTime> line_times(const Report& report) {
  const bool nodes = std::any_of(report.points.begin(), report.points.end(),
                                 [](const Point& point) { return point.profiled && point.profiled->in_graph; });
  std::map<std::string, LineTime> lines;
  for (const Point& point : report.points) {
    if (!point.profiled || !point.profiled->step) continue;
    if (nodes && point.profiled->graph) continue;  // its kernels are rows of their own
    const double seconds = point.profiled->step->seconds;
    LineTime& line = lines[point.profiled->line];
    line.all += seconds;
    if (point.profiled->backward) line.backward += seconds;
    const double fraction = point.fraction_of_roof();
    if (!std::isfinite(fraction)) continue;
    line.roofed += seconds;
    line.at_roof += seconds * std::min(fraction, 1.);
    line.roofs[point.bound.limiting_ceiling] += seconds;
  }
  return lines;
}

/// " (forward and backward)", where the line has kernels of the backward pass, too.
std::string_view passes_of(const LineTime& line) {
  constexpr double kSome = 0.05;
  if (line.backward < kSome * line.all) return "";
  return line.backward > (1 - kSome) * line.all ? " (in backward)" : " (forward and backward)";
}

}  // namespace

std::string largest_line(const Report& report) {
  constexpr double kGoodPart = 0.2;  // of a step
  constexpr double kMost = 0.5;      // of the line's time
  const std::optional<Budget> budget = whole_budget(report);
  if (!report.profile || !report.profile->steps || !budget || !(budget->wall_s > 0)) return {};
  const std::map<std::string, LineTime> lines = line_times(report);
  const auto largest = std::max_element(lines.begin(), lines.end(),
                                        [](const auto& a, const auto& b) { return a.second.all < b.second.all; });
  if (largest == lines.end() || largest->first.empty() || largest->second.all < kGoodPart * budget->wall_s) return {};
  const LineTime& line = largest->second;
  double kernels_s = 0;
  for (const auto& [place, of_line] : lines) kernels_s += of_line.all;
  std::string text =
      fmt::format("Most GPU time: {}{}, {} of it", largest->first, passes_of(line), percent(line.all / kernels_s));
  if (line.roofed > kMost * line.all) {
    text += fmt::format(", at {} of its roof{}", percent(line.at_roof / line.roofed),
                        line.roofs.size() == 1 ? fmt::format(" ({})", line.roofs.begin()->first)
                                               : fmt::format("s (mostly {})", key_of_largest(line.roofs)));
  }
  return text + ".";
}

}  // namespace roofline
