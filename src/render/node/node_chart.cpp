// Both axes are logarithmic and the same in all panels, so that a roof that is lower on one device is seen at once;
// what is usual among the devices stands behind it in grey.
#include "render/node/node_chart.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/find.hpp"
#include "render/chart/cairo_canvas.hpp"
#include "render/chart/svg_canvas.hpp"
#include "render/node/node_render.hpp"
#include "report/node_findings.hpp"
#include "report/node_view.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr double kPanelWidth = 312, kPanelHeight = 246, kGap = 12;
constexpr double kLeft = 8, kRight = 304, kTop = 34, kBottom = 220;
constexpr double kNameSize = 11, kNameRise = 3, kNameHeight = 14;
constexpr std::size_t kColumns = 4;
constexpr double kLabelColumn = 52, kColumn = 58, kRow = 20;

/// True if a rate can be drawn on a logarithmic axis.
bool shown(const Ceiling& ceiling) {
  return ceiling.role == Role::roof && ceiling.regime == Regime::burst && std::isfinite(ceiling.value) &&
         ceiling.value > 1 && ceiling.value < 1e21;
}

const Ceiling* memory_roof(const Machine& machine) {
  const Ceiling* memory = machine.slope(main_memory(machine.device.kind));
  return memory != nullptr && shown(*memory) ? memory : nullptr;
}

/// The highest first.
std::vector<const Ceiling*> pipe_roofs(const Machine& machine) {
  std::vector<const Ceiling*> pipes;
  for (const Ceiling& ceiling : machine.ceilings) {
    if (ceiling.kind == CeilingKind::compute && shown(ceiling)) pipes.push_back(&ceiling);
  }
  std::sort(pipes.begin(), pipes.end(), [](const Ceiling* a, const Ceiling* b) { return a->value > b->value; });
  return pipes;
}

std::string name_of(const Ceiling& ceiling) {
  return shorten(clean_line(ceiling.name), 18) + " " + ceiling_value(ceiling);
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
  double rate(double y) const { return y_low * std::pow(y_high / y_low, (kBottom - y) / (kBottom - kTop)); }
};

/// True if the names of all pipes stand right of the slope, above their lines.
bool names_fit(const std::vector<const Machine*>& machines, const Axes& axes) {
  for (const Machine* machine : machines) {
    const double bandwidth = memory_roof(*machine)->value;
    const std::vector<const Ceiling*> pipes = pipe_roofs(*machine);
    for (const Ceiling* pipe : pipes) {
      const double above = std::min(axes.rate(axes.y(pipe->value) - kNameRise - kNameHeight), pipes.front()->value);
      const double width = Font::of(FontWeight::regular).width(name_of(*pipe), kNameSize);
      if (kRight - 2 - width < axes.x(above / bandwidth) + 6) return false;
    }
  }
  return true;
}

Axes axes_of(const std::vector<const Machine*>& machines) {
  double highest = 0, slope = 0;
  for (const Machine* machine : machines) {
    slope = std::max(slope, memory_roof(*machine)->value);
    const std::vector<const Ceiling*> pipes = pipe_roofs(*machine);
    if (!pipes.empty()) highest = std::max(highest, pipes.front()->value);
  }
  Axes axes;
  axes.y_low = slope * axes.x_low;
  axes.y_high = std::max(1.6 * highest, 16 * axes.y_low);
  constexpr double kFarthest = 1e9;
  while (axes.x_high < kFarthest && !names_fit(machines, axes)) axes.x_high *= 2;
  return axes;
}

/// The line of a memory roof, up to the highest pipe.
std::vector<Vec> slope_line(const Axes& axes, double bandwidth, double highest) {
  const double top = std::min(highest, axes.x_high * bandwidth);
  const double from = std::max(axes.x_low, axes.y_low / bandwidth);
  return {{axes.x(from), axes.y(from * bandwidth)}, {axes.x(top / bandwidth), axes.y(top)}};
}

/// That of a pipe, from where the memory roof meets it.
std::vector<Vec> pipe_line(const Axes& axes, double bandwidth, double value) {
  const double from = std::clamp(value / bandwidth, axes.x_low, axes.x_high);
  return {{axes.x(from), axes.y(value)}, {kRight, axes.y(value)}};
}

