#include "render/html/memory_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "render/html/escape.hpp"
#include "report/findings.hpp"
#include "report/memory_flow.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr int kDrawnWidth = 720, kBoxWidth = 84, kBoxHeight = 46, kUpperY = 16, kLowerY = 106;
constexpr int kPlaces = 4, kPlacePitch = (kDrawnWidth - kBoxWidth) / (kPlaces - 1);

/// Where the memory of a level is drawn; its way comes from the column before it.
struct Box {
  int column = 0, y = 0;
  const char* name = "";
};

Box box_of(Level level) {
  switch (level) {
    case Level::shared:
      return {1, kLowerY, "shared"};
    case Level::l1:
      return {1, kUpperY, "L1"};
    case Level::l2:
      return {2, kUpperY, "L2"};
    default:
      return {3, kUpperY, "HBM"};
  }
}

std::string drawn(const Box& at, int height, const std::string& note) {
  const int x = at.column * kPlacePitch, middle = x + kBoxWidth / 2;
  std::string svg =
      fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\"/><text x=\"{}\" y=\"{}\">{}</text>", x,
                  at.y, kBoxWidth, height, middle, at.y + height / 2 + (note.empty() ? 4 : -3), at.name);
  if (!note.empty()) {
    svg += fmt::format("<text class=\"small\" x=\"{}\" y=\"{}\">{}</text>", middle, at.y + height / 2 + 13, note);
  }
  return svg;
}

/// "72 % of its roof" stands below, what is moved above.
std::string way(const MemoryFlow& flow) {
  constexpr double kThinnest = 1.5, kThickest = 14;
  const Box to = box_of(flow.level);
  const int end = to.column * kPlacePitch - 3, begin = (to.column - 1) * kPlacePitch + kBoxWidth + 3;
  const int middle = (begin + end) / 2, y = to.y + kBoxHeight / 2;
  const double share = std::isfinite(flow.share()) ? std::clamp(flow.share(), 0.0, 1.0) : 0;
  const double thick = std::max(kThinnest, kThickest * share);
  const std::string roof =
      flow.ceiling.empty() ? "no measured roof" : fmt::format("{} of {}", percent(flow.share()), flow.ceiling);
  return fmt::format(
      "<path d=\"M{0} {1}H{2}\" stroke-width=\"{3:.1f}\"/><text x=\"{4}\" y=\"{5}\">{6}</text>"
      "<text class=\"small\" x=\"{4}\" y=\"{7}\">{8}</text><text class=\"small\" x=\"{4}\" y=\"{9}\">{10}</text>",
      begin, y, end, thick, middle, y - 13, si(flow.bytes, "B"), y + 21, si(flow.rate, "B/s"), y + 35,
      escape_html(roof));
}

std::string note_on(const MemoryFlow& flow) {
  return std::isfinite(flow.hit_rate) ? percent(flow.hit_rate) + " hits" : std::string();
}

}  // namespace

std::string memory_chart(const std::vector<MemoryFlow>& flows) {
  const bool shared = std::any_of(flows.begin(), flows.end(), [](const auto& f) { return f.level == Level::shared; });
  const int height = shared ? kLowerY + kBoxHeight + 20 : kUpperY + kBoxHeight + 20;
  std::string boxes = drawn({0, kUpperY, "SMs"}, shared ? kLowerY + kBoxHeight - kUpperY : kBoxHeight, ""), ways, label;
  for (const MemoryFlow& flow : flows) {
    boxes += drawn(box_of(flow.level), kBoxHeight, note_on(flow));
    ways += way(flow);
    label += fmt::format("{}{} {} at {}", label.empty() ? "" : "; ", to_string(flow.level), si(flow.bytes, "B"),
                         si(flow.rate, "B/s"));
  }
  return fmt::format("<svg class=\"level-chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">{}{}</svg>",
                     kDrawnWidth, height, escape_html(label), ways, boxes);
}

std::string html_memory_charts(const Report& report) {
  constexpr std::size_t kMost = 4;
  struct Drawn {
    const Point* point;
    std::vector<MemoryFlow> flows;
    double seconds;
  };
  std::vector<Drawn> all;
  for (const Point& point : report.points) {
    std::vector<MemoryFlow> flows = memory_flows(point, machine_of(report, point));
    if (flows.empty()) continue;
    all.push_back({&point, std::move(flows), point.profiled ? point.profiled->total_s : point.time->median});
  }
  if (all.empty()) return {};
  std::stable_sort(all.begin(), all.end(), [](const Drawn& a, const Drawn& b) { return a.seconds > b.seconds; });
  if (all.size() > kMost) all.resize(kMost);
  std::string html;
  for (const Drawn& one : all) {
    std::string remarks;
    for (const MemoryFlow& flow : one.flows) {
      const std::string remark = remark_on(flow);
      if (!remark.empty())
        remarks += fmt::format("{}{}: {}", remarks.empty() ? "" : "; ", to_string(flow.level), remark);
    }
    html += fmt::format("<figure><figcaption>{}<small>{}</small></figcaption>{}</figure>\n",
                        html_name(point_name(*one.point)), escape_html(remarks), memory_chart(one.flows));
  }
  return "<h3>Bytes of a launch by memory level</h3>\n<p class=\"hint\">The kernels with the most time. The thicker a "
         "line, the "
         "nearer its rate is to the measured roof.</p>\n<div class=\"level-charts\">\n" +
         html + "</div>\n";
}

}  // namespace roofline
