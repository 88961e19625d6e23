// The SVG writer. Coordinates have two decimals: a hundredth of a pixel is finer than any screen.
#include "render/chart/svg_canvas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/find.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::string_view kClass = " class=\"";
constexpr std::string_view kAriaHidden = " aria-hidden=\"true\"", kHidden = " display=\"none\"";

/// Text from outside on one line, as an element's text or a quoted attribute.
std::string escaped(std::string_view text) { return escape_xml(clean_line(text)); }

std::string px(double value, int decimals = 2) {
  std::string s = fmt::format("{:.{}f}", value, decimals);
  s.erase(s.find_last_not_of('0') + 1);
  if (s.back() == '.') s.pop_back();
  return s == "-0" ? "0" : s;
}

std::string path_of(const Line& line, int decimals) {
  std::string path, last_x, last_y;
  for (const Vec& p : line.points) {
    const std::string x = px(p.x, decimals), y = px(p.y, decimals);
    const bool first = path.empty();
    if (!first && y == last_y) {
      path += fmt::format("H{}", x);
    } else if (!first && x == last_x) {
      path += fmt::format("V{}", y);
    } else {
      path += fmt::format("{}{} {}", first ? 'M' : 'L', x, y);
    }
    last_x = x, last_y = y;
  }
  return line.closed ? path + "Z" : path;
}

/// The rest of an element's tag, and its tool tip where it has one.
std::string end_of(std::string_view element, const std::string& title) {
  return title.empty() ? "/>" : fmt::format("><title>{}</title></{}>", escaped(title), element);
}

std::string data_attributes(const std::vector<std::pair<std::string, std::string>>& data) {
  std::string out;
  for (const auto& [key, value] : data) out += fmt::format(" data-{}=\"{}\"", key, escaped(value));
  return out;
}

constexpr const char* kAnchors[] = {"start", "middle", "end"};
std::string anchor_of(const Text& text) { return kAnchors[static_cast<std::size_t>(text.anchor)]; }

std::string weight_of(const Text& text) { return text.weight == FontWeight::semibold ? "600" : "400"; }

}  // namespace

std::string SvgCanvas::paint_attributes(const std::optional<Color>& fill, const std::optional<Stroke>& stroke) const {
  std::string classes, attributes;
  if (fill) {
    classes += fmt::format("f-{}", fill->role);
    if (!for_page_) attributes += fmt::format(" fill=\"{}\"", fill->hex());
    if (fill->alpha < 1) attributes += fmt::format(" fill-opacity=\"{}\"", fill->alpha);
  }
  if (stroke) {
    // Invisible elements need no theme.
    const bool seen = stroke->color.alpha > 0;
    const std::string_view role = seen ? stroke->color.role : "none";
    if (seen || for_page_) classes += fmt::format("{}s-{}", classes.empty() ? "" : " ", role);
    if (!for_page_) attributes += fmt::format(" stroke=\"{}\"", stroke->color.hex());
    if (px(stroke->width) != inherited_.stroke_width)
      attributes += fmt::format(" stroke-width=\"{}\"", px(stroke->width));
    if (stroke->color.alpha < 1 && (seen || !for_page_))
      attributes += fmt::format(" stroke-opacity=\"{}\"", stroke->color.alpha);
    if (stroke->round) attributes += " stroke-linecap=\"round\"";
    std::string dashes;
    for (const double d : stroke->dash) dashes += (dashes.empty() ? "" : " ") + px(d);
    if (!dashes.empty()) attributes += fmt::format(" stroke-dasharray=\"{}\"", dashes);
  }
  return (classes.empty() ? "" : fmt::format(" class=\"{}\"", classes)) + attributes;
}

/// The common paint of all shapes of a group with two or more shapes; empty otherwise.
std::string SvgCanvas::common_paint(const Group& group) const {
  std::string common;
  for (const Item& item : group.items) {
    std::string paint;
    if (const Line* line = std::get_if<Line>(&item)) paint = paint_attributes(line->fill, line->stroke);
    if (const Circle* circle = std::get_if<Circle>(&item)) paint = paint_attributes(circle->fill, circle->stroke);
    if (paint.empty() || (!common.empty() && paint != common)) return {};
    common = paint;
  }
  return group.items.size() > 1 ? common : std::string();
}