const SharedCeiling* together(const Node& node, const Machine& machine, const std::string& name) {
  return find_in(node.together, [&](const SharedCeiling& shared) {
    return shared.device == machine.device.index && shared.name == name && shared.regime == Regime::burst;
  });
}

class NodeDrawing {
 public:
  explicit NodeDrawing(const Node& node) : node_(node) {
    scene_.title = "Rooflines of " + node_headline(node);
    scene_.background = colors_.background;
    scene_.layers.push_back({"panels"});
    for (const Machine& machine : node.machines) {
      if (memory_roof(machine) != nullptr) machines_.push_back(&machine);
    }
  }

  void put_heading() {
    put_text({kLeft, 18}, node_headline(node_), colors_.ink, 15, FontWeight::semibold);
    put_text(
        {kLeft, 36},
        "FLOP/s over FLOP/byte. Grey band: typical for these GPUs. Red: at least 5 % lower. Dashed: all GPUs busy.",
        colors_.muted, kNameSize);
    bottom_ = 44;
  }

  void put_roofs() {
    if (machines_.empty()) return;
    const Axes axes = axes_of(machines_);
    const double top = bottom_;
    for (std::size_t i = 0; i < machines_.size(); ++i) {
      corner_ = {static_cast<double>(i % kColumns) * (kPanelWidth + kGap),
                 top + static_cast<double>(i / kColumns) * (kPanelHeight + kGap)};
      put_panel(*machines_[i], axes);
      cover(kPanelWidth, kPanelHeight);
    }
    corner_ = {};
  }

  /// Side by side, as far as panels go.
  void put_links() {
    const std::vector<NodeTable> tables = link_tables(node_);
    const double widest = std::max(scene_.width, static_cast<double>(kColumns) * (kPanelWidth + kGap));
    const double width = kLabelColumn + kColumn * static_cast<double>(node_.machines.size());
    const double height = 2 * kRow + kRow * static_cast<double>(node_.machines.size() + 1);
    Vec next = {0, bottom_ + kGap};
    for (const NodeTable& table : tables) {
      const double needed = std::max(width, Font::of(FontWeight::semibold).width(table.title, 12)) + 2 * kLeft;
      if (next.x > 0 && next.x + needed > widest) next = {0, bottom_ + kGap};
      corner_ = next;
      put_table(table);
      cover(needed, height);
      next.x += needed + 2 * kGap;
    }
    corner_ = {};
  }

  Scene take() {
    if (scene_.width > 0) {
      const double named = Font::of(FontWeight::semibold).width(node_headline(node_), 15) + 2 * kLeft;
      scene_.width = std::max(scene_.width, std::min(named, 900.0));
      scene_.height = bottom_ + kLeft;
      scene_.clip = {0, 0, scene_.width, scene_.height};
    }
    return std::move(scene_);
  }

 private:
  Group& group() { return scene_.layers.front().groups.emplace_back(); }
  void cover(double width, double height) {
    scene_.width = std::max(scene_.width, corner_.x + width);
    bottom_ = std::max(bottom_, corner_.y + height);
  }

  void put_line(std::vector<Vec> points, const Color& color, double width, std::vector<double> dash = {}) {
    for (Vec& point : points) point = point + corner_;
    Line line{.points = std::move(points)};
    line.stroke = Stroke{color, width, std::move(dash)};
    group().items.emplace_back(std::move(line));
  }
  void put_text(Vec at, std::string text, const Color& color, double size, FontWeight weight = FontWeight::regular,
                Anchor anchor = Anchor::start) {
    Text item{.at = at + corner_, .text = std::move(text), .size = size, .weight = weight, .color = color};
    item.anchor = anchor;
    group().items.emplace_back(std::move(item));
  }

