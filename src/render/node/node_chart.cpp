// Both axes are logarithmic and the same in all panels, so that a roof that is lower on one device is seen at once;
// what is usual among the devices stands behind it in grey.
#include "render/node/node_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "render/html/escape.hpp"
#include "render/node/node_render.hpp"
#include "report/node_findings.hpp"
#include "report/node_view.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {

const char* const kNodePanelStyle =
    ".panels{display:block;max-width:100%;height:auto;font-size:11px}\n"
    ".panels path{fill:none;stroke:var(--fill);stroke-width:1.6}\n"
    ".panels .frame{stroke:var(--line);stroke-width:1}\n"
    ".panels .usual{stroke:var(--track);stroke-width:5}\n"
    ".panels .low{stroke:var(--bad)}\n"
    ".panels .together{stroke-dasharray:4 3}\n"
    ".panels text{fill:var(--muted)}\n"
    ".panels .head{fill:var(--ink);font-weight:600;font-size:12px}\n";

namespace {

constexpr const char* kStandaloneStyle =
    "svg{font-family:Inter,Helvetica,Arial,sans-serif;font-size:11px;background:#fff}"
    "path{fill:none;stroke:#0969da;stroke-width:1.6}.frame{stroke:#d1d9e0;stroke-width:1}"
    ".usual{stroke:#d8dee4;stroke-width:5}.low{stroke:#a40e26}.together{stroke-dasharray:4 3}"
    "text{fill:#59636e}.head{fill:#1f2328;font-weight:600;font-size:12px}";

constexpr double kPanelWidth = 312, kPanelHeight = 216, kGap = 12;
constexpr double kLeft = 8, kRight = 304, kTop = 26, kBottom = 190;
constexpr std::size_t kColumns = 4;

/// A rate that can stand on a logarithmic axis.
bool shown(const Ceiling& ceiling) {
  return ceiling.role == Role::roof && ceiling.regime == Regime::burst && std::isfinite(ceiling.value) &&
         ceiling.value > 1 && ceiling.value < 1e21;
}

struct Axes {
  double x_low = 0.25, x_high = 4096;  ///< FLOP/byte
  double y_low = 1e12, y_high = 1e12;  ///< FLOP/s

  double x(double intensity) const {
    return kLeft + (kRight - kLeft) * std::log(intensity / x_low) / std::log(x_high / x_low);
  }
  double y(double rate) const {
    const double clamped = std::clamp(rate, y_low, y_high);
    return kBottom - (kBottom - kTop) * std::log(clamped / y_low) / std::log(y_high / y_low);
  }
};

Axes axes_of(const Node& node) {
  double highest = 0, slope = 0;
  for (const Machine& machine : node.machines) {
    const Ceiling* memory = machine.slope(main_memory(machine.device.kind));
    if (memory != nullptr && shown(*memory)) slope = std::max(slope, memory->value);
    for (const Ceiling& ceiling : machine.ceilings) {
      if (ceiling.kind == CeilingKind::compute && shown(ceiling)) highest = std::max(highest, ceiling.value);
    }
  }
  Axes axes;
  axes.y_low = slope * axes.x_low;
  axes.y_high = std::max(1.6 * highest, 16 * axes.y_low);
  return axes;
}

/// The line of a memory roof, up to the highest pipe; that of a pipe, from where the memory roof meets it.
std::string slope_path(const Axes& axes, double bandwidth, double highest, const std::string& style) {
  const double top = std::min(highest, axes.x_high * bandwidth);
  const double from = std::max(axes.x_low, axes.y_low / bandwidth);
  return fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>", style, axes.x(from),
                     axes.y(from * bandwidth), axes.x(top / bandwidth), axes.y(top));
}

std::string pipe_path(const Axes& axes, double bandwidth, double value, const std::string& style) {
  const double from = std::clamp(value / bandwidth, axes.x_low, axes.x_high);
  return fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", style, axes.x(from), axes.y(value), kRight);
}

const SharedCeiling* together(const Node& node, const Machine& machine, const std::string& name) {
  const auto found = std::find_if(node.together.begin(), node.together.end(), [&](const SharedCeiling& shared) {
    return shared.device == machine.device.index && shared.name == name && shared.regime == Regime::burst;
  });
  return found == node.together.end() ? nullptr : &*found;
}

