// Marks for tables, drawn by the chart's own canvas.
#include "render/html/marks.hpp"

#include <fmt/format.h>

#include <set>
#include <variant>

#include "render/chart/points.hpp"
#include "render/chart/svg_canvas.hpp"
#include "render/html/escape.hpp"

namespace roofline {

Marks::Marks(const Runs& runs) {
  const std::vector<Color>& colors = palette(Theme::light).families;
  for (const std::string& family : families_of(runs)) {
    const std::size_t style = style_of(family);
    marks_[family] = fmt::format("<svg class=\"mark\"><use class=\"f-{}\" href=\"#mark-{}\"/></svg>",
                                 colors[style % colors.size()].role, style);
  }
}

const std::string& Marks::of(const Point& point) const { return marks_.at(family_of(point)); }

std::string Marks::legend() const {
  if (marks_.size() < 2) return {};
  std::string html = "<ul class=\"parts legend\">\n";
  for (const auto& [family, mark] : marks_) html += fmt::format("<li>{}{}\n", mark, html_name(family, 30));
  return html + "</ul>\n";
}

std::string Marks::shapes() const {
  std::string html = "<svg class=\"unseen\" width=\"0\" height=\"0\" aria-hidden=\"true\">";
  std::set<std::size_t> styles;
  for (const auto& [family, mark] : marks_) styles.insert(style_of(family));
  for (const std::size_t style : styles) {
    SvgCanvas canvas;
    // A shape without a colour inherits that of its <use> element, which themes can style.
    std::visit(
        [&canvas](auto shape) {
          if constexpr (requires { shape.stroke; }) {
            shape.fill.reset();
            shape.stroke.reset();
          }
          canvas.draw(shape);
        },
        marker(style, {7, 7}, 4.5, palette(Theme::light)));
    std::string drawing = canvas.finish();
    drawing.erase(drawing.rfind("</svg>"));  // which finish() writes for the element that begin() opens
    constexpr std::string_view kUnpainted = " class=\"\" fill=\"none\"";
    if (const std::size_t at = drawing.find(kUnpainted); at != std::string::npos) drawing.erase(at, kUnpainted.size());
    html += fmt::format("<g id=\"mark-{}\">{}</g>", style, drawing);
  }
  return html + "</svg>\n";
}

}  // namespace roofline