/// The most common attributes of the elements of a layer.
SvgCanvas::Inherited SvgCanvas::common_of(const Layer& layer) {
  std::map<std::string, int> widths, sizes, weights, anchors;
  for (const Group& group : layer.groups) {
    for (const Item& item : group.items) {
      if (const Line* line = std::get_if<Line>(&item); line && line->stroke) ++widths[px(line->stroke->width)];
      if (const Circle* circle = std::get_if<Circle>(&item); circle && circle->stroke)
        ++widths[px(circle->stroke->width)];
      if (const Text* text = std::get_if<Text>(&item)) {
        if (text->halo) ++widths[px(text->halo_width)];
        ++sizes[px(text->size)];
        ++weights[weight_of(*text)];
        ++anchors[anchor_of(*text)];
      }
    }
  }
  const Inherited root;
  return {key_of_largest(widths, root.stroke_width), key_of_largest(sizes, root.font_size),
          key_of_largest(weights, root.weight), key_of_largest(anchors, root.anchor)};
}

void SvgCanvas::begin(const Scene& scene) {
  out_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"roofline-chart\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 "
      "{4} {5}\" role=\"graphics-document\" aria-roledescription=\"roofline chart\" "
      "aria-labelledby=\"chart-title chart-description\" font-family=\"Inter, 'Helvetica Neue', Arial, "
      "sans-serif\" fill=\"none\" stroke-width=\"{3}\" stroke-linejoin=\"round\"{2}>\n",
      px(scene.width * scene.zoom), px(scene.height * scene.zoom), data_attributes(scene.data), px(kHalo),
      px(scene.width), px(scene.height));
  out_ += fmt::format("<title id=\"chart-title\">{}</title>\n<desc id=\"chart-description\">{}</desc>\n",
                      escaped(scene.title), escaped(scene.description));
  const Rect& c = scene.clip;
  out_ += fmt::format("<clipPath id=\"chart-clip\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>\n",
                      px(c.x), px(c.y), px(c.width), px(c.height));
  out_ += fmt::format("<rect class=\"background f-bg\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", px(scene.width),
                      px(scene.height), scene.background.hex());
}

void SvgCanvas::begin_layer(const Layer& layer) {
  out_ += fmt::format("<g class=\"layer-{}\"", layer.name);
  if (for_page_) {
    const Inherited root;
    inherited_ = common_of(layer);
    if (inherited_.stroke_width != root.stroke_width)
      out_ += fmt::format(" stroke-width=\"{}\"", inherited_.stroke_width);
    if (inherited_.font_size != root.font_size) out_ += fmt::format(" font-size=\"{}\"", inherited_.font_size);
    if (inherited_.weight != root.weight) out_ += fmt::format(" font-weight=\"{}\"", inherited_.weight);
    if (inherited_.anchor != root.anchor) out_ += fmt::format(" text-anchor=\"{}\"", inherited_.anchor);
    layer_is_decoration_ =
        std::all_of(layer.groups.begin(), layer.groups.end(), [](const Group& group) { return group.title.empty(); });
    if (layer_is_decoration_) out_ += kAriaHidden;
    layer_is_hidden_ = !layer.groups.empty() && std::all_of(layer.groups.begin(), layer.groups.end(),
                                                            [](const Group& group) { return group.hidden; });
    if (layer_is_hidden_) out_ += kHidden;
  }
  out_ += ">\n";
}

void SvgCanvas::begin_group(const Group& group) {
  out_ += "<g";
  if (!group.id.empty()) out_ += fmt::format(" id=\"{}\"", escaped(group.id));
  // Only for groups of marks, because their class names no paint.
  group_paint_ = group.shares_paint ? common_paint(group) : "";
  std::string paint = group_paint_;
  if (paint.starts_with(kClass)) {
    paint.insert(kClass.size(), group.classes + " ");
    out_ += paint;
  } else if (!group.classes.empty()) {
    out_ += fmt::format(" class=\"{}\"", escaped(group.classes));
  }
  if (group.hidden && !layer_is_hidden_) out_ += kHidden;
  if (group.clipped) out_ += " clip-path=\"url(#chart-clip)\"";
  const bool said = beside_ && !group.id.empty();
  if (!said) out_ += data_attributes(group.data);
  if (said || group.title.empty()) {
    if (!layer_is_decoration_ && !said) out_ += kAriaHidden;
    out_ += ">";
  } else {
    std::string title = group.title;
    if (!for_page_) {
      for (const std::string& note : group.title_notes) title += "; " + note;
    }
    out_ += fmt::format("{}><title>{}</title>", for_page_ ? "" : " role=\"graphics-symbol\"", escaped(title));
  }
}