std::string panel(const Node& node, const Machine& machine, const Axes& axes) {
  const Ceiling* memory = machine.slope(main_memory(machine.device.kind));
  std::vector<const Ceiling*> pipes;
  for (const Ceiling& ceiling : machine.ceilings) {
    if (ceiling.kind == CeilingKind::compute && shown(ceiling)) pipes.push_back(&ceiling);
  }
  std::sort(pipes.begin(), pipes.end(), [](const Ceiling* a, const Ceiling* b) { return a->value > b->value; });
  std::string usual, own, names;
  const double bandwidth = memory->value;
  const double highest = pipes.empty() ? axes.y_high : pipes.front()->value;
  const auto style = [&](const Ceiling& ceiling) { return falls_behind(node, machine, ceiling) ? "low" : "roof"; };
  // Where it falls when all work, what is left of it is dashed.
  const auto left_of = [&](const Ceiling& ceiling) {
    const SharedCeiling* shared = together(node, machine, ceiling.name);
    return shared != nullptr && shared->falls() ? ceiling.value * shared->ratio() : 0;
  };
  usual += slope_path(axes, usual_roof(node, machine, *memory), highest, "usual");
  own += slope_path(axes, bandwidth, highest, style(*memory));
  if (const double left = left_of(*memory); left > 0) own += slope_path(axes, left, highest, "low together");
  double last_y = -1e9;
  for (const Ceiling* pipe : pipes) {
    usual += pipe_path(axes, bandwidth, usual_roof(node, machine, *pipe), "usual");
    own += pipe_path(axes, bandwidth, pipe->value, style(*pipe));
    if (const double left = left_of(*pipe); left > 0) own += pipe_path(axes, bandwidth, left, "low together");
    const double y = axes.y(pipe->value);
    if (y - last_y < 12) continue;  // no room for its name below the one before
    last_y = y;
    names += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{} {}</text>", kRight - 2, y - 3,
                         escape_html(shorten(clean_line(pipe->name), 18)), ceiling_value(*pipe));
  }
  names += fmt::format("<text x=\"{}\" y=\"{}\">{} {}</text>", kLeft + 4, kBottom + 14,
                       escape_html(shorten(clean_line(memory->name), 18)), ceiling_value(*memory));
  return fmt::format("<path class=\"frame\" d=\"M{0} {1}V{2}H{3}\"/>", kLeft, kTop, kBottom, kRight) + usual + own +
         names + fmt::format("<text class=\"head\" x=\"{}\" y=\"16\">{}</text>", kLeft, gpu_name(machine.device.index));
}

}  // namespace

std::string node_panels(const Node& node, const std::string& style) {
  std::vector<const Machine*> machines;
  for (const Machine& machine : node.machines) {
    const Ceiling* memory = machine.slope(main_memory(machine.device.kind));
    if (memory != nullptr && shown(*memory)) machines.push_back(&machine);
  }
  if (machines.empty()) return {};
  const Axes axes = axes_of(node);
  const std::size_t columns = std::min(kColumns, machines.size());
  const std::size_t rows = (machines.size() + columns - 1) / columns;
  const double width = static_cast<double>(columns) * (kPanelWidth + kGap) - kGap;
  const double height = static_cast<double>(rows) * (kPanelHeight + kGap) - kGap;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"panels\" width=\"{0:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "role=\"img\" "
      "aria-label=\"{2}\">",
      width, height, escape_html("Rooflines of " + node_headline(node)));
  if (!style.empty()) svg += "<style>" + style + "</style>";
  for (std::size_t i = 0; i < machines.size(); ++i) {
    svg += fmt::format("<g transform=\"translate({:.0f} {:.0f})\">{}</g>\n",
                       static_cast<double>(i % columns) * (kPanelWidth + kGap),
                       static_cast<double>(i / columns) * (kPanelHeight + kGap), panel(node, *machines[i], axes));
  }
  return svg + "</svg>\n";
}

std::string render_node_svg(const Node& node) { return node_panels(node, kStandaloneStyle); }

}  // namespace roofline
