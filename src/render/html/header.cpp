// The header of the page: title, subtitle and warnings.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "render/html/escape.hpp"
#include "render/html/sections.hpp"
#include "report/findings.hpp"
#include "report/profile_findings.hpp"
#include "text/text.hpp"

namespace roofline {

std::string html_title(const Runs& runs) {
  std::string name = shorten(clean_line(runs.last().machine.device.name), 80);
  if (const auto& profile = runs.last().profile) name = shorten(program_name(*profile), 80) + " on " + name;
  if (!runs.several()) return name;
  const std::string before = shorten(clean_line(runs.base().machine.device.name), 80);
  if (before != shorten(clean_line(runs.last().machine.device.name), 80)) return before + " \u2192 " + name;
  return fmt::format("{}: {} runs", name, runs.size());
}

namespace {

/// One line that unfolds where there is more than one.
std::string warnings_box(const Runs& runs) {
  std::vector<std::string> all;
  for (Finding& alarm : alarms(runs.last())) all.push_back(std::move(alarm.text));
  all.insert(all.end(), runs.last().notes.begin(), runs.last().notes.end());
  if (all.empty()) return {};
  std::string lines;
  for (const std::string& warning : all) lines += fmt::format("<li>{}\n", escape_html(warning));
  return fmt::format(
      "<aside class=\"notes\" aria-label=\"Warnings\"><details><summary><b>{}</b> <span>{}</span></summary>\n"
      "<ul>\n{}</ul></details></aside>\n",
      all.size() == 1 ? "1 warning:" : fmt::format("{} warnings, the first:", all.size()), escape_html(all.front()),
      lines);
}

}  // namespace

std::string html_header(const Runs& runs) {
  const Report& report = runs.last();
  std::vector<std::string> parts = headline(report);
  if (!report.profile)
    parts.push_back(fmt::format("{} {}", report.points.size(), report.points.size() == 1 ? "kernel" : "kernels"));
  if (!report.invocation.run_name.empty() && !report.profile)
    parts.push_back("suite " + shorten(clean_line(report.invocation.run_name), 40));
  if (!report.invocation.started_at.empty()) parts.push_back(html_time(report.invocation.started_at));
  std::string facts;
  for (const std::string& part : parts) {
    facts += fmt::format("{}<span>{}</span>", facts.empty() ? "" : " \u00b7 ", escape_html(part));
  }
  std::string html =
      fmt::format("<header>\n<div><h1><bdi>{}</bdi> <span>\u2014 roofline</span></h1>\n<p class=\"sub\">{}</p></div>\n",
                  escape_html(html_title(runs)), facts);
  html +=
      "<div class=\"tools\" hidden><button type=\"button\" id=\"copy-md\" title=\"Copy the current view, for a pull "
      "request\">Copy as Markdown</button><button type=\"button\" id=\"copy-link\" title=\"Copy a link to this view: "
      "filters, order, zoom and selection\">Copy link</button><button type=\"button\" "
      "id=\"theme\">Theme: auto</button><span class=\"save\">Save <button type=\"button\" "
      "id=\"save-svg\">SVG</button><button type=\"button\" id=\"save-png\">PNG</button><button type=\"button\" "
      "id=\"save-csv\">CSV</button><button type=\"button\" id=\"save-json\">JSON</button></span></div>\n</header>\n";
  return html + warnings_box(runs);
}

}  // namespace roofline
