// The steps of a program beside their time: start-up, end, and steps that were slow.
#include <fmt/format.h>

#include <string>

#include "render/html/escape.hpp"
#include "render/html/profile_sections.hpp"
#include "report/step_findings.hpp"

namespace roofline {

std::string html_steps(const Report& report) {
  std::string facts, slow;
  for (const auto& [name, text] : run_parts(report)) {
    facts += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, escape_html(text));
  }
  if (facts.empty()) return {};
  for (const std::string& line : slow_step_lines(report)) slow += fmt::format("<li>{}\n", escape_html(line));
  if (!slow.empty()) slow = fmt::format("<h3>Slow steps</h3>\n<ul>\n{}</ul>\n", slow);
  return fmt::format(
      "<section id=\"steps\" aria-labelledby=\"steps-h\">\n<h2 id=\"steps-h\">Steps, start-up and end</h2>\n"
      "<dl class=\"facts wide\">\n{}</dl>\n{}</section>\n",
      facts, slow);
}

}  // namespace roofline