void SvgCanvas::draw(const Line& line) {
  const std::string path = path_of(line, decimals());
  std::string paint = paint_attributes(line.fill, line.stroke);
  if (!group_paint_.empty()) paint.clear();
  // Neighbours that look alike are one path: grids are a seventh of a page otherwise. Not where lines show through.
  const bool plain = group_paint_.empty() && !line.fill && line.stroke && line.stroke->color.alpha >= 1 &&
                     !line.closed && line.title.empty();
  if (!plain || paint != open_paint_) end_path();
  if (plain && open_paint_.empty()) open_paint_ = paint;
  if (plain) {
    open_path_ += path;
  } else {
    out_ += fmt::format("<path{} d=\"{}\"{}", paint, path, end_of("path", line.title));
  }
}

void SvgCanvas::end_path() {
  if (!open_paint_.empty()) out_ += fmt::format("<path{} d=\"{}\"/>", open_paint_, open_path_);
  open_paint_.clear();
  open_path_.clear();
}

void SvgCanvas::draw(const Circle& circle) {
  end_path();
  const std::string paint = group_paint_.empty() ? paint_attributes(circle.fill, circle.stroke) : std::string();
  out_ += fmt::format("<circle{} cx=\"{}\" cy=\"{}\" r=\"{}\"{}", paint, px(circle.center.x, decimals()),
                      px(circle.center.y, decimals()), px(circle.radius, decimals()), end_of("circle", circle.title));
}

void SvgCanvas::draw(const Text& text) {
  end_path();
  const std::string line = clean_line(text.text);
  if (line.empty()) return;
  std::string classes = fmt::format("f-{}", text.color.role);
  std::string attributes = fmt::format(" x=\"{}\" y=\"{}\"", px(text.at.x, decimals()), px(text.at.y, decimals()));
  if (px(text.size) != inherited_.font_size) attributes += fmt::format(" font-size=\"{}\"", px(text.size));
  if (!for_page_) attributes += fmt::format(" fill=\"{}\"", text.color.hex());
  if (weight_of(text) != inherited_.weight) attributes += fmt::format(" font-weight=\"{}\"", weight_of(text));
  if (anchor_of(text) != inherited_.anchor) attributes += fmt::format(" text-anchor=\"{}\"", anchor_of(text));
  if (text.rotation != 0)
    attributes += fmt::format(" transform=\"rotate({} {} {})\"", px(text.rotation, decimals()),
                              px(text.at.x, decimals()), px(text.at.y, decimals()));
  if (text.halo) {
    classes += fmt::format(" s-{}", text.halo->role);
    if (!for_page_) attributes += fmt::format(" stroke=\"{}\" paint-order=\"stroke\"", text.halo->hex());
    if (px(text.halo_width) != inherited_.stroke_width)
      attributes += fmt::format(" stroke-width=\"{}\"", px(text.halo_width));
  }
  if (!text.classes.empty()) classes += " " + text.classes;
  // The width that the layout counted with holds in whatever font the viewer has; text in a script that
  // the embedded font lacks keeps its own width. A page brings the font.
  if (!for_page_ && Font::of(text.weight).covers(line))
    attributes += fmt::format(" textLength=\"{}\"", px(Font::of(text.weight).width(line, text.size)));
  out_ += fmt::format("<text class=\"{}\"{}>{}</text>", classes, attributes, escape_xml(line));
}

void SvgCanvas::end_group() {
  end_path();
  out_ += "</g>\n";
}
void SvgCanvas::end_layer() { out_ += "</g>\n"; }

std::string SvgCanvas::finish() { return std::move(out_ += "</svg>\n"); }

}  // namespace roofline
