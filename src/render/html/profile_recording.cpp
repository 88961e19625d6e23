// How far a profile can be trusted: its coverage, and the overhead of recording.
#include <fmt/format.h>

#include <string>

#include "render/html/escape.hpp"
#include "render/html/profile_sections.hpp"
#include "report/profile_findings.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

std::string process_row(const ProfiledProcess& process) {
  std::string notes;
  if (process.torn)
    notes += "<small class=\"warn\">recording incomplete: records after the last write are lost</small>";
  for (const std::string& note : process.notes) notes += fmt::format("<small>{}</small>", escape_html(note));
  const auto cell = [](std::int64_t value) { return fmt::format("<td class=\"n\">{}", count(value)); };
  return fmt::format("<tr><th scope=\"row\">{}{}{}{}{}{}{}\n", html_name(process.command, 80), notes,
                     fmt::format("<td class=\"n\">{}", process.pid), cell(process.launches), cell(process.kernels),
                     cell(process.dropped), cell(process.without_time));
}

std::string processes(const Profile& profile) {
  if (profile.processes.empty()) return {};
  std::string rows;
  for (const ProfiledProcess& process : profile.processes) rows += process_row(process);
  return fmt::format(
      "<div class=\"scroll\"><table class=\"sums\"><caption class=\"unseen\">Processes of the "
      "program</caption><thead><tr>"
      "<th scope=\"col\">Process<th scope=\"col\" class=\"n\">PID<th scope=\"col\" class=\"n\">Launches"
      "<th scope=\"col\" class=\"n\">Recorded<th scope=\"col\" class=\"n\">Dropped<th scope=\"col\" "
      "class=\"n\">No timestamps</tr></thead><tbody>\n{}</tbody></table></div>\n",
      rows);
}

}  // namespace

std::string html_recording(const Report& report) {
  std::string facts;
  for (const auto& [name, text] : completeness(report)) {
    facts += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, escape_html(text));
  }
  return fmt::format(
      "<section id=\"recording\" aria-labelledby=\"recording-h\">\n<h2 id=\"recording-h\">Recording coverage and "
      "overhead</h2>\n<dl class=\"facts wide\">\n{}</dl>\n{}</section>\n",
      facts, processes(*report.profile));
}

}  // namespace roofline
