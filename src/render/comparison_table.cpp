// A comparison for people: the table of a terminal, and Markdown for a pull request.
#include <fmt/format.h>

#include <algorithm>
#include <span>

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

/// Broken at spaces, each line in bold.
std::string bold_lines(const std::string& text, const TerminalStyle& style) {
  std::string lines;
  std::string_view rest;
  const std::string broken = wrapped("", text, style);
  for (rest = broken; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1)) {
    lines += inked(rest.substr(0, rest.find('\n')), Ink::bold, style) + '\n';
  }
  return lines;
}

std::string terminal_costs(const ProgramChange& program, const TerminalStyle& style) {
  std::string text;
  for (const ShownCosts& costs : cost_tables(program)) {
    text += '\n' + inked(title_of(costs), Ink::bold, style) + '\n' +
            terminal_table(cost_columns(), costs, costs.rows, style);
  }
  return text;
}

/// Shown by a click: the summary, and Markdown.
std::string folded(const std::string& summary, const std::string& content) {
  return fmt::format("\n<details><summary>{}</summary>\n\n{}\n</details>\n", escape_xml(summary), content);
}

std::string markdown_costs(const ProgramChange& program) {
  std::string text;
  for (const ShownCosts& costs : cost_tables(program)) {
    text += folded(title_of(costs), markdown_table(cost_columns(), costs, costs.rows));
  }
  return text;
}

/// GitHub accepts 65,536 characters per comment: the rows beyond are in the CSV.
std::string markdown_rows(const Comparison& comparison, std::span<const PointChange* const> changes, std::size_t most) {
  const std::size_t shown = std::min(most, changes.size());
  const std::vector<const PointChange*> first(changes.begin(), changes.begin() + static_cast<std::ptrdiff_t>(shown));
  std::string text = markdown_table(comparison_columns(), comparison, comparison_rows(comparison, first));
  if (shown < changes.size()) text += fmt::format("\n{} more rows are in the CSV.\n", changes.size() - shown);
  return text;
}

/// What changed is a table; what did not is folded.
std::string markdown_changes(const Comparison& comparison) {
  constexpr std::size_t kMostChanged = 20, kMostFolded = 150;
  const std::vector<const PointChange*> rows = worst_first(comparison);
  const auto quiet = std::ranges::find_if(rows, [](const PointChange* change) {
    return change->change == Change::same || change->change == Change::untimed;
  });
  const std::size_t changed = static_cast<std::size_t>(quiet - rows.begin());
  const std::span all(rows);
  std::string text;
  if (changed > 0) text += '\n' + markdown_rows(comparison, all.first(changed), kMostChanged);
  if (changed < rows.size()) {
    const std::size_t unchanged = rows.size() - changed;
    text += folded(fmt::format("{} other {}", unchanged, unchanged == 1 ? "kernel" : "kernels"),
                   markdown_rows(comparison, all.subspan(changed), kMostFolded));
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
  text += '\n' + bold_lines(for_terminal(clean_line(outcome_line(comparison)), style), style);
  const auto add_findings = [&] {
    for (const std::string& sentence : comparison_details(comparison)) text += line("", sentence);
  };
  if (comparison.of_steps()) {
    text += '\n';
    add_findings();
    return text + terminal_costs(*comparison.program, style);
  }
  if (comparison.program) text += terminal_costs(*comparison.program, style);
  text += '\n';
  std::vector<const PointChange*> listed = worst_first(comparison);
  std::erase_if(listed,
                [&](const PointChange* change) { return !is_compared(*change) && !comparison.is_broken(*change); });
  if (!listed.empty()) {
    text += terminal_table(comparison_columns(), comparison, comparison_rows(comparison, listed), style) + '\n';
  }
  add_findings();  // which name the rows of one run
  return text;
}

std::string render_comparison_markdown(const Comparison& comparison) {
  std::string text = fmt::format("**{}**\n", escape_markdown(outcome_line(comparison)));
  const bool of_rows = !comparison.changes.empty() && !comparison.of_steps();
  if (of_rows) text += markdown_changes(comparison);
  text += '\n';
  for (const std::string& sentence : comparison_details(comparison)) text += "- " + escape_markdown(sentence) + "\n";
  if (comparison.program) text += markdown_costs(*comparison.program);
  std::string runs =
      fmt::format("- Before: {}\n- Now: {}\n", escape_markdown(title_of(*comparison.base, comparison.base_runs)),
                  escape_markdown(title_of(*comparison.now, comparison.now_runs)));
  for (const std::string& note : comparison_notes(*comparison.base, *comparison.now)) {
    runs += "- Note: " + escape_markdown(note) + "\n";
  }
  return text + folded("What was compared", runs);
}

}  // namespace roofline
