// report.html: one file that needs no network and runs nothing but its own script, complete and readable
// without it. The parts are the other files of this folder, the drawing is the chart's, the look is assets/page.css.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "render/chart/palette.hpp"
#include "render/compress.hpp"
#include "render/html/escape.hpp"
#include "render/html/marks.hpp"
#include "render/html/page.hpp"
#include "render/html/profile_sections.hpp"
#include "render/html/sections.hpp"
#include "render/html/sha256.hpp"
#include "render/render.hpp"
#include "report/diagnosis/verdict.hpp"
#include "report/findings.hpp"
#include "report/json/json.hpp"
#include "report/profile_findings.hpp"
#include "report/titles.hpp"

extern "C" {
extern const char roofline_profile_css_begin[], roofline_profile_css_end[];  // NOLINT(*-identifier-naming)
extern const char roofline_unpack_js_begin[], roofline_unpack_js_end[];      // NOLINT(*-identifier-naming)
extern const char roofline_suite_js_begin[], roofline_suite_js_end[];        // NOLINT(*-identifier-naming)
extern const char roofline_profile_js_begin[], roofline_profile_js_end[];    // NOLINT(*-identifier-naming)
}

namespace roofline {
namespace {

std::string_view unpack_js() { return std::string_view(roofline_unpack_js_begin, roofline_unpack_js_end); }

/// The page of a suite has no script for timelines.
std::string_view page_js(bool of_program) {
  return of_program ? std::string_view(roofline_profile_js_begin, roofline_profile_js_end)
                    : std::string_view(roofline_suite_js_begin, roofline_suite_js_end);
}

/// Compressed and encoded once for each process.
const std::string& packed_js(bool of_program) {
  if (of_program) {
    static const std::string packed = base85(compressed(page_js(true)));
    return packed;
  }
  static const std::string packed = base85(compressed(page_js(false)));
  return packed;
}

/// The chart's elements have their colours from here: "text.s-bg" are letters with a halo, "s-none" what only a pointer
/// finds.
std::string style_sheet(bool of_program, const Comparison* comparison) {
  std::string css =
      html_letters() + theme_css(Theme::light) + "text.s-bg{paint-order:stroke}.s-none{stroke:#fff;stroke-opacity:0}\n";
  css += html_base_style();
  if (of_program) css += std::string_view(roofline_profile_css_begin, roofline_profile_css_end);
  if (comparison != nullptr) css += html_changes_css(*comparison);
  return css + html_kernels_css(of_program) + html_machine_css() + html_counters_css();
}

/// Where the system is dark, or the reader chose it: the page's script moves the sheet's media.
std::string dark_style_sheet() { return std::string(html_dark_style()) + theme_css(Theme::dark); }

std::string policy(bool of_program, const std::string& style) {
  return fmt::format(
      "default-src 'none'; style-src '{}' '{}'; script-src '{}' '{}'; img-src data:; font-src data:; base-uri 'none'; "
      "form-action 'none'",
      csp_hash(style), csp_hash(dark_style_sheet()), csp_hash(unpack_js()), csp_hash(page_js(of_program)));
}

/// Facts about the run. Warnings are in the header, hotspots in their own section.
std::string facts_list(const Report& report) {
  std::string items;
  for (const Finding& fact : run_facts(report)) items += fmt::format("<li>{}</li>\n", html_sentences(fact.text));
  return "<section id=\"summary\" aria-label=\"Findings\">\n<ul class=\"findings\">\n" + items + "</ul>\n</section>\n";
}

constexpr const char* kChartControls =
    "<div class=\"zoom\" role=\"group\" aria-label=\"Chart\" hidden><button type=\"button\" id=\"all-roofs\" "
    "aria-pressed=\"false\" title=\"Draw roofs that no kernel uses as strongly as the others\">All roofs</button>"
    "<button type=\"button\" id=\"zoom-in\">Zoom in</button>"
    "<button type=\"button\" id=\"zoom-out\">Zoom out</button>"
    "<button type=\"button\" id=\"zoom-reset\">Reset</button></div>\n";

constexpr const char* kHint =
    "<details class=\"hint\" hidden><summary>How to use the chart</summary><p>Hover a point, a ceiling or a row for "
    "its figures; click to select it. Zoom: + \u2212 0, Ctrl + wheel or double click. Pan: drag. Keyboard: Tab to the "
    "chart, arrow keys between points, Enter to the row. Click a legend entry or a ceiling to hide it.</p></details>\n";

/// Hollow and filled marks, and the lines of two machines: the narrow chart has no room for the key of the wide one.
std::string runs_key(const Runs& runs) {
  if (!runs.several()) return {};
  const std::string &first = runs.base().machine.device.name, &last = runs.last().machine.device.name;
  const bool machines = first != last;
  const auto [before, now] = machines ? names_apart(first, last) : std::pair<std::string, std::string>("before", "now");
  const auto entry = [&](bool filled, const std::string& name) {
    const std::string line = machines ? fmt::format("<path class=\"s-roof-{}\" d=\"M14 7h14\" stroke-width=\"2\"/>",
                                                    filled ? "main" : "other")
                                      : "";
    return fmt::format(
        "<li><svg viewBox=\"0 0 {0} 14\" width=\"{0}\" height=\"14\" aria-hidden=\"true\">"
        "<circle class=\"s-muted f-{1}\" cx=\"6\" cy=\"7\" r=\"4.5\" stroke-width=\"1.6\"/>{2}</svg>{3}{4}\n",
        machines ? 28 : 14, filled ? "muted" : "bg", line, filled ? "filled: " : "hollow: ", html_name(name, 40));
  };
  return "<ul class=\"parts legend runs-key\">\n" + entry(false, before) + entry(true, now) + "</ul>\n";
}

std::string chart(const Runs& runs, const ChartDrawing& drawing, const Marks& marks) {
  return fmt::format(
      "<section id=\"chart\" aria-label=\"Roofline chart\">\n{}{}<div id=\"chart-scroll\">\n{}</div>\n{}{}"
      "</section>\n",
      html_chart_lead(runs.last()), kChartControls, drawing.svg_for_page(), marks.legend() + runs_key(runs), kHint);
}

/// The charts for windows that are narrower than the page: of a phone, of a tablet. The script takes one of them in
/// place of the wide one, whose letters would be too small there.
std::string narrow_charts(const Runs& runs, const ChartDrawing& drawing) {
  struct Narrow {
    int width, height;
    bool plot_only;
  };
  std::string charts;
  for (const Narrow& narrow : {Narrow{358, 400, true}, Narrow{752, 480, false}}) {
    ChartOptions options = drawing.options();
    options.width = narrow.width;
    options.height = narrow.height;
    options.plot_only = narrow.plot_only;
    charts += ChartDrawing(runs, options).svg_beside();
  }
  return fmt::format("<script type=\"application/octet-stream\" id=\"narrow-charts\">{}</script>\n",
                     base85(compressed(charts)));
}

/// The communication roofline, as a picture: selections in the chart do not apply to it.
std::string network_chart(const Runs& runs) {
  if (!has_network_chart(runs.last())) return {};
  const ChartOptions options{.of = Intensity::network};
  return fmt::format(
      "<section id=\"network\" aria-label=\"Communication roofline\">\n<h2>Communication roofline</h2>\n<p>FLOPs per "
      "byte over a rank's link, as bus bandwidth counts bytes. Left of the ridge a kernel is "
      "network-bound.</p>\n<img src=\"data:image/svg+xml;base64,{}\" alt=\"Communication roofline: FLOP/s of each "
      "kernel over FLOPs per byte on the network\" width=\"{}\" height=\"{}\">\n</section>\n",
      base64(render_svg(runs, options)), options.width, options.height);
}

/// A section that is folded at first.
std::string folded(const char* id, const char* title, const std::string& content) {
  if (content.empty()) return {};
  return fmt::format("<details class=\"more\" id=\"{}\"><summary>{}</summary>\n{}</details>\n", id, title, content);
}

/// Links to those sections that the page has.
std::string contents(const std::string& body) {
  static constexpr std::pair<const char*, const char*> kParts[] = {{"changes", "What changed"},
                                                                   {"spend", "Where to spend time"},
                                                                   {"time", "Timeline"},
                                                                   {"memory", "Memory"},
                                                                   {"flames", "Flame graphs"},
                                                                   {"chart", "Chart"},
                                                                   {"network", "Network"},
                                                                   {"steps", "Steps"},
                                                                   {"host", "Host"},
                                                                   {"ranks", "By rank"},
                                                                   {"lines", "Lines"},
                                                                   {"modules", "Modules"},
                                                                   {"ranges", "Ranges"},
                                                                   {"code", "Source lines"},
                                                                   {"kernels", "Kernels"},
                                                                   {"verdicts", "Verdicts"},
                                                                   {"copies", "Copies"},
                                                                   {"calls", "Calls"},
                                                                   {"evidence", "Counters"},
                                                                   {"device", "Machine"},
                                                                   {"about", "Method"}};
  std::string html = "<nav class=\"toc\" aria-label=\"On this page\">\n";
  for (const auto& [id, title] : kParts) {
    if (body.find(fmt::format(" id=\"{}\"", id)) != std::string::npos)
      html += fmt::format("<a href=\"#{}\">{}</a>\n", id, title);
  }
  return html + "</nav>\n";
}

/// The sections, from the summary to the details.
std::string body_of(const Runs& runs, const ChartDrawing& drawing, const Marks& marks, const Comparison* comparison) {
  const Report& report = runs.last();
  const std::vector<Verdict> judged = verdicts(report);
  const bool of_host = is_of_host(report);
  const bool has_chart = !of_host || !report.machine.ceilings.empty();
  std::string html = html_answer(report, judged, comparison);
  if (comparison != nullptr && has_chart) html += chart(runs, drawing, marks) + network_chart(runs);
  if (comparison != nullptr) html += html_changes(runs, *comparison);
  html += html_hotspots(report, judged) + facts_list(report);
  if (report.profile) html += html_timeline(report) + html_memory(report);
  if (of_host) html += html_host(report);
  if (report.profile) html += html_flames(report);
  if (comparison == nullptr && has_chart) html += chart(runs, drawing, marks) + network_chart(runs);
  if (report.profile) html += html_steps(report) + html_ranks(report) + html_lines(report) + html_trees(report);
  if (report.profile && !of_host) html += html_host(report);
  if (report.profile) html += html_code(report);
  html += html_kernels(report, marks, judged) + html_verdicts(report, judged);
  if (report.profile) html += html_copies(report) + html_calls(report);
  html += folded("evidence", "Counters, and time by resource", html_counters(report) + html_times(report, marks));
  html +=
      folded("device", "Machine: roofs, audits, sweeps", html_machine(report.machine) + html_sweeps(report.machine));
  html += folded("about", "Method, terms, how to reproduce",
                 (report.profile ? html_recording(report) : "") + html_method(report) + html_glossary());
  return html;
}

std::string packed_data(const char* id, const char* format, const std::string& text) {
  return fmt::format("<script type=\"application/octet-stream\" id=\"{}\" data-format=\"{},zlib,base85\">{}</script>\n",
                     id, format, base85(compressed(text)));
}

/// For downloads and for details that the tables leave out: the run, or an array of all runs, and the rows of the last.
std::string embedded_data(const Runs& runs) {
  const auto dump = [](const Report& report) {
    return report_to_json(report).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  std::string json = dump(runs[0]);
  for (std::size_t i = 1; i < runs.size(); ++i) json += "," + dump(runs[i]);
  return packed_data("report", "json", runs.several() ? "[" + json + "]" : json) +
         packed_data("csv", "csv", render_csv(runs.last()));
}

}  // namespace

std::string render_html(const Runs& runs) { return render_html(runs, ChartDrawing(runs)); }

std::string render_html(const Runs& runs, const ChartDrawing& drawing) {
  if (!runs.several()) return render_html(runs, drawing, nullptr);
  const Comparison comparison = comparison_of(runs);
  return render_html(runs, drawing, &comparison);
}

std::string render_html(const Runs& runs, const ChartDrawing& drawing, const Comparison* comparison) {
  const Report& report = runs.last();
  const bool of_program = report.profile.has_value();
  const Marks marks(runs);
  const std::string style = style_sheet(of_program, comparison);
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\" data-theme=\"auto\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"roofline {}\">\n"
      "<title>{} \u2014 roofline</title>\n<style>{}</style>\n<style id=\"dark\" media=\"screen and "
      "(prefers-color-scheme:dark)\">{}</style>\n</head>\n<body>\n",
      policy(of_program, style), escape_html(report.invocation.tool_version), escape_html(html_title(runs)), style,
      dark_style_sheet());
  const std::string body = body_of(runs, drawing, marks, comparison);
  html += html_header(runs) + contents(body) + "<main>\n" + body + "</main>\n" + marks.shapes();
  html +=
      "<div id=\"card\" class=\"card\" aria-hidden=\"true\" hidden></div>\n"
      "<div id=\"live\" class=\"unseen\" aria-live=\"polite\"></div>\n" +
      embedded_data(runs);
  if (body.find("class=\"roofline-chart\"") != std::string::npos) html += narrow_charts(runs, drawing);
  html += fmt::format(
      "<script type=\"application/octet-stream\" id=\"code\">{}</script>\n"
      "<script>{}</script>\n</body>\n</html>\n",
      packed_js(of_program), unpack_js());
  return html;
}

}  // namespace roofline
