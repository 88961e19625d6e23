// A comparison for people: the table of a terminal, and Markdown for a pull request.
#include <fmt/format.h>

#include "render/comparison_columns.hpp"
#include "render/program_change_table.hpp"
#include "render/render.hpp"
#include "report/profile_findings.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

std::string title_of(const Report& report, std::size_t runs) {
  const std::string what = report.profile ? program_name(*report.profile) : "suite " + report.invocation.run_name;
  const std::string several = runs > 1 ? fmt::format(" and {} more", runs - 1) : "";
  return fmt::format("{} · {} · {}{}", report.machine.device.name, what, report.invocation.started_at, several);
}

std::string terminal_costs(const ProgramChange& program, const TerminalStyle& style) {
  std::string text;
  for (const ShownCosts& costs : cost_tables(program)) {
    text += '\n' + inked(title_of(costs), Ink::bold, style) + '\n' +
            terminal_table(cost_columns(), costs, costs.rows, style);
  }
  return text;
}

std::string markdown_costs(const ProgramChange& program) {
  std::string text;
  for (const ShownCosts& costs : cost_tables(program)) {
    text += fmt::format("\n### {}\n\n{}", title_of(costs), markdown_table(cost_columns(), costs, costs.rows));
  }
  return text;
}

}  // namespace

std::string render_comparison_terminal(const Comparison& comparison, const TerminalStyle& style) {
  const auto line = [&](std::string_view first, const std::string& text) {
    return wrapped(first, for_terminal(clean_line(text), style), style);
  };
  std::string text = line("before  ", title_of(*comparison.base, comparison.base_runs)) +
                     line("now     ", title_of(*comparison.now, comparison.now_runs));
  text += '\n' + inked(for_terminal(comparison_headline(comparison), style), Ink::bold, style) + '\n';
  const auto add_findings = [&] {
    for (const std::string& sentence : comparison_findings(comparison)) text += line("", sentence);
  };
  if (comparison.of_steps()) {
    text += '\n';
    add_findings();
    return text + terminal_costs(*comparison.program, style);
  }
  if (comparison.program) text += terminal_costs(*comparison.program, style);
  text += '\n';
  if (!comparison.changes.empty()) {
    text +=
        terminal_table(comparison_columns(), comparison, comparison_rows(comparison, worst_first(comparison)), style) +
        '\n';
  }
  add_findings();
  return text;
}

std::string render_comparison_markdown(const Comparison& comparison) {
  std::string text = fmt::format("**{}**\n\n- Before: {}\n- Now: {}\n", escape_markdown(outcome_line(comparison)),
                                 escape_markdown(title_of(*comparison.base, comparison.base_runs)),
                                 escape_markdown(title_of(*comparison.now, comparison.now_runs)));
  for (const std::string& sentence : comparison_findings(comparison)) text += "- " + escape_markdown(sentence) + "\n";
  for (const std::string& note : comparison_notes(*comparison.base, *comparison.now)) {
    text += "- Note: " + escape_markdown(note) + "\n";
  }
  if (comparison.program) text += markdown_costs(*comparison.program);
  if (comparison.changes.empty() || comparison.of_steps()) return text;
  return text + '\n' +
         markdown_table(comparison_columns(), comparison, comparison_rows(comparison, worst_first(comparison)));
}

}  // namespace roofline
