// report.md: what a report says, for a pull request or an issue. GitHub's dialect; nothing in it is HTML.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/render.hpp"
#include "report/text.hpp"

namespace roofline {
namespace {

/// Text that Markdown shows as it is, also within a table's cell.
std::string escape(std::string_view text) {
  std::string result;
  for (const char c : clean_line(text)) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '&') {
      result += "&amp;";
    } else {
      if (std::string_view("\\`*_[]|~#>").find(c) != std::string_view::npos) result += '\\';
      result += c;
    }
  }
  return result;
}

void append_row(std::string& text, const std::vector<std::string>& cells) {
  text += '|';
  for (const std::string& cell : cells) text += ' ' + cell + " |";
  text += '\n';
}

std::string limit_cell(const Ceiling& ceiling) {
  if (!ceiling.limit) return kAbsent;
  return fmt::format("{} of {}", percent(ceiling.value / ceiling.limit->value), escape(ceiling.limit->basis));
}

std::string audit_cell(const Ceiling& ceiling) {
  if (!ceiling.suspect()) return ceiling.audit.status() == CheckStatus::pass ? "pass" : "not run";
  std::string failed;
  for (const Check& check : ceiling.audit.checks) {
    if (check.status != CheckStatus::fail) continue;
    failed += fmt::format("{}{} ({})", failed.empty() ? "" : "; ", escape(check.name), escape(check.detail));
  }
  return "**suspect**: " + failed;
}

std::string power_cell(const Power& power, CeilingKind kind) {
  if (!power.watts) return kAbsent;
  std::string text = si(*power.watts, "W");
  if (power.joules_per_unit) text += ", " + energy(*power.joules_per_unit, kind);
  if (power.limiter && !power.limiter->empty()) text += ", " + escape(*power.limiter);
  return text;
}

std::string origin_cell(const Ceiling& ceiling) {
  std::string text = escape(ceiling.origin);
  if (!ceiling.instruction.empty()) text += ": " + escape(ceiling.instruction);
  if (!ceiling.variant.empty()) text += fmt::format("{}{}", text.empty() ? "" : ", ", escape(ceiling.variant));
  return ceiling.below_peak.empty() ? text : fmt::format("{} ({})", text, escape(ceiling.below_peak));
}

void append_ceilings(std::string& text, const Machine& machine, Role role) {
  append_row(text, {"Ceiling", "Value", "95 %", "Of its limit", "Regime", "Clock", "Power", "Origin", "Audit"});
  text += "|:--|--:|--:|:--|:--|--:|:--|:--|:--|\n";
  for (const Ceiling& ceiling : machine.ceilings) {
    if (ceiling.role != role) continue;
    append_row(text, {escape(ceiling.name), ceiling_value(ceiling), plus_minus(ceiling.value, ceiling.ci95),
                      limit_cell(ceiling), std::string(to_string(ceiling.regime)),
                      ceiling.clocks.core_hz ? si(*ceiling.clocks.core_hz, "Hz") : kAbsent,
                      power_cell(ceiling.power, ceiling.kind), origin_cell(ceiling), audit_cell(ceiling)});
  }
}

void append_machine(std::string& text, const Machine& machine) {
  text += "\n## Machine\n\n";
  append_ceilings(text, machine, Role::roof);
  const bool references = std::any_of(machine.ceilings.begin(), machine.ceilings.end(),
                                      [](const Ceiling& ceiling) { return ceiling.role == Role::reference; });
  if (references) {
    text += "\nFor comparison, not roofs:\n\n";
    append_ceilings(text, machine, Role::reference);
  }
  if (!machine.sweeps.empty()) text += '\n';
  for (const Sweep& sweep : machine.sweeps) {
    text += fmt::format("- {}: {}\n", escape(sweep.name), escape(sweep_sentence(sweep)));
  }
  if (machine.idle_watts) text += fmt::format("\nIdle power: {}\n", si(*machine.idle_watts, "W"));
  if (!machine.unmeasured.empty()) text += "\nNot measured:\n\n";
  for (const Unmeasured& missing : machine.unmeasured) {
    text += fmt::format("- {}: {}\n", escape(missing.name), escape(missing.reason));
  }
}

std::string change_value(const CeilingChange& change, double value) {
  return value > 0 ? ceiling_value(value, change.kind) : std::string(kAbsent);
}

