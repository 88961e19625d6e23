#include "render/projection_render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "render/html/escape.hpp"
#include "render/html/page.hpp"
#include "render/markdown_text.hpp"
#include "render/projection_tables.hpp"
#include "report/titles.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostProjected = 20, kMostOnPage = 300;

const Projection& first_of(const Projections& of) { return of.projections[ranked(of).front()]; }

ChartOptions chart_options(const Projections& of) {
  ChartOptions options;
  options.projected = true;
  options.subtitle = projection_headline(of.report, of.projections.front());
  return options;
}

/// The report, and as it would be on the first machine that was asked for.
std::vector<Report> runs_of(const Projections& of) {
  return {of.report, projected_report(of.report, of.projections.front(), of.machines.front())};
}

std::string html_chart_section(const Projections& of) {
  const Projection& first = of.projections.front();
  const auto [from, to] = names_apart(of.report.machine.device.name, first.machine);
  const std::string there = first.own ? "with these changes" : "projected on " + to;
  return fmt::format(
      "<section id=\"chart\" aria-label=\"Roofline chart\">\n<h2>Both machines' rooflines</h2>\n<p "
      "class=\"lead\">Hollow: measured on {}. Solid: {}. An arrow leads from hollow to solid; a hollow mark without "
      "one is not projected. Each machine has the lines of its colour.</p>\n<div "
      "id=\"chart-scroll\">{}</div></section>\n",
      escape_html(from), escape_html(there), html_still_chart(runs_of(of), chart_options(of)));
}

std::string html_section(std::string_view id, const std::string& title, const std::string& content) {
  return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", id, escape_html(title), content);
}

std::string html_body(const Projections& of) {
  const Projection& first = of.projections.front();
  std::string html = fmt::format(
      "<header><div><h1><bdi>{}</bdi> <span>\u2014 projection</span></h1>\n<p class=\"sub\">{}</p></div></header>\n"
      "<main>\n<section id=\"answer\"><h2 class=\"answer\">{}</h2>\n",
      escape_html(projection_title(of.report)), html_time(of.report.invocation.started_at),
      escape_html(projection_headline(of.report, first)));
  if (const std::string step = projected_step_text(first); !step.empty())
    html += fmt::format("<p class=\"rest\">{}</p>\n", escape_html(step));
  std::vector<std::string> findings = limit_change_texts(of.report, first);
  std::ranges::copy(projection_notes(of, kMostOnPage), std::back_inserter(findings));
  html += html_list("findings", findings) + "</section>\n";
  html += html_chart_section(of);
  if (has_ranking(of)) {
    html += html_section("machines", "Machines, " + ranking_title(of.ranking),
                         html_table(table_of_machines(of), "machines"));
  }
  const std::string where = first.own ? "with these changes" : "on " + short_device_name(first.machine);
  html += html_section("rows", "Kernels " + where + ", the longest first",
                       html_table(table_of_rows(of.report, first, kMostOnPage), "rows"));
  const TextTable unprojected = table_of_unprojected(of.report, first, kMostOnPage);
  if (!unprojected.rows.empty()) {
    html += html_section("unprojected", "Not projected", html_table(unprojected, "unprojected"));
  }
  return html + "</main>\n";
}

}  // namespace

std::string render_projections_terminal(const Projections& of, const TerminalStyle& style) {
  const Projection& first = first_of(of);
  std::string text = wrapped("", for_terminal(projection_title(of.report), style), style) + '\n';
  text += wrapped("", for_terminal(projection_headline(of.report, first), style), style);
  if (const std::string step = projected_step_text(first); !step.empty())
    text += wrapped("", for_terminal(step, style), style);
  for (const std::string& change : limit_change_texts(of.report, first))
    text += wrapped("", for_terminal(change, style), style);
  text += '\n';
  if (has_ranking(of)) text += terminal_table(table_of_machines(of), style) + '\n';
  const std::string where = (first.own ? "With these changes to " : "On ") + clean_line(first.machine);
  text += inked(for_terminal(shorten(where, style.columns), style), Ink::bold, style) + '\n' +
          terminal_table(table_of_rows(of.report, first, kMostProjected), style) + '\n';
  for (const std::string& note : projection_notes(of, kMostProjected))
    text += wrapped("! ", for_terminal(note, style), style);
  return text;
}

std::string render_projections_markdown(const Projections& of) {
  const Projection& first = first_of(of);
  std::string text = "# Projection of " + escape_markdown(projection_title(of.report)) + "\n\n";
  text += escape_markdown(projection_headline(of.report, first)) + "\n\n";
  if (const std::string step = projected_step_text(first); !step.empty()) text += escape_markdown(step) + "\n\n";
  for (const std::string& change : limit_change_texts(of.report, first)) text += escape_markdown(change) + "\n\n";
  text += markdown_table(table_of_machines(of)) + "\n";
  text += "## On " + escape_markdown(clean_line(first.machine)) + "\n\n" +
          markdown_table(table_of_rows(of.report, first, kMostProjected)) + '\n';
  for (const std::string& note : projection_notes(of, kMostProjected)) text += "- " + escape_markdown(note) + "\n";
  return text;
}

std::string render_projections_html(const Projections& of) {
  const Projection& first = of.projections.front();
  const std::string style = html_chart_style() + html_card_titles(table_of_machines(of), "machines") +
                            html_card_titles(table_of_rows(of.report, first, 0), "rows") +
                            html_card_titles(table_of_unprojected(of.report, first, 0), "unprojected");
  return html_still_page(projection_title(of.report), of.report.invocation.tool_version, style, html_body(of));
}

std::string render_projection_chart(const Projections& of, const DrawChart& draw) {
  const std::vector<Report> runs = runs_of(of);
  return draw(runs, chart_options(of));
}

}  // namespace roofline
