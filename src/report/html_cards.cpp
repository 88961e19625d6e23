// What hovering shows: one card a point and one a ceiling, written here so that numbers are formatted in one
// place. The page's script only moves them to the pointer.
#include <fmt/format.h>

#include <cmath>

#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/html_sections.hpp"
#include "report/html_text.hpp"
#include "report/text.hpp"

namespace roofline {
namespace {

void append_fact(std::string& html, const char* name, const std::string& value) {
  if (!value.empty()) html += fmt::format("<dt>{}</dt><dd>{}</dd>", name, value);
}

std::string time_facts(const Summary& time) {
  return fmt::format("{} {}<small>{} samples of {} launches, {}{}</small>", duration(time.median),
                     plus_minus(time.median, time.ci95), count(time.samples), count(time.launches_per_sample),
                     escape_html(to_string(time.stop)), time.drifting ? ", drifting" : "");
}

std::string point_card(const Point& point, std::size_t index, Level memory) {
  std::string html =
      fmt::format("<div class=\"card\" data-card=\"{}\" hidden><b>{}</b>", index, html_name(point.workload.label, 90));
  const std::string summary = point.implementation_summary.empty()
                                  ? clean_line(point.workload.implementation)
                                  : point.workload.implementation + ": " + point.implementation_summary;
  html += fmt::format("<p>{}</p><dl>", html_name(summary, 90));
  if (!point.time) {
    append_fact(html, "Status", std::string(to_string(point.status)));
    append_fact(html, "Reason", escape_html(shorten(clean_line(point.reason), 240)));
    return html + "</dl></div>\n";
  }
  append_fact(html, "Time", time_facts(*point.time));
  if (point.performance() > 0) append_fact(html, "Performance", rate(point.performance(), CeilingKind::compute));
  if (point.bandwidth(memory) > 0) {
    append_fact(html, "Bandwidth", rate(point.bandwidth(memory), CeilingKind::bandwidth));
  }
  append_fact(html, "Intensity",
              intensity(point.bound.arithmetic_intensity) + " FLOP/byte" +
                  (std::isfinite(point.bound.ridge) ? fmt::format(", ridge {}", number(point.bound.ridge, 3)) : ""));
  append_fact(html, "Bound", html_bound(point.bound));
  if (std::isfinite(point.fraction_of_roof())) {
    append_fact(html, "Of the roof",
                fmt::format("{}<small>{}{}</small>", percent(point.fraction_of_roof()), escape_html(head_room(point)),
                            point.bound.suspect ? " (suspect)" : ""));
  }
  if (point.time->clock_hz) {
    const bool carried = !point.bound.resources.empty() && point.bound.resources.front().at_clock_hz.has_value();
    append_fact(html, "Clock",
                si(*point.time->clock_hz, "Hz") + (carried ? "<small>its roof is taken at this clock</small>" : ""));
  }
  if (point.verification) {
    append_fact(html, "Verified", escape_html(shorten(clean_line(point.verification->reference), 80)));
  }
  return html + "</dl></div>\n";
}

std::string ceiling_card(const Ceiling& ceiling) {
  std::string html =
      fmt::format("<div class=\"card\" data-card-ceiling=\"{}\" hidden><b>{}</b><dl>",
                  escape_html(clean_line(ceiling_label(ceiling))), html_name(ceiling_label(ceiling), 60));
  append_fact(html, "Value", ceiling_value(ceiling) + " " + plus_minus(ceiling.value, ceiling.ci95));
  if (ceiling.limit && ceiling.limit->value > 0) {
    append_fact(html, "Of its limit",
                fmt::format("{}<small>{}</small>", percent(ceiling.value / ceiling.limit->value),
                            escape_html(ceiling.limit->basis)));
  }
  append_fact(html, "Regime", std::string(to_string(ceiling.regime)));
  if (ceiling.clocks.core_hz) append_fact(html, "Clock", si(*ceiling.clocks.core_hz, "Hz"));
  if (ceiling.power.watts) append_fact(html, "Power", si(*ceiling.power.watts, "W"));
  append_fact(html, "Origin", escape_html(ceiling.origin));
  for (const Check& check : ceiling.audit.checks) {
    if (check.status != CheckStatus::fail) continue;
    append_fact(html, "Suspect",
                fmt::format("{}<small>{}</small>", escape_html(check.name), escape_html(check.detail)));
  }
  return html + "</dl></div>\n";
}

}  // namespace

std::string html_cards(const Report& report) {
  const Level memory = main_memory(report.machine.device.kind);
  std::string html = "<div id=\"cards\" aria-hidden=\"true\">\n";
  for (std::size_t i = 0; i < report.points.size(); ++i) html += point_card(report.points[i], i, memory);
  for (const Ceiling& ceiling : report.machine.ceilings) {
    if (ceiling.role == Role::roof) html += ceiling_card(ceiling);
  }
  return html + "</div>\n";
}

}  // namespace roofline
