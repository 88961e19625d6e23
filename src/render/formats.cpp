// The table of formats. A new one is a line here.
#include "render/formats.hpp"

#include "model/find.hpp"
#include "render/exports.hpp"
#include "render/host_exports.hpp"
#include "report/comparison/comparison.hpp"
#include "report/json/json.hpp"

namespace roofline {
namespace {

using Chart = ChartDrawing;

std::string json(const Runs& runs) { return render_json(runs.last()); }

std::string csv(const Runs& runs) {
  return runs.several() ? render_comparison_csv(comparison_of(runs)) : render_csv(runs.last());
}

std::string svg(const Runs&, const Chart& chart, const ChartOptions&) { return chart.svg(); }
std::string png(const Runs&, const Chart& chart, const ChartOptions&) { return chart.png(); }
std::string pdf(const Runs&, const Chart& chart, const ChartOptions&) { return chart.pdf(); }

/// A page's chart takes its theme and size from the reader's window, and its title from the page.
std::string html(const Runs& runs, const Chart& chart, const ChartOptions& options) {
  const ChartOptions page{.marks = options.marks};
  const bool suits = options.width == page.width && options.height == page.height && options.theme == page.theme &&
                     options.of == page.of && options.title.empty() && options.subtitle.empty();
  return suits ? render_html(runs, chart) : render_html(runs, ChartDrawing(runs, page));
}

}  // namespace

const std::vector<Format>& formats() {
  static const std::vector<Format> table = {
      {.name = "json", .file = "report.json", .render = json, .several = false},
      {.name = "csv", .file = "results.csv", .render = csv},
      {.name = "md", .file = "report.md", .render = render_markdown},
      {.name = "svg", .file = "roofline.svg", .render = svg},
      {.name = "png", .file = "roofline.png", .render = png, .may_crash = true},
      {.name = "pdf", .file = "roofline.pdf", .render = pdf, .usual = false, .may_crash = true},
      {.name = "html", .file = "report.html", .render = html},
      {.name = "trace",
       .file = "timeline.trace",
       .render = render_trace,
       .usual = false,
       .several = false,
       .recorded = true},
      {.name = "stacks",
       .file = "host.stacks",
       .render = render_stacks,
       .usual = false,
       .several = false,
       .recorded = true},
      {.name = "speedscope",
       .file = "host.speedscope",
       .render = render_speedscope,
       .usual = false,
       .several = false,
       .recorded = true},
      {.name = "prometheus",
       .file = "metrics.prometheus",
       .render = render_prometheus,
       .usual = false,
       .several = false},
      {.name = "jsonl", .file = "results.jsonl", .render = render_json_lines, .usual = false, .several = false},
  };
  return table;
}

const Format* find_format(std::string_view name) { return find_by(formats(), &Format::name, name); }

std::vector<const Format*> usual_formats(std::size_t runs) {
  std::vector<const Format*> usual;
  for (const Format& format : formats()) {
    if (format.usual && (format.several || runs == 1)) usual.push_back(&format);
  }
  return usual;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Format& format : formats()) names.emplace_back(format.name);
  return names;
}

std::vector<std::string> timed_format_names() {
  std::vector<std::string> names;
  for (const Format& format : formats()) {
    if (!format.recorded) names.emplace_back(format.name);
  }
  return names;
}

}  // namespace roofline
