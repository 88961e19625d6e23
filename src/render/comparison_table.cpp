// A comparison for people: the table of a terminal, and Markdown for a pull request.
#include <fmt/format.h>

#include "render/markdown_text.hpp"
#include "render/render.hpp"
#include "render/terminal/table.hpp"
#include "report/findings.hpp"
#include "report/profile_findings.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

std::string title_of(const Report& report) {
  const std::string what = report.profile ? program_name(*report.profile) : "suite " + report.invocation.run_name;
  return fmt::format("{} · {} · {}", report.machine.device.name, what, report.invocation.started_at);
}

std::string time_of(const Point* point) {
  return point != nullptr && point->time ? duration(point->time->median) : kAbsent;
}

Ink ink_of(const Comparison& comparison, const PointChange& change) {
  if (comparison.is_regression(change)) return Ink::bad;
  if (change.change == Change::slower) return Ink::warn;
  return change.change == Change::faster ? Ink::good : Ink::dim;
}

}  // namespace

std::string render_comparison_terminal(const Comparison& comparison, const TerminalStyle& style) {
  const auto line = [&](std::string_view first, const std::string& text) {
    return wrapped(first, for_terminal(clean_line(text), style), style);
  };
  std::string text = line("before  ", title_of(*comparison.base)) + line("now     ", title_of(*comparison.now)) + "\n";
  std::vector<TerminalColumn> columns = {
      {"kernel", false, 0, true, 20}, {"before", true, 0, false}, {"now", true, 0, false}, {"ratio", true, 0, false},
      {"95 %", true, 1, false},       {"", false, 0, false},      {"", false, 2, false}};
  const bool programs = comparison.of_programs();
  if (programs) columns.insert(columns.end() - 2, {"in total", true, 0, false});
  TerminalTable table(columns);
  for (const PointChange* change : worst_first(comparison)) {
    std::vector<Cell> row = {
        {point_name(comparison.row(*change))},
        {time_of(comparison.before(*change))},
        {time_of(comparison.after(*change))},
        {ratio_text(*change)},
        {ratio_interval(*change), Ink::dim},
        {verdict(comparison, *change), ink_of(comparison, *change)},
        {std::string(pass_or_fail(comparison, *change)), comparison.is_regression(*change) ? Ink::bad : Ink::dim}};
    if (programs) row.insert(row.end() - 2, Cell{total_change_text(comparison, *change)});
    table.add_row(std::move(row));
  }
  if (!comparison.changes.empty()) text += table.render(style) + '\n';
  for (const std::string& sentence : comparison_findings(comparison)) text += line("", sentence);
  return text;
}

std::string render_comparison_markdown(const Comparison& comparison) {
  std::string text =
      fmt::format("**{}**\n\n- Before: {}\n- Now: {}\n", escape_markdown(outcome_line(comparison)),
                  escape_markdown(title_of(*comparison.base)), escape_markdown(title_of(*comparison.now)));
  for (const std::string& sentence : comparison_findings(comparison)) text += "- " + escape_markdown(sentence) + "\n";
  for (const std::string& note : comparison_notes(*comparison.base, *comparison.now)) {
    text += "- Note: " + escape_markdown(note) + "\n";
  }
  if (comparison.changes.empty()) return text;
  text += '\n';
  const bool programs = comparison.of_programs();
  std::vector<std::string> titles = {"Kernel", "Before", "Now", "Ratio", "95 %", "Change", "Verdict"};
  if (programs) titles.emplace_back("In total");
  append_markdown_row(text, titles);
  text += programs ? "|:--|--:|--:|--:|--:|:--|:--|--:|\n" : "|:--|--:|--:|--:|--:|:--|:--|\n";
  for (const PointChange* change : worst_first(comparison)) {
    const bool differs = change->change == Change::slower || change->change == Change::faster;
    const std::string mark = differs || comparison.is_regression(*change) ? "**" : "";
    std::vector<std::string> cells = {escape_markdown(point_name(comparison.row(*change))),
                                      time_of(comparison.before(*change)),
                                      time_of(comparison.after(*change)),
                                      ratio_text(*change),
                                      ratio_interval(*change),
                                      fmt::format("{0}{1}{0}", mark, escape_markdown(verdict(comparison, *change))),
                                      std::string(pass_or_fail(comparison, *change))};
    if (programs) cells.push_back(total_change_text(comparison, *change));
    append_markdown_row(text, cells);
  }
  return text;
}

}  // namespace roofline
