// The top of the page: what was run, what came out, in words.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "render/html/escape.hpp"
#include "render/html/sections.hpp"
#include "report/findings.hpp"
#include "report/profile_findings.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {

std::string html_title(const Runs& runs) {
  std::string name = shorten(clean_line(runs.last().machine.device.name), 80);
  if (const auto& profile = runs.last().profile) name = shorten(program_name(*profile), 80) + " on " + name;
  return runs.several() ? fmt::format("{}: {} runs", name, runs.size()) : name;
}

std::string html_header(const Runs& runs) {
  const Report& report = runs.last();
  std::vector<std::string> parts = headline(report);
  if (!report.profile)
    parts.push_back(fmt::format("{} {}", report.points.size(), report.points.size() == 1 ? "kernel" : "kernels"));
  if (!report.invocation.suite.empty() && !report.profile)
    parts.push_back("suite " + shorten(clean_line(report.invocation.suite), 40));
  if (!report.invocation.started_at.empty()) parts.push_back(html_time(report.invocation.started_at));
  std::string facts;
  for (const std::string& part : parts) {
    facts += fmt::format("{}<span>{}</span>", facts.empty() ? "" : " \u00b7 ", escape_html(part));
  }
  std::string html =
      fmt::format("<header>\n<div><h1><bdi>{}</bdi> <span>\u2014 roofline</span></h1>\n<p class=\"sub\">{}</p></div>\n",
                  escape_html(html_title(runs)), facts);
  html +=
      "<div class=\"tools\" hidden><button type=\"button\" id=\"theme\">Theme: auto</button>"
      "<button type=\"button\" id=\"save-svg\">SVG</button><button type=\"button\" id=\"save-png\">PNG</button>"
      "<button type=\"button\" id=\"save-csv\">CSV</button><button type=\"button\" id=\"save-json\">JSON</button>"
      "</div>\n</header>\n";
  if (report.cancelled || !report.notes.empty()) {
    html += "<aside class=\"notes\" aria-label=\"Notes\">\n";
    if (report.cancelled) html += "<p><strong>Cancelled.</strong> Only what was measured until then is shown.</p>\n";
    for (const std::string& note : report.notes) html += fmt::format("<p>{}</p>\n", escape_html(note));
    html += "</aside>\n";
  }
  return html;
}

}  // namespace roofline