std::string rate_cell(const Point& point, Level memory) {
  if (!point.time) return kAbsent;
  return point.performance() > 0 ? rate(point.performance(), CeilingKind::compute)
                                 : rate(point.bandwidth(memory), CeilingKind::bandwidth);
}

std::string verification_cell(const Point& point) {
  if (!point.verification) return "not run";
  return point.verification->passed ? "pass" : "**fail**";
}

void append_results(std::string& text, const Report& report) {
  const Level memory = main_memory(report.machine.device.kind);
  text += "\n## Kernels\n\n";
  append_row(text, {"Kernel", "Time", "95 %", "Performance", "Bandwidth", "AI", "Ridge", "Of the roof", "Bound",
                    "Limited by", "Verified"});
  text += "|:--|--:|--:|--:|--:|--:|--:|--:|:--|:--|:--|\n";
  for (const Point& point : report.points) {
    const bool timed = point.time.has_value();
    append_row(
        text, {escape(point_name(point)), timed ? duration(point.time->median) : std::string(to_string(point.status)),
               timed ? plus_minus(point.time->median, point.time->ci95) : kAbsent, rate_cell(point, memory),
               timed ? rate(point.bandwidth(memory), CeilingKind::bandwidth) : kAbsent,
               intensity(point.bound.arithmetic_intensity), number(point.bound.ridge, 3),
               percent(point.fraction_of_roof()) + (point.above_roof() ? " **above**" : ""),
               std::string(to_string(point.bound.label)),
               escape(limit_label(point.bound)) + (point.bound.suspect ? " (suspect)" : ""), verification_cell(point)});
  }
}

void append_reasons(std::string& text, const Report& report) {
  std::string reasons;
  for (const Point& point : report.points) {
    if (point.reason.empty()) continue;
    reasons += fmt::format("- {}: {}: {}\n", escape(point_name(point)), to_string(point.status), escape(point.reason));
  }
  if (!reasons.empty()) text += "\nWithout a time:\n\n" + reasons;
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
  std::string text = fmt::format("# Roofline of {}\n\n", escape(report.machine.device.name));
  std::string line;
  for (const std::string& part : headline(report.machine)) line += (line.empty() ? "" : " · ") + escape(part);
  text += fmt::format("{}{}suite {} · {}\n\n", line, line.empty() ? "" : " · ", escape(report.invocation.suite),
                      escape(report.invocation.started_at));
  for (const std::string& sentence : findings(report)) text += "- " + escape(sentence) + "\n";
  for (const std::string& note : report.notes) text += "- Note: " + escape(note) + "\n";
  append_results(text, report);
  append_reasons(text, report);
  append_machine(text, report.machine);
  text += "\n## How to reproduce\n\n";
  text += fmt::format("roofline {}, on {}.\n", escape(report.invocation.tool_version), escape(report.machine.host));
  append_code(text, "sh", command_line(report.invocation.command));
  if (!report.invocation.suite_text.empty()) append_code(text, "yaml", clean(report.invocation.suite_text));
  return text;
}

std::string render_machine_markdown(const Machine& machine) {
  std::string text =
      fmt::format("# {}\n\nCalibrated {} by roofline {}{}.\n", escape(machine.device.name), escape(machine.measured_at),
                  escape(machine.tool_version), machine.quick ? " (quick: wider intervals)" : "");
  append_machine(text, machine);
  return text;
}

std::string render_changes_markdown(const std::vector<CeilingChange>& changes, const std::string& before,
                                    const std::string& now) {
  std::string text = fmt::format("# {} against {}\n\n", escape(now), escape(before));
  append_row(text, {"Ceiling", "Regime", "Before", "Now", "Ratio", "95 %", "Change"});
  text += "|:--|:--|--:|--:|--:|--:|:--|\n";
  for (const CeilingChange& change : changes) {
    const bool differs = change.change != Change::same;
    append_row(text,
               {escape(change.name), std::string(to_string(change.regime)), change_value(change, change.before),
                change_value(change, change.now), number(change.ratio), plus_minus(change.ratio, change.ratio_ci95),
                fmt::format("{}{}{}", differs ? "**" : "", to_string(change.change), differs ? "**" : "")});
  }
  return text;
}

}  // namespace roofline
