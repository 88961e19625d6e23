// The top of the page: what was run, what came out, in words.
#include <fmt/format.h>

#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/html_sections.hpp"
#include "report/html_text.hpp"
#include "report/text.hpp"

namespace roofline {
namespace {

/// "2026-01-15T09:32:10Z" as people write it: "2026-01-15 09:32 UTC". Anything else is left as it is.
std::string readable_time(const std::string& iso) {
  if (iso.size() != 20 || iso[10] != 'T' || iso[19] != 'Z') return iso;
  return iso.substr(0, 10) + " " + iso.substr(11, 5) + " UTC";
}

}  // namespace

std::string html_header(const Report& report) {
  std::string facts;
  std::vector<std::string> parts = headline(report.machine);
  parts.push_back(fmt::format("{} {}", report.points.size(), report.points.size() == 1 ? "kernel" : "kernels"));
  if (!report.invocation.suite.empty()) parts.push_back("suite " + shorten(clean_line(report.invocation.suite), 40));
  if (!report.invocation.started_at.empty()) parts.push_back(readable_time(report.invocation.started_at));
  for (const std::string& part : parts) {
    facts += fmt::format("{}<span>{}</span>", facts.empty() ? "" : " \u00b7 ", escape_html(part));
  }
  std::string html =
      fmt::format("<header>\n<div><h1>{} <span>\u2014 roofline</span></h1>\n<p class=\"sub\">{}</p></div>\n",
                  html_name(report.machine.device.name, 80), facts);
  html +=
      "<div class=\"tools\" hidden><button type=\"button\" id=\"theme\">Theme: auto</button>"
      "<button type=\"button\" id=\"save-svg\">SVG</button><button type=\"button\" id=\"save-png\">PNG</button>"
      "<button type=\"button\" id=\"save-json\">JSON</button></div>\n</header>\n";
  if (report.cancelled || !report.notes.empty()) {
    html += "<aside class=\"notes\" aria-label=\"Notes\">\n";
    if (report.cancelled) html += "<p><strong>Cancelled.</strong> Only what was measured until then is shown.</p>\n";
    for (const std::string& note : report.notes) html += fmt::format("<p>{}</p>\n", escape_html(note));
    html += "</aside>\n";
  }
  return html;
}

}  // namespace roofline
