// The ceilings table for a terminal, with what failed an audit and what could not be measured.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "report/format.hpp"
#include "report/render.hpp"
#include "report/terminal_table.hpp"
#include "report/text.hpp"

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
  return clean_line(ceiling.origin == "probe" && !ceiling.variant.empty() ? ceiling.variant : ceiling.origin);
}

/// Whole words for launches would cost the table a column.
std::string value_text(const Ceiling& ceiling) {
  return ceiling.kind == CeilingKind::overhead ? si(ceiling.value, "/s") : rate(ceiling.value, ceiling.kind);
}

std::string interval_text(const Ceiling& ceiling) {
  std::string text = plus_minus(ceiling.value, ceiling.ci95);
  std::erase(text, ' ');
  return text;
}

/// Whether one word in the title says it for all ceilings.
bool same_regime(const Machine& machine) {
  return std::all_of(machine.ceilings.begin(), machine.ceilings.end(),
                     [&](const Ceiling& ceiling) { return ceiling.regime == machine.ceilings[0].regime; });
}

std::string failed_checks(const Machine& machine, const TerminalStyle& style) {
  std::string text;
  for (const Ceiling& ceiling : machine.ceilings) {
    for (const Check& check : ceiling.audit.checks) {
      if (check.status != CheckStatus::fail) continue;
      const std::string detail = check.detail.empty() ? "" : ": " + check.detail;
      text +=
          wrapped("  ", for_terminal(clean_line(ceiling.name + " is suspect, " + check.name + detail), style), style);
    }
  }
  return text;
}

}  // namespace

std::string render_machine_terminal(const Machine& machine, const TerminalStyle& style) {
  std::string title = shorten(clean_line(machine.device.name), 40);
  if (!machine.device.isa.empty()) title += " \u00b7 " + clean_line(machine.device.isa);
  if (!machine.measured_at.empty()) title += " \u00b7 calibrated " + clean_line(machine.measured_at);
  const bool one_regime = same_regime(machine);
  if (one_regime && !machine.ceilings.empty())
    title += fmt::format(" \u00b7 {}", to_string(machine.ceilings[0].regime));
  if (machine.quick) title += " (quick)";
  if (machine.cancelled) title += " (cancelled)";
  std::string text = inked(for_terminal(shorten(title, style.columns), style), Ink::bold, style) + "\n\n";
  TerminalTable table({{"ceiling", false, 0, false},
                       {"value", true, 0, false},
                       {"", true, 2, false},
                       {"limit", true, 1, false},
                       {one_regime ? "" : "regime", false, 4, false},
                       {"clock", true, 3, false},
                       {"audit", false, 0, false},
                       {"how", false, 0, true, 16}});
  for (const Ceiling& ceiling : machine.ceilings) {
    table.add_row({{shorten(clean_line(ceiling.name), 24)},
                   {value_text(ceiling)},
                   {interval_text(ceiling), Ink::dim},
                   {ceiling.limit ? percent(ceiling.value / ceiling.limit->value) : std::string()},
                   {one_regime ? std::string() : std::string(to_string(ceiling.regime))},
                   {ceiling.clocks.core_hz ? si(*ceiling.clocks.core_hz, "Hz") : std::string()},
                   audit_cell(ceiling),
                   {origin_text(ceiling), Ink::dim}});
  }
  if (!machine.ceilings.empty()) text += table.render(style);
  const std::string failed = failed_checks(machine, style);
  if (!failed.empty()) text += '\n' + failed;
  if (!machine.unmeasured.empty()) text += "\nnot measured\n";
  for (const Unmeasured& missing : machine.unmeasured) {
    text += wrapped("  ", for_terminal(clean_line(missing.name + ": " + missing.reason), style), style);
  }
  return text;
}

}  // namespace roofline
