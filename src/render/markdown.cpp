// report.md: a report for a pull request or an issue, in GitHub's Markdown without HTML.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "render/ceiling_columns.hpp"
#include "render/counters_tables.hpp"
#include "render/kernel_columns.hpp"
#include "render/markdown_text.hpp"
#include "render/profile_markdown.hpp"
#include "render/render.hpp"
#include "report/comparison/comparison.hpp"
#include "report/diagnosis/verdict.hpp"
#include "report/findings.hpp"
#include "report/machine_findings.hpp"
#include "report/profile_answer.hpp"
#include "report/profile_findings.hpp"
#include "report/roofs.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

std::string ceilings_markdown(const Machine& machine, CeilingTable table, Role role = Role::roof) {
  return markdown_table(ceiling_columns(), table, ceiling_rows(machine, table, role));
}

/// Sweeps, idle power, and what could not be measured.
void append_sweeps_and_notes(std::string& text, const Machine& machine) {
  if (!machine.sweeps.empty()) text += '\n';
  for (const Sweep& sweep : machine.sweeps) {
    text += fmt::format("- {}: {}\n", escape_markdown(sweep.name), escape_markdown(sweep_sentence(sweep)));
  }
  if (machine.idle_watts) text += fmt::format("\nIdle power: {}\n", si(*machine.idle_watts, "W"));
  if (!machine.unmeasured.empty()) text += "\nNot measured:\n\n";
  for (const Unmeasured& missing : by_reason(machine.unmeasured)) {
    text += fmt::format("- {}: {}\n", escape_markdown(missing.name), escape_markdown(missing.reason));
  }
}

void append_reasons(std::string& text, const Report& report) {
  constexpr std::size_t kMostReasonLines = 100;
  std::string reasons;
  for (const Point& point : report.points) {
    if (point.reason.empty()) continue;
    const std::vector<std::string> lines = clean_lines(point.reason, kMostReasonLines);
    reasons += fmt::format("- {}: {}: {}\n", escape_markdown(point_name(point)), to_string(point.status),
                           escape_markdown(lines.front()));
    // What follows is a compiler's output: an indented block of code within the item.
    if (lines.size() > 1) reasons += '\n';
    for (std::size_t i = 1; i < lines.size(); ++i) reasons += lines[i].empty() ? "\n" : "      " + lines[i] + '\n';
    if (lines.size() > 1) reasons += '\n';
  }
  if (!reasons.empty()) text += "\nNot timed:\n\n" + reasons;
}

void append_tried(std::string& text, const Report& report) {
  std::string items;
  for (const Point& point : report.points) {
    const std::string tried = tried_text(point);
    if (!tried.empty()) items += fmt::format("- {}: {}\n", escape_markdown(point_name(point)), escape_markdown(tried));
  }
  if (!items.empty()) text += "\nConfigurations tried:\n\n" + items;
}

std::string command_line(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + clean_line(word);
  return text;
}

/// A fence longer than any run of backticks inside, so that nothing in the text can close it.
void append_code(std::string& text, std::string_view language, const std::string& code) {
  std::string fence = "```";
  while (code.find(fence) != std::string::npos) fence += '`';
  text += fmt::format("\n{}{}\n{}{}{}\n", fence, language, code, code.ends_with('\n') ? "" : "\n", fence);
}

}  // namespace

std::string render_markdown(const Runs& runs) {
  const Report& report = runs.last();
  const bool of_program = report.profile.has_value();
  const std::string subject = of_program ? program_name(*report.profile) + " on " : "";
  std::string text = fmt::format("# Roofline of {}\n\n", escape_markdown(subject + report.machine.device.name));
  const std::vector<Verdict> judged = verdicts(report);
  if (of_program) {
    text += profile_markdown_answer(report, judged);
  } else if (!report.points.empty()) {
    text += fmt::format("**{}**\n\n", escape_markdown(answer(report)));
  }
  std::string line;
  for (const std::string& part : headline(report)) line += (line.empty() ? "" : " · ") + escape_markdown(part);
  const std::string suite = of_program ? "" : fmt::format("suite {} · ", escape_markdown(report.invocation.run_name));
  text += fmt::format("{}{}{}{}\n\n", line, line.empty() ? "" : " · ", suite,
                      escape_markdown(report.invocation.started_at));
  for (const Finding& alarm : alarms(report)) text += "- **Warning**: " + escape_markdown(alarm.text) + "\n";
  for (const Finding& fact : run_facts(report)) text += "- " + escape_markdown(fact.text) + "\n";
  for (const std::string& note : report.notes) text += "- Note: " + escape_markdown(note) + "\n";
  if (runs.several()) text += "\n## Comparison\n\n" + render_comparison_markdown(comparison_of(runs));
  text += hotspots_markdown(report, judged);
  if (of_program) {
    text += profile_markdown_tables(report, judged);
  } else {
    text += "\n## Kernels\n\n" + markdown_table(kernel_columns(), report, rows_by_saving(report, judged));
    append_tried(text, report);
    append_reasons(text, report);
  }
  text += verdicts_markdown(report, judged) + counters_markdown(report);
  // Profiles of programs without a GPU need no calibration.
  if (!report.machine.ceilings.empty() || !of_program) {
    text += "\n## Machine\n\n";
    text += ceilings_markdown(report.machine, CeilingTable::report);
    append_sweeps_and_notes(text, report.machine);
  }
  text += "\n## How to reproduce\n\n";
  text += fmt::format("roofline {}, on {}.\n", escape_markdown(report.invocation.tool_version),
                      escape_markdown(report.machine.host));
  append_code(text, "sh", command_line(report.invocation.command));
  if (!report.invocation.suite_text.empty()) append_code(text, "yaml", clean(report.invocation.suite_text));
  return text;
}

std::string render_machine_markdown(const Machine& machine) {
  std::string text = fmt::format("# {}\n\nCalibrated {} by roofline {}{}.\n", escape_markdown(machine.device.name),
                                 escape_markdown(machine.measured_at), escape_markdown(machine.tool_version),
                                 machine.quick ? " (quick: wider intervals)" : "");
  const Findings findings = machine_findings(machine);
  if (!findings.empty()) text += '\n';
  for (const Finding& finding : findings) text += "- " + escape_markdown(finding.text) + "\n";
  text += "\n## Machine\n\n";
  text += ceilings_markdown(machine, CeilingTable::machine);
  if (!ceiling_rows(machine, CeilingTable::machine, Role::reference).empty())
    text +=
        "\nReference ceilings (not roofs):\n\n" + ceilings_markdown(machine, CeilingTable::machine, Role::reference);
  append_sweeps_and_notes(text, machine);
  return text;
}

std::string render_changes_markdown(const std::vector<CeilingChange>& changes, const std::string& before,
                                    const std::string& now) {
  std::string text = fmt::format("# {} compared with {}\n\n", escape_markdown(now), escape_markdown(before));
  return text + markdown_table(ceiling_change_columns(), MachineChange(), changes);
}

}  // namespace roofline
