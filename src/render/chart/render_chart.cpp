// The chart's renderers: one layout, two canvases.
#include "render/chart/cairo_canvas.hpp"
#include "render/chart/chart.hpp"
#include "render/chart/svg_canvas.hpp"

namespace roofline {

ChartDrawing::ChartDrawing(const Runs& runs, const ChartOptions& options)
    : chart_(std::make_unique<const Chart>(lay_out_chart(runs, options))), options_(options) {}

ChartDrawing::~ChartDrawing() = default;

std::string ChartDrawing::svg() const {
  SvgCanvas canvas;
  return draw_scene(chart_->scene, canvas);
}

std::string ChartDrawing::svg_for_page() const {
  SvgCanvas canvas(true);
  return draw_scene(chart_->scene, canvas);
}

std::string ChartDrawing::svg_beside() const {
  Scene scene = chart_->scene;
  std::erase_if(scene.layers, [](const Layer& layer) { return layer.name == "counted" || layer.name == "header"; });
  for (Layer& layer : scene.layers)
    std::erase_if(layer.groups, [](const Group& group) { return group.classes == "grid-minor"; });
  SvgCanvas canvas(true, true);
  return draw_scene(scene, canvas);
}

std::string ChartDrawing::png() const { return draw_with_cairo(chart_->scene, CairoFormat::png, options_.scale); }

std::string ChartDrawing::pdf() const {
  constexpr double kPointsPerPixel = 0.75;  // a CSS pixel is 1/96 inch, a point 1/72
  return draw_with_cairo(chart_->scene, CairoFormat::pdf, kPointsPerPixel);
}

std::string render_svg(const Runs& runs, const ChartOptions& options) { return ChartDrawing(runs, options).svg(); }
std::string render_png(const Runs& runs, const ChartOptions& options) { return ChartDrawing(runs, options).png(); }
std::string render_pdf(const Runs& runs, const ChartOptions& options) { return ChartDrawing(runs, options).pdf(); }

}  // namespace roofline
