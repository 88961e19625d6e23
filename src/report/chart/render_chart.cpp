// The chart's renderers: one layout, two canvases.
#include "report/chart/cairo_canvas.hpp"
#include "report/chart/chart.hpp"
#include "report/chart/svg_canvas.hpp"

namespace roofline {

std::string render_svg(const Runs& runs, const ChartOptions& options) {
  SvgCanvas canvas;
  return draw_scene(lay_out_chart(runs, options).scene, canvas);
}

std::string render_png(const Runs& runs, const ChartOptions& options) {
  CairoCanvas canvas(CairoFormat::png, options.scale);
  return draw_scene(lay_out_chart(runs, options).scene, canvas);
}

std::string render_pdf(const Runs& runs, const ChartOptions& options) {
  constexpr double kPointsPerPixel = 0.75;  // a CSS pixel is 1/96 inch, a point 1/72
  CairoCanvas canvas(CairoFormat::pdf, kPointsPerPixel);
  return draw_scene(lay_out_chart(runs, options).scene, canvas);
}

}  // namespace roofline
