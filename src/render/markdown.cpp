// report.md: what a report says, for a pull request or an issue. GitHub's dialect; nothing in it is HTML.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "render/counters_tables.hpp"
#include "render/markdown_text.hpp"
#include "render/profile_markdown.hpp"
#include "render/render.hpp"
#include "report/comparison/comparison.hpp"
#include "report/diagnosis/verdict.hpp"
#include "report/findings.hpp"
#include "report/machine_findings.hpp"
#include "report/network.hpp"
#include "report/profile_findings.hpp"
#include "report/roof_share.hpp"
#include "report/roofs.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

std::string limit_cell(const Ceiling& ceiling) {
  if (!ceiling.limit) return kAbsent;
  return fmt::format("{} of {}", percent(ceiling.value / ceiling.limit->value), escape_markdown(ceiling.limit->basis));
}

std::string audit_cell(const Ceiling& ceiling) {
  if (!ceiling.suspect()) return ceiling.audit.status() == CheckStatus::pass ? "pass" : "not run";
  std::string failed;
  for (const Check& check : ceiling.audit.checks) {
    if (check.status != CheckStatus::fail) continue;
    failed += fmt::format("{}{} ({})", failed.empty() ? "" : "; ", escape_markdown(check.name),
                          escape_markdown(check.detail));
  }
  return "**suspect**: " + failed;
}

std::string power_cell(const Ceiling& ceiling) {
  const Power& power = ceiling.power;
  if (!power.watts) return kAbsent;
  std::string text = si(*power.watts, "W");
  if (power.joules_per_unit) text += ", " + energy(ceiling);
  if (power.limiter && !power.limiter->empty()) text += ", " + escape_markdown(*power.limiter);
  return text;
}

std::string origin_cell(const Ceiling& ceiling) {
  std::string text = escape_markdown(ceiling.origin);
  if (!ceiling.instruction.empty()) text += ": " + escape_markdown(ceiling.instruction);
  if (!ceiling.variant.empty()) text += fmt::format("{}{}", text.empty() ? "" : ", ", escape_markdown(ceiling.variant));
  return ceiling.below_peak.empty() ? text : fmt::format("{} ({})", text, escape_markdown(ceiling.below_peak));
}

void append_ceilings(std::string& text, const Machine& machine, Role role) {
  append_markdown_row(text,
                      {"Ceiling", "Value", "95 %", "Of its limit", "Regime", "Clock", "Power", "Origin", "Audit"});
  text += "|:--|--:|--:|:--|:--|--:|:--|:--|:--|\n";
  for (const Ceiling& ceiling : machine.ceilings) {
    if (ceiling.role != role) continue;
    append_markdown_row(text,
                        {escape_markdown(ceiling.name), ceiling_value(ceiling), plus_minus(ceiling.value, ceiling.ci95),
                         limit_cell(ceiling), std::string(to_string(ceiling.regime)),
                         ceiling.clocks.core_hz ? si(*ceiling.clocks.core_hz, "Hz") : kAbsent, power_cell(ceiling),
                         origin_cell(ceiling), audit_cell(ceiling)});
  }
}

/// What a machine does under load, beside what it does in a burst.
std::string sustained_cell(const Machine& machine, const Ceiling& burst) {
  const Ceiling* sustained = machine.find(burst.name, Regime::sustained);
  if (sustained == nullptr) return kAbsent;
  std::string text = ceiling_value(*sustained);
  if (sustained->clocks.core_hz) text += ", " + si(*sustained->clocks.core_hz, "Hz");
  if (sustained->power.watts) text += ", " + si(*sustained->power.watts, "W");
  return sustained->suspect() ? text + " (**suspect**)" : text;
}

/// The roofs in one row each; how each was measured is what `roofline machine --format md` is for.
void append_roofs(std::string& text, const Machine& machine) {
  append_markdown_row(text, {"Roof", "Burst", "95 %", "Of its limit", "Sustained", "Audit"});
  text += "|:--|--:|--:|--:|--:|:--|\n";
  for (const Ceiling& ceiling : machine.ceilings) {
    const bool beside_burst = ceiling.regime == Regime::sustained && machine.find(ceiling.name) != nullptr;
    if (ceiling.role != Role::roof || beside_burst) continue;
    append_markdown_row(
        text, {escape_markdown(ceiling_label(ceiling)), ceiling_value(ceiling), plus_minus(ceiling.value, ceiling.ci95),
               ceiling.limit ? percent(ceiling.value / ceiling.limit->value) : kAbsent,
               sustained_cell(machine, ceiling), audit_cell(ceiling)});
  }
}

