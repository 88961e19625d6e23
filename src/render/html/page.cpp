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

std::string html_still_chart(const Runs& runs, const ChartOptions& options) {
  ChartOptions narrow = options;
  narrow.width = 358;
  narrow.height = 400;
  narrow.plot_only = true;
  ChartOptions dark = narrow;
  dark.theme = Theme::dark;
  // The page has the title: its room above the plot is left out.
  constexpr int kTitle = 60;
  std::string wide = ChartDrawing(runs, options).svg_for_page();
  const std::string whole = fmt::format("height=\"{1}\" viewBox=\"0 0 {0} {1}\"", options.width, options.height);
  if (const std::size_t at = wide.find(whole); at != std::string::npos) {
    wide.replace(
        at, whole.size(),
        fmt::format("height=\"{1}\" viewBox=\"0 {2} {0} {1}\"", options.width, options.height - kTitle, kTitle));
  }
  return fmt::format(
      "{}<picture class=\"narrow-chart\"><source media=\"(prefers-color-scheme:dark)\" "
      "srcset=\"data:image/svg+xml;base64,{}\"><img src=\"data:image/svg+xml;base64,{}\" alt=\"Roofline chart\" "
      "width=\"{}\" height=\"{}\"></picture>\n",
      wide, base64(ChartDrawing(runs, dark).svg()), base64(ChartDrawing(runs, narrow).svg()), narrow.width,
      narrow.height);
}

std::string html_chart_style() {
  return theme_css(Theme::light) +
         "text.s-bg{paint-order:stroke}.s-none{stroke:#fff;stroke-opacity:0}\n.narrow-chart{display:none}\n"
         ".roofline-chart{margin-top:0}\n"
         "@media screen and (max-width:760px){.roofline-chart{display:none}.narrow-chart,.narrow-chart "
         "img{display:block;width:100%;height:auto}}\n";
}

}  // namespace roofline
