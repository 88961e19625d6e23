// report.html: one file that needs no network and runs nothing but its own script, complete and readable
// without it. The parts come from html_*.cpp, the drawing from the chart, the look from assets/page.css.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "render/chart/palette.hpp"
#include "render/html/compress.hpp"
#include "render/html/escape.hpp"
#include "render/html/marks.hpp"
#include "render/html/profile_sections.hpp"
#include "render/html/sections.hpp"
#include "render/html/sha256.hpp"
#include "render/render.hpp"
#include "report/comparison/comparison.hpp"
#include "report/findings.hpp"
#include "report/json/json.hpp"

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
      "@font-face{{font-family:Inter;font-weight:{};src:url(data:font/woff;base64,{}) format(\"woff\")}}\n", weight,
      base64(woff(file)));
}

std::string font_faces() {
  return font_face(400, embedded(roofline_page_font_regular_begin, roofline_page_font_regular_end)) +
         font_face(600, embedded(roofline_page_font_semibold_begin, roofline_page_font_semibold_end));
}

/// The chart's colours follow the page's theme: dark where the reader chose it, or where the system did
/// and the reader didn't choose light. Paper is white in any theme.
std::string chart_themes() {
  return fmt::format(
      "@media "
      "screen{{\n:root[data-theme=dark]{{{0}}}\n@media(prefers-color-scheme:dark){{:root[data-theme=auto]{{{0}}}}}\n}}"
      "\n",
      theme_css(Theme::dark, ""));
}

const std::string& style_sheet() {
  static const std::string kStyle = font_faces() + std::string(page_css()) + html_kernels_css() + html_kinds_css() +
                                    html_machine_css() + html_counters_css() + chart_themes();
  return kStyle;
}

std::string policy() {
  return fmt::format(
      "default-src 'none'; style-src '{}'; script-src '{}'; img-src data:; font-src data:; base-uri 'none'; "
      "form-action 'none'",
      csp_hash(style_sheet()), csp_hash(page_js()));
}

/// Of several runs, what changed comes first.
std::string findings_list(const Runs& runs) {
  std::vector<std::string> sentences;
  if (runs.several()) sentences = comparison_findings(comparison_of(runs));
  for (std::string& sentence : findings(runs.last())) sentences.push_back(std::move(sentence));
  std::string html = "<section id=\"summary\" aria-label=\"Findings\">\n<ul class=\"findings\">\n";
  for (const std::string& sentence : sentences) html += fmt::format("<li>{}</li>\n", escape_html(sentence));
  return html + "</ul>\n</section>\n";
}

constexpr const char* kChartControls =
    "<div class=\"zoom\" role=\"group\" aria-label=\"Chart\" hidden><button type=\"button\" id=\"all-roofs\" "
    "aria-pressed=\"false\" title=\"Show the roofs that no kernel uses as strongly as the others\">All roofs</button>"
    "<button type=\"button\" id=\"zoom-in\" aria-label=\"Zoom in\">+</button>"
    "<button type=\"button\" id=\"zoom-out\" aria-label=\"Zoom out\">\u2212</button>"
    "<button type=\"button\" id=\"zoom-reset\">Reset</button></div>\n";

constexpr const char* kHint =
    "<p class=\"hint\" hidden>Hover a point, a ceiling or a row for its figures; click to hold it. Zoom with + \u2212 "
    "0, "
    "Ctrl + wheel or a double click, and drag to move. Tab to the chart, then walk the points with the arrow keys; "
    "Enter goes to the row. Click a legend entry or a ceiling to hide it.</p>\n";

std::string chart(const Runs& runs, const ChartDrawing& drawing) {
  const std::string lead = runs.last().profile ? html_chart_lead(runs.last()) : "";
  return fmt::format(
      "<section id=\"chart\" aria-label=\"Roofline chart\">\n{}{}<div class=\"scroll\" "
      "id=\"chart-scroll\">\n{}</div>\n{}"
      "</section>\n",
      lead, kChartControls, drawing.svg_for_page(), kHint);
}

std::string body_of_suite(const Runs& runs, const ChartDrawing& drawing, const Marks& marks) {
  const Report& report = runs.last();
  return findings_list(runs) + chart(runs, drawing) + html_changes(runs) + html_kernels(report, marks) +
         html_counters(report) + html_advice(report) + html_times(report, marks);
}

/// Each kernel's, folded: it is long, and what matters most of it is among the wins.
std::string html_evidence(const Report& report, const Marks& marks) {
  const std::string evidence = html_advice(report) + html_counters(report) + html_times(report, marks);
  if (evidence.empty()) return {};
  return "<details class=\"more\"><summary>Each kernel&#39;s evidence: diagnosis, counters, time by "
         "resource</summary>\n" +
         evidence + "</details>\n";
}

/// What a reader wants in ten seconds, in a minute, in an hour.
std::string body_of_profile(const Runs& runs, const ChartDrawing& drawing, const Marks& marks) {
  const Report& report = runs.last();
  return html_answer(report) + findings_list(runs) + html_wins(report) + html_changes(runs) + chart(runs, drawing) +
         html_lines(report) + html_trees(report) + html_kinds(report, marks) + html_copies(report) +
         html_calls(report) + html_timeline(report) + html_evidence(report, marks) + html_recording(report);
}

/// The run, or an array of all runs, for the downloads and for what the tables leave out.
std::string embedded_data(const Runs& runs) {
  const auto dump = [](const Report& report) {
    return report_to_json(report).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  std::string json = dump(runs[0]);
  for (std::size_t i = 1; i < runs.size(); ++i) json += "," + dump(runs[i]);
  return fmt::format(
      "<script type=\"application/octet-stream\" id=\"report\" data-format=\"json,zlib,base64\">{}</script>\n",
      base64(compressed(runs.several() ? "[" + json + "]" : json)));
}

}  // namespace

std::string render_html(const Runs& runs) { return render_html(runs, ChartDrawing(runs)); }

std::string render_html(const Runs& runs, const ChartDrawing& drawing) {
  const Report& report = runs.last();
  const Marks marks(runs);
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\" data-theme=\"auto\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"roofline {}\">\n"
      "<title>{} \u2014 roofline</title>\n<style>{}</style>\n</head>\n<body>\n",
      policy(), escape_html(report.invocation.tool_version), escape_html(html_title(runs)), style_sheet());
  const auto body = report.profile ? body_of_profile : body_of_suite;
  html += html_header(runs) + "<main>\n" + body(runs, drawing, marks) + html_machine(report.machine) +
          html_sweeps(report.machine) + html_method(report) + "</main>\n" + marks.shapes();
  html +=
      "<div id=\"card\" class=\"card\" aria-hidden=\"true\" hidden></div>\n"
      "<div id=\"live\" class=\"unseen\" aria-live=\"polite\"></div>\n" +
      embedded_data(runs);
  html += fmt::format("<script>{}</script>\n</body>\n</html>\n", page_js());
  return html;
}

}  // namespace roofline
