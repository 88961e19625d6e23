// A drawing as plain data: layers of groups of lines, circles and text, in CSS pixels. What lays a chart
// out makes one; a canvas draws it; tests look into it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "render/chart/font.hpp"
#include "render/chart/geometry.hpp"
#include "render/chart/palette.hpp"

namespace roofline {

struct Stroke {
  Color color;
  double width = 1;
  std::vector<double> dash = {};
  bool round = false;  ///< round caps; joins always are
};

/// A polyline, or a polygon when closed.
struct Line {
  std::vector<Vec> points;
  bool closed = false;
  std::optional<Color> fill = {};
  std::optional<Stroke> stroke = {};
  std::string title = {};  ///< shown on hover
};

struct Circle {
  Vec center;
  double radius = 0;
  std::optional<Color> fill = {};
  std::optional<Stroke> stroke = {};
  std::string title = {};  ///< shown on hover
};

enum class Anchor : std::uint8_t { start, middle, end };

/// Width of the stroke around letters, half of which shows; and of one that interrupts the line under a name.
inline constexpr double kHalo = 3, kPlate = 8;

/// One line of text. `at` is on the baseline.
struct Text {
  Vec at;
  std::string text;
  double size = 12;
  FontWeight weight = FontWeight::regular;
  Color color;
  Anchor anchor = Anchor::start;
  double rotation = 0;             ///< degrees about `at`, clockwise
  std::optional<Color> halo = {};  ///< drawn around the letters, so that lines behind don't cut them
  std::string classes = {};
  double halo_width = kHalo;

  double width() const { return Font::of(weight).width(text, size); }
  /// The area of the text.
  Quad box() const;
};

using Item = std::variant<Line, Circle, Text>;

/// Items that belong together and may mean something: a ceiling, a point, an axis.
struct Group {
  std::string id = {};  ///< unique in the scene; empty for none
  std::string classes = {};
  /// Shown on hover, and read by screen readers. Empty for decoration.
  std::string title = {};
  std::vector<std::string> title_notes = {};  ///< appended to the title, except on a page: its tables have them
  std::vector<std::pair<std::string, std::string>> data = {};  ///< data-<first>="<second>"
  std::vector<Item> items = {};
  bool clipped = false;       ///< drawn inside Scene::clip only
  bool shares_paint = false;  ///< its shapes may share their paint, which an SVG then states once
  bool hidden = false;        ///< not drawn; a page may show it
};

struct Layer {
  std::string name;
  std::vector<Group> groups = {};
};

struct Scene {
  double width = 0, height = 0;
  double zoom = 1;  ///< CSS pixels of the picture for one of the scene
  Color background;
  Rect clip;
  std::string title, description;
  std::vector<std::pair<std::string, std::string>> data = {};  ///< attributes of the root element
  std::vector<Layer> layers = {};

  /// Every text of the scene, in drawing order.
  std::vector<const Text*> texts() const;
};

}  // namespace roofline