/// What is no ceiling: sweeps, idle power, and what could not be had.
void append_rest(std::string& text, const Machine& machine) {
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

std::string change_value(const CeilingChange& change, double value) {
  return value > 0 ? ceiling_value(value, change.kind) : std::string(kAbsent);
}

std::string rate_cell(const Point& point, Level memory) {
  if (!point.time) return kAbsent;
  return point.performance() > 0 ? performance_text(point) : rate(point.bandwidth(memory), CeilingKind::bandwidth);
}

/// At main memory, and what a collective reached.
std::string bandwidth_cell(const Point& point, Level memory) {
  const std::string network = network_text(point);
  return rate(point.bandwidth(memory), CeilingKind::bandwidth) + (network.empty() ? "" : "; " + network);
}

std::string verification_cell(const Point& point) {
  if (!point.verification) return "not run";
  return point.verification->passed ? "pass" : "**fail**";
}

void append_results(std::string& text, const Report& report, const std::vector<Verdict>& verdicts) {
  const Level memory = main_memory(report.machine.device.kind);
  text += "\n## Kernels\n\n";
  append_markdown_row(text, {"Kernel", "To win", "Time", "95 %", "Of the roof", "Of the burst roof", "Performance",
                             "Bandwidth", "AI", "Ridge", "Bound", "Limited by", "Verified"});
  text += "|:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|:--|:--|:--|\n";
  // By the time that could be won, then what has no time.
  std::map<std::size_t, const Verdict*> verdict_of;
  std::vector<std::size_t> order;
  for (const Verdict& verdict : verdicts) {
    verdict_of[verdict.row] = &verdict;
    order.push_back(verdict.row);
  }
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    if (!verdict_of.contains(i)) order.push_back(i);
  }
  for (const std::size_t i : order) {
    const Point& point = report.points[i];
    const Verdict* verdict = verdict_of.contains(i) ? verdict_of.at(i) : nullptr;
    const auto burst = share_of_burst_roof(point, report.machine);
    const bool timed = point.time.has_value();
    append_markdown_row(text,
                        {escape_markdown(point_name(point)),
                         verdict != nullptr && std::isfinite(verdict->gain_s) ? duration(verdict->gain_s) : kAbsent,
                         timed ? duration(point.time->median) : std::string(to_string(point.status)),
                         timed ? plus_minus(point.time->median, point.time->ci95) : kAbsent,
                         share_text(share_of_roof(point)) + (point.above_roof() ? " **above**" : "") +
                             (timed && badly_measured(point) ? " (badly measured)" : ""),
                         burst ? share_text(*burst) : std::string("the same"), rate_cell(point, memory),
                         timed ? bandwidth_cell(point, memory) : kAbsent, intensity(point.bound.arithmetic_intensity),
                         number(point.bound.ridge, 3), std::string(to_string(point.bound.label)),
                         escape_markdown(limit_label(point.bound)) + (point.bound.suspect ? " (suspect)" : ""),
                         verification_cell(point)});
  }
}

void append_reasons(std::string& text, const Report& report) {
  std::string reasons;
  for (const Point& point : report.points) {
    if (point.reason.empty()) continue;
    reasons += fmt::format("- {}: {}: {}\n", escape_markdown(point_name(point)), to_string(point.status),
                           escape_markdown(point.reason));
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
  const bool of_program = report.profile.has_value();
  const std::string subject = of_program ? program_name(*report.profile) + " on " : "";
  std::string text = fmt::format("# Roofline of {}\n\n", escape_markdown(subject + report.machine.device.name));
  const std::vector<Verdict> judged = verdicts(report);
  if (of_program) {
    text += profile_markdown_answer(report);
  } else if (!report.points.empty()) {
    text += fmt::format("**{}**\n\n", escape_markdown(answer(report)));
  }
  std::string line;
  for (const std::string& part : headline(report)) line += (line.empty() ? "" : " · ") + escape_markdown(part);
  const std::string suite = of_program ? "" : fmt::format("suite {} · ", escape_markdown(report.invocation.run_name));
  text += fmt::format("{}{}{}{}\n\n", line, line.empty() ? "" : " · ", suite,
                      escape_markdown(report.invocation.started_at));
  for (const std::string& warning : alarms(report)) text += "- **Warning**: " + escape_markdown(warning) + "\n";
  for (const std::string& sentence : run_facts(report)) text += "- " + escape_markdown(sentence) + "\n";
  for (const std::string& note : report.notes) text += "- Note: " + escape_markdown(note) + "\n";
  if (runs.several()) text += "\n## Compared\n\n" + render_comparison_markdown(comparison_of(runs));
  text += spending_markdown(report, judged);
  if (of_program) {
    text += profile_markdown_tables(report);
  } else {
    append_results(text, report, judged);
    append_reasons(text, report);
  }
  text += verdicts_markdown(report, judged) + counters_markdown(report);
  text += "\n## Machine\n\n";
  append_roofs(text, report.machine);
  append_rest(text, report.machine);
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
  const std::vector<std::string> sentences = machine_findings(machine);
  if (!sentences.empty()) text += '\n';
  for (const std::string& sentence : sentences) text += "- " + escape_markdown(sentence) + "\n";
  text += "\n## Machine\n\n";
  append_ceilings(text, machine, Role::roof);
  const bool references = std::any_of(machine.ceilings.begin(), machine.ceilings.end(),
                                      [](const Ceiling& ceiling) { return ceiling.role == Role::reference; });
  if (references) {
    text += "\nFor comparison, not roofs:\n\n";
    append_ceilings(text, machine, Role::reference);
  }
  append_rest(text, machine);
  return text;
}

std::string render_changes_markdown(const std::vector<CeilingChange>& changes, const std::string& before,
                                    const std::string& now) {
  std::string text = fmt::format("# {} against {}\n\n", escape_markdown(now), escape_markdown(before));
  append_markdown_row(text, {"Ceiling", "Regime", "Before", "Now", "Ratio", "95 %", "Change"});
  text += "|:--|:--|--:|--:|--:|--:|:--|\n";
  for (const CeilingChange& change : changes) {
    const bool differs = change.change != Change::same;
    append_markdown_row(
        text, {escape_markdown(change.name), std::string(to_string(change.regime)), change_value(change, change.before),
               change_value(change, change.now), number(change.ratio), plus_minus(change.ratio, change.ratio_ci95),
               fmt::format("{}{}{}", differs ? "**" : "", to_string(change.change), differs ? "**" : "")});
  }
  return text;
}

}  // namespace roofline
