// report.html: one file that needs no network and runs nothing but its own script, complete and readable
// without it. The parts come from html_*.cpp, the drawing from the chart, the look from assets/page.css.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "report/chart/palette.hpp"
#include "report/findings.hpp"
#include "report/html_marks.hpp"
#include "report/html_sections.hpp"
#include "report/html_sha256.hpp"
#include "report/html_text.hpp"
#include "report/json.hpp"
#include "report/render.hpp"
#include "report/text.hpp"

extern "C" {
extern const char roofline_page_css_begin[];
extern const char roofline_page_css_end[];
extern const char roofline_page_js_begin[];
extern const char roofline_page_js_end[];
extern const char roofline_page_font_regular_begin[];
extern const char roofline_page_font_regular_end[];
extern const char roofline_page_font_semibold_begin[];
extern const char roofline_page_font_semibold_end[];
}

namespace roofline {
namespace {

std::string_view embedded(const char* begin, const char* end) { return {begin, static_cast<std::size_t>(end - begin)}; }

std::string_view page_css() { return embedded(roofline_page_css_begin, roofline_page_css_end); }
std::string_view page_js() { return embedded(roofline_page_js_begin, roofline_page_js_end); }

std::string font_face(int weight, std::string_view file) {
  return fmt::format(
      "@font-face{{font-family:Inter;font-weight:{};src:url(data:font/otf;base64,{}) format(\"opentype\")}}\n", weight,
      base64(file));
}

std::string font_faces() {
  return font_face(400, embedded(roofline_page_font_regular_begin, roofline_page_font_regular_end)) +
         font_face(600, embedded(roofline_page_font_semibold_begin, roofline_page_font_semibold_end));
}

/// The chart's colours follow the page's theme: dark where the reader chose it, or where the system did
/// and the reader didn't choose light. Paper is white in any theme.
std::string chart_themes() {
  return "@media screen{\n" + theme_css(Theme::dark, ":root[data-theme=dark] ") +
         "\n@media(prefers-color-scheme:dark){" + theme_css(Theme::dark, ":root[data-theme=auto] ") + "}\n}\n";
}

const std::string& style_sheet() {
  static const std::string kStyle = font_faces() + std::string(page_css()) + chart_themes();
  return kStyle;
}

std::string policy() {
  return fmt::format(
      "default-src 'none'; style-src '{}'; script-src '{}'; img-src data:; font-src data:; base-uri 'none'; "
      "form-action 'none'",
      csp_hash(style_sheet()), csp_hash(page_js()));
}

std::string findings_list(const Report& report) {
  std::string html = "<section id=\"summary\" aria-label=\"Findings\">\n<ul class=\"findings\">\n";
  for (const std::string& sentence : findings(report)) html += fmt::format("<li>{}</li>\n", escape_html(sentence));
  return html + "</ul>\n</section>\n";
}

std::string chart(const Report& report) {
  return fmt::format(
      "<section id=\"chart\" aria-label=\"Roofline chart\">\n<div class=\"scroll\" id=\"chart-scroll\">\n{}</div>\n"
      "<p class=\"hint\" hidden>Hover a point, a ceiling or a row for its figures. Tab to the chart, then walk the "
      "points "
      "with the arrow keys; Enter goes to the row. Click a legend entry to hide its family.</p>\n</section>\n",
      render_svg(report));
}

std::string embedded_json(const Report& report) {
  const std::string json = report_to_json(report).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return fmt::format("<script type=\"application/json\" id=\"report\">{}</script>\n", escape_script_json(json));
}

}  // namespace

std::string render_html(const Runs& runs) {
  const Report& report = runs.last();
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\" data-theme=\"auto\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"roofline {}\">\n"
      "<title>{} \u2014 roofline</title>\n<style>{}</style>\n</head>\n<body>\n",
      policy(), escape_html(report.invocation.tool_version),
      escape_html(shorten(clean_line(report.machine.device.name), 80)), style_sheet());
  html += html_header(report) + "<main>\n" + findings_list(report) + chart(report) + html_kernels(report) +
          html_times(report) + html_machine(report) + html_method(report) + "</main>\n" + html_mark_shapes(report);
  html +=
      html_cards(report) + "<div id=\"live\" class=\"unseen\" aria-live=\"polite\"></div>\n" + embedded_json(report);
  html += fmt::format("<script>{}</script>\n</body>\n</html>\n", page_js());
  return html;
}

}  // namespace roofline