  void put_panel(const Machine& machine, const Axes& axes) {
    const Ceiling& memory = *memory_roof(machine);
    const std::vector<const Ceiling*> pipes = pipe_roofs(machine);
    const double bandwidth = memory.value, highest = pipes.empty() ? axes.y_high : pipes.front()->value;
    constexpr double kUsual = 5, kOwn = 1.6;
    const auto color = [&](const Ceiling& roof) {
      return falls_behind(node_, machine, roof) ? colors_.above : colors_.families.front();
    };
    // A dashed line shows the rate with all devices busy, where it is lower.
    const auto left_of = [&](const Ceiling& roof) {
      const SharedCeiling* shared = together(node_, machine, roof.name);
      return shared != nullptr && shared->falls() ? roof.value * shared->ratio() : 0;
    };
    put_line({{kLeft, kTop}, {kLeft, kBottom}, {kRight, kBottom}}, colors_.axis, 1);
    put_line(slope_line(axes, usual_roof(node_, machine, memory), highest), colors_.grid, kUsual);
    for (const Ceiling* pipe : pipes) {
      put_line(pipe_line(axes, bandwidth, usual_roof(node_, machine, *pipe)), colors_.grid, kUsual);
    }
    put_line(slope_line(axes, bandwidth, highest), color(memory), kOwn);
    if (const double left = left_of(memory); left > 0)
      put_line(slope_line(axes, left, highest), colors_.above, kOwn, {4, 3});
    double last_y = -1e9;
    for (const Ceiling* pipe : pipes) {
      put_line(pipe_line(axes, bandwidth, pipe->value), color(*pipe), kOwn);
      if (const double left = left_of(*pipe); left > 0)
        put_line(pipe_line(axes, bandwidth, left), colors_.above, kOwn, {4, 3});
      const double y = axes.y(pipe->value);
      if (y - last_y < kNameHeight) continue;  // no room for its name below the one before
      last_y = y;
      put_text({kRight - 2, y - kNameRise}, name_of(*pipe), colors_.muted, kNameSize, FontWeight::regular, Anchor::end);
    }
    put_text({kLeft + 4, kBottom + 14}, name_of(memory), colors_.muted, kNameSize);
    put_text({kLeft, 16}, gpu_name(machine.device.index), colors_.ink, 12, FontWeight::semibold);
  }

  void put_table(const NodeTable& table) {
    put_text({kLeft, 16}, table.title, colors_.ink, 12, FontWeight::semibold);
    put_text({kLeft, 16 + kRow}, table.note, colors_.muted, kNameSize);
    const auto right = [](std::size_t column) {
      return kLeft + kLabelColumn + kColumn * static_cast<double>(column + 1);
    };
    double y = 16 + 2 * kRow;
    put_text({kLeft, y}, table.corner, colors_.muted, kNameSize);
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      put_text({right(i), y}, table.columns[i], colors_.muted, kNameSize, FontWeight::regular, Anchor::end);
    }
    put_line({{kLeft, y + 6}, {right(table.columns.size() - 1), y + 6}}, colors_.grid, 1);
    for (const NodeRow& row : table.rows) {
      y += kRow;
      put_text({kLeft, y}, row.label, colors_.muted, kNameSize);
      for (std::size_t i = 0; i < row.cells.size(); ++i) {
        const NodeCell& cell = row.cells[i];
        if (cell.text.empty()) continue;
        put_text({right(i), y}, cell.text, cell.bad ? colors_.above : colors_.ink, kNameSize,
                 cell.bad ? FontWeight::semibold : FontWeight::regular, Anchor::end);
      }
    }
  }

  const Node& node_;
  const Palette& colors_ = palette(Theme::light);
  std::vector<const Machine*> machines_;  ///< that have roofs
  Scene scene_;
  Vec corner_;         ///< of what is being drawn
  double bottom_ = 0;  ///< of all that is
};

}  // namespace

Scene node_scene(const Node& node, NodeParts parts) {
  NodeDrawing drawing(node);
  if (parts == NodeParts::roofs_and_links) drawing.put_heading();
  drawing.put_roofs();
  if (parts == NodeParts::roofs_and_links) drawing.put_links();
  return drawing.take();
}

std::string render_node_svg(const Node& node) {
  const Scene scene = node_scene(node, NodeParts::roofs_and_links);
  SvgCanvas canvas;
  return scene.width > 0 ? draw_scene(scene, canvas) : std::string();
}

std::string render_node_png(const Node& node) {
  constexpr double kScale = 2;
  const Scene scene = node_scene(node, NodeParts::roofs_and_links);
  return scene.width > 0 ? draw_with_cairo(scene, CairoFormat::png, kScale) : std::string();
}

}  // namespace roofline
