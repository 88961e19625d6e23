// The ceilings tables for a terminal, with failed audits and unmeasured ceilings.
#include <fmt/format.h>

#include <string>

#include "render/ceiling_columns.hpp"
#include "render/render.hpp"
#include "render/terminal/table.hpp"
#include "report/findings.hpp"
#include "report/machine_findings.hpp"
#include "report/roofs.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// Findings about the roofs, and with `verbose` every failed check.
std::string audit_lines(const Machine& machine, bool verbose, const TerminalStyle& style) {
  std::string text;
  for (const Finding& finding : machine_findings(machine)) {
    text += wrapped(for_terminal("\u00b7 ", style), for_terminal(finding.text, style), style);
  }
  if (!verbose) return text;
  for (const std::string& line : failed_checks(machine)) text += wrapped("  ", for_terminal(line, style), style);
  return text;
}

std::string title_of(const Machine& machine) {
  std::string title = shorten(clean_line(machine.device.name), 40);
  if (!machine.device.isa.empty()) title += " \u00b7 " + clean_line(machine.device.isa);
  if (!machine.measured_at.empty()) title += " \u00b7 calibrated " + clean_line(machine.measured_at);
  if (machine.quick) title += " (quick)";
  if (machine.cancelled) title += " (cancelled)";
  return title;
}

std::string ceilings_table(const Machine& machine, CeilingTable table, const TerminalStyle& style) {
  const std::vector<CeilingRow> rows = ceiling_rows(machine, table);
  return rows.empty() ? "" : terminal_table(ceiling_columns(), table, rows, style);
}

std::string sweep_lines(const Machine& machine, const TerminalStyle& style) {
  std::string text;
  for (const Sweep& sweep : machine.sweeps) {
    text += wrapped("", for_terminal(clean_line(sweep.name + ": " + sweep_sentence(sweep)), style), style);
  }
  return text.empty() ? text : "\n" + text;
}

}  // namespace

std::string render_machine_terminal(const Machine& machine, const TerminalStyle& style, bool verbose) {
  std::string text = inked(for_terminal(shorten(title_of(machine), style.columns), style), Ink::bold, style) + "\n\n";
  text += ceilings_table(machine, CeilingTable::burst, style);
  for (const CeilingTable table : {CeilingTable::sustained, CeilingTable::references}) {
    const std::string more = ceilings_table(machine, table, style);
    if (!more.empty()) text += '\n' + more;
  }
  text += sweep_lines(machine, style);
  if (machine.idle_watts) text += fmt::format("idle power: {}\n", si(*machine.idle_watts, "W"));
  const std::string audit = audit_lines(machine, verbose, style);
  if (!audit.empty()) text += '\n' + audit;
  if (!machine.unmeasured.empty()) text += "\nnot measured\n";
  for (const Unmeasured& missing : by_reason(machine.unmeasured)) {
    text += wrapped("  ", for_terminal(clean_line(missing.name + ": " + missing.reason), style), style);
  }
  return text;
}

std::string render_changes_terminal(const std::vector<CeilingChange>& changes, const std::string& before,
                                    const std::string& now, const TerminalStyle& style) {
  std::string text = wrapped("before  ", for_terminal(clean_line(before), style), style) +
                     wrapped("now     ", for_terminal(clean_line(now), style), style) + "\n";
  if (changes.empty()) return text + "no ceilings to compare\n";
  return text + terminal_table(ceiling_change_columns(), MachineChange(), changes, style);
}

}  // namespace roofline
