#include "render/html/page.hpp"

#include <fmt/format.h>

#include "render/chart/palette.hpp"
#include "render/html/escape.hpp"
#include "render/html/sha256.hpp"

extern "C" {
extern const char roofline_page_css_begin[], roofline_page_css_end[];                    // NOLINT(*-identifier-naming)
extern const char roofline_dark_css_begin[], roofline_dark_css_end[];                    // NOLINT(*-identifier-naming)
extern const char roofline_page_font_regular_begin[], roofline_page_font_regular_end[];  // NOLINT(*-identifier-naming)
extern const char roofline_page_font_semibold_begin[],
    roofline_page_font_semibold_end[];  // NOLINT(*-identifier-naming)
}

namespace roofline {
namespace {

std::string font_face(int weight, std::string_view file) {
  return fmt::format(
      "@font-face{{font-family:Inter;font-weight:{};src:url(data:font/woff2;base64,{}) format(\"woff2\")}}\n", weight,
      base64(file));
}

}  // namespace

std::string html_letters() {
  return font_face(400, std::string_view(roofline_page_font_regular_begin, roofline_page_font_regular_end)) +
         font_face(600, std::string_view(roofline_page_font_semibold_begin, roofline_page_font_semibold_end));
}

std::string_view html_base_style() { return std::string_view(roofline_page_css_begin, roofline_page_css_end); }

std::string_view html_dark_style() { return std::string_view(roofline_dark_css_begin, roofline_dark_css_end); }

std::string html_still_page(std::string_view title, std::string_view tool_version, std::string_view style,
                            std::string_view body) {
  const std::string sheet = html_letters() + std::string(html_base_style()) + std::string(style);
  const std::string dark = std::string(html_dark_style()) + theme_css(Theme::dark);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\" data-theme=\"auto\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{}' '{}'; img-src data:; "
      "font-src data:; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"roofline {}\">\n"
      "<title>{} \u2014 roofline</title>\n<style>{}</style>\n<style media=\"screen and "
      "(prefers-color-scheme:dark)\">{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      csp_hash(sheet), csp_hash(dark), escape_html(tool_version), escape_html(title), sheet, dark, body);
}

namespace {

/// A drawing for windows of that width and more, up to the next one. Its smallest letters have 11 px at the width of
/// the page in a window as narrow as that; a wider window enlarges it.
struct StillChart {
  int from, width, height;
  bool plot_only;
};
constexpr StillChart kStillCharts[] = {{800, 752, 500, false}, {560, 512, 440, true}, {0, 328, 400, true}};
/// From this window on the page shows the wide drawing, which has the page's theme.
constexpr int kWideWindow = 1248;
/// The page has the title: its room above the plot is left out.
constexpr int kTitle = 60;

}  // namespace

std::string html_still_chart(const Runs& runs, const ChartOptions& options) {
  const auto without_title = [](std::string svg, const ChartOptions& drawn) {
    const std::string whole = fmt::format("height=\"{1}\" viewBox=\"0 0 {0} {1}\"", drawn.width, drawn.height);
    if (const std::size_t at = svg.find(whole); at != std::string::npos) {
      svg.replace(at, whole.size(),
                  fmt::format("height=\"{1}\" viewBox=\"0 {2} {0} {1}\"", drawn.width, drawn.height - kTitle, kTitle));
    }
    return svg;
  };
  std::string sources, image;
  for (const StillChart& still : kStillCharts) {
    ChartOptions drawn = options;
    drawn.width = still.width;
    drawn.height = still.height;
    drawn.plot_only = still.plot_only;
    const auto data = [&](Theme theme) {
      drawn.theme = theme;
      const std::string svg = ChartDrawing(runs, drawn).svg();
      return "data:image/svg+xml;base64," + base64(still.plot_only ? svg : without_title(svg, drawn));
    };
    const int height = drawn.height - (still.plot_only ? 0 : kTitle);
    const auto source = [&](const std::string& media, const std::string& from) {
      sources += fmt::format("<source media=\"{}\" srcset=\"{}\" width=\"{}\" height=\"{}\">", media, from, still.width,
                             height);
    };
    const std::string window = fmt::format("(min-width:{}px)", still.from);
    source(window + " and (prefers-color-scheme:dark)", data(Theme::dark));
    const std::string light = data(Theme::light);
    if (still.from > 0) {
      source(window, light);
    } else {
      image =
          fmt::format("<img src=\"{}\" alt=\"Roofline chart\" width=\"{}\" height=\"{}\">", light, still.width, height);
    }
  }
  return without_title(ChartDrawing(runs, options).svg_for_page(), options) + "<picture class=\"narrow-chart\">" +
         sources + image + "</picture>\n";
}

std::string html_chart_style() {
  return theme_css(Theme::light) +
         fmt::format(
             "text.s-bg{{paint-order:stroke}}.s-none{{stroke:#fff;stroke-opacity:0}}\n.narrow-chart{{display:none}}\n"
             ".roofline-chart{{margin-top:0}}\n"
             "@media screen and (max-width:{}px){{.roofline-chart{{display:none}}.narrow-chart,.narrow-chart "
             "img{{display:block;width:100%;height:auto}}}}\n",
             kWideWindow - 1);
}

}  // namespace roofline
