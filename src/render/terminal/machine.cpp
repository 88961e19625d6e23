// The ceilings table for a terminal, with what failed an audit and what could not be measured.
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "render/render.hpp"
#include "render/terminal/table.hpp"
#include "report/findings.hpp"
#include "report/machine_findings.hpp"
#include "report/roofs.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

Cell audit_cell(const Ceiling& ceiling) {
  switch (ceiling.audit.status()) {
    case CheckStatus::pass:
      return {"pass", Ink::good};
    case CheckStatus::fail:
      return {"suspect", Ink::warn};
    case CheckStatus::not_run:
      break;
  }
  return {"not run", Ink::dim};
}

/// A probe is what is expected, so its variant says more; anything else must be seen at once.
std::string origin_text(const Ceiling& ceiling) {
  if (!ceiling.below_peak.empty()) return clean_line(ceiling.below_peak);
  if (ceiling.origin != kProbeOrigin || ceiling.variant.empty()) return clean_line(ceiling.origin);
  return clean_line(ceiling.instruction.empty() ? ceiling.variant : ceiling.instruction + ", " + ceiling.variant);
}

std::string interval_text(const Ceiling& ceiling) {
  std::string text = plus_minus(ceiling.value, ceiling.ci95);
  std::erase(text, ' ');
  return text;
}

/// What to know of the roofs, and, where it was asked for, every failed check behind it.
std::string audit_lines(const Machine& machine, bool verbose, const TerminalStyle& style) {
  std::string text;
  for (const std::string& sentence : machine_findings(machine)) {
    text += wrapped(for_terminal("\u00b7 ", style), for_terminal(sentence, style), style);
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

std::string clock_text(const Ceiling& ceiling) {
  return ceiling.clocks.core_hz ? si(*ceiling.clocks.core_hz, "Hz") : std::string();
}

/// The burst ceilings of one role, or nothing.
std::string burst_table(const Machine& machine, Role role, const TerminalStyle& style) {
  TerminalTable table({{role == Role::roof ? "roof (burst)" : "for comparison", false, 0, false},
                       {"value", true, 0, false},
                       {"", true, 2, false},
                       {"limit", true, 1, false},
                       {"clock", true, 3, false},
                       {"audit", false, 0, false},
                       {"how", false, 0, true, 16}});
  bool any = false;
  for (const Ceiling& ceiling : machine.ceilings) {
    if (ceiling.role != role || ceiling.regime != Regime::burst) continue;
    any = true;
    table.add_row({{shorten(clean_line(ceiling.name), 24)},
                   {ceiling_value(ceiling)},
                   {interval_text(ceiling), Ink::dim},
                   {ceiling.limit ? percent(ceiling.value / ceiling.limit->value) : std::string()},
                   {clock_text(ceiling)},
                   audit_cell(ceiling),
                   {origin_text(ceiling), Ink::dim}});
  }
  return any ? table.render(style) : std::string();
}

/// Against burst, with clock, power and what held the clock down.
std::string sustained_table(const Machine& machine, const TerminalStyle& style) {
  TerminalTable table({{"roof (sustained)", false, 0, false},
                       {"value", true, 0, false},
                       {"of burst", true, 1, false},
                       {"clock", true, 0, false},
                       {"power", true, 0, false},
                       {"energy", true, 0, false},
                       {"", true, 4, false},
                       {"audit", false, 0, false},
                       {"held by", false, 2, true, 12}});
  bool any = false;
  for (const Ceiling& ceiling : machine.ceilings) {
    if (ceiling.regime != Regime::sustained) continue;
    any = true;
    const Ceiling* burst = machine.find(ceiling.name);
    const Power& power = ceiling.power;
    table.add_row({{shorten(clean_line(ceiling.name), 24)},
                   {ceiling_value(ceiling)},
                   {burst != nullptr ? percent(ceiling.value / burst->value) : std::string()},
                   {clock_text(ceiling)},
                   {power.watts ? si(*power.watts, "W") : std::string()},
                   {energy(ceiling)},
                   {power.temperature_c ? number(*power.temperature_c, 2) + " \u00b0C" : std::string()},
                   audit_cell(ceiling),
                   {clean_line(power.limiter.value_or("")), Ink::dim}});
  }
  return any ? "\n" + table.render(style) : std::string();
}

std::string sweep_lines(const Machine& machine, const TerminalStyle& style) {
  std::string text;
  for (const Sweep& sweep : machine.sweeps) {
    text += wrapped("", for_terminal(clean_line(sweep.name + ": " + sweep_sentence(sweep)), style), style);
  }
  return text.empty() ? text : "\n" + text;
}

std::string change_value(const CeilingChange& change, double value) {
  return value > 0 ? ceiling_value(value, change.kind) : std::string();
}

Ink change_ink(Change change) {
  return change == Change::slower ? Ink::bad : change == Change::faster ? Ink::good : Ink::dim;
}

}  // namespace

std::string render_machine_terminal(const Machine& machine, const TerminalStyle& style, bool verbose) {
  std::string text = inked(for_terminal(shorten(title_of(machine), style.columns), style), Ink::bold, style) + "\n\n";
  text += burst_table(machine, Role::roof, style);
  text += sustained_table(machine, style);
  const std::string references = burst_table(machine, Role::reference, style);
  if (!references.empty()) text += '\n' + references;
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
  TerminalTable table({{"ceiling", false, 0, false},
                       {"before", true, 0, false},
                       {"now", true, 0, false},
                       {"ratio", true, 0, false},
                       {"", true, 1, false},
                       {"change", false, 0, false}});
  for (const CeilingChange& change : changes) {
    const std::string regime = change.regime == Regime::burst ? "" : " (sustained)";
    table.add_row({{shorten(clean_line(change.name), 24) + regime},
                   {change_value(change, change.before)},
                   {change_value(change, change.now)},
                   {std::isfinite(change.ratio) ? fmt::format("{:.3f}", change.ratio) : std::string()},
                   {plus_minus(change.ratio, change.ratio_ci95), Ink::dim},
                   {std::string(to_string(change.change)), change_ink(change.change)}});
  }
  return text + (changes.empty() ? "no ceilings to compare\n" : table.render(style));
}

}  // namespace roofline
