#include "render/ceiling_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "render/html/sections.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

bool in_machine(const CeilingTable& table) { return table == CeilingTable::machine; }
bool in_report(const CeilingTable& table) { return table == CeilingTable::report; }
bool in_burst(const CeilingTable& table) { return table == CeilingTable::burst || table == CeilingTable::references; }
bool in_sustained(const CeilingTable& table) { return table == CeilingTable::sustained; }
bool in_documents(const CeilingTable& table) { return in_machine(table) || in_report(table); }

Ink dim(const CeilingRow&) { return Ink::dim; }

const Ceiling* burst_of(const CeilingRow& row) {
  return row.ceiling.regime == Regime::sustained ? row.machine.find(row.ceiling.name) : nullptr;
}

std::string name_text(const CeilingRow& row) { return row.ceiling.name; }
std::string short_name(const CeilingRow& row) { return shorten(clean_line(row.ceiling.name), 24); }
std::string value_text(const CeilingRow& row) { return ceiling_value(row.ceiling); }
std::string interval(const CeilingRow& row) { return plus_minus(row.ceiling.value, row.ceiling.ci95); }
std::string narrow_interval(const CeilingRow& row) {
  std::string text = interval(row);
  std::erase(text, ' ');
  return text;
}

std::string limit_text(const CeilingRow& row) {
  return row.ceiling.limit ? percent(row.ceiling.value / row.ceiling.limit->value) : "";
}
std::string limit_markdown(const CeilingRow& row) {
  if (!row.ceiling.limit) return kAbsent;
  return fmt::format("{} of {}", limit_text(row), escape_markdown(row.ceiling.limit->basis));
}
/// The basis of the limit is in the row of the burst ceiling above.
std::string limit_html(const CeilingRow& row) {
  const auto& limit = row.ceiling.limit;
  if (!limit || !(limit->value > 0)) return kAbsent;
  const Ceiling* burst = burst_of(row);
  if (burst != nullptr && burst->limit && burst->limit->basis == limit->basis) return limit_text(row);
  return fmt::format("{}<small>{} = {}</small>", limit_text(row), rate(limit->value, row.ceiling.kind),
                     escape_html(limit->basis));
}

std::string clock_text(const CeilingRow& row) {
  return row.ceiling.clocks.core_hz ? si(*row.ceiling.clocks.core_hz, "Hz") : std::string();
}
/// Burst or sustained, and the clock at which it was measured.
std::string regime_html(const CeilingRow& row) {
  const std::string clock = clock_text(row);
  return std::string(to_string(row.ceiling.regime)) + (clock.empty() ? "" : "<small>" + clock + "</small>");
}

/// The sustained ceiling of the same name, for the column beside the burst one.
std::string sustained_markdown(const CeilingRow& row) {
  const Ceiling* sustained = row.machine.find(row.ceiling.name, Regime::sustained);
  if (sustained == nullptr) return kAbsent;
  std::string text = ceiling_value(*sustained);
  if (sustained->clocks.core_hz) text += ", " + si(*sustained->clocks.core_hz, "Hz");
  if (sustained->power.watts) text += ", " + si(*sustained->power.watts, "W");
  if (sustained->provisional()) return text + " (provisional)";
  return sustained->suspect() ? text + " (**suspect**)" : text;
}

std::string watts(const CeilingRow& row) {
  return row.ceiling.power.watts ? si(*row.ceiling.power.watts, "W") : std::string();
}
std::string temperature(const CeilingRow& row, int digits) {
  const auto& celsius = row.ceiling.power.temperature_c;
  return celsius ? number(*celsius, digits) + " \u00b0C" : std::string();
}
std::string limiter(const CeilingRow& row) { return clean_line(row.ceiling.power.limiter.value_or("")); }
std::string power_markdown(const CeilingRow& row) {
  const Power& power = row.ceiling.power;
  if (!power.watts) return kAbsent;
  std::string text = watts(row);
  if (power.joules_per_unit) text += ", " + energy(row.ceiling);
  if (power.limiter && !power.limiter->empty()) text += ", " + escape_markdown(*power.limiter);
  return text;
}
/// Power, energy, temperature and clock limiter, as far as they were read.
std::string power_html(const CeilingRow& row) {
  const Power& power = row.ceiling.power;
  if (!power.watts) return kAbsent;
  std::string below;
  const auto append = [&below](const std::string& fact) { below += (below.empty() ? "" : " \u00b7 ") + fact; };
  if (power.joules_per_unit) append(energy(row.ceiling));
  if (power.temperature_c) append(temperature(row, 3));
  if (power.limiter && !power.limiter->empty()) append(escape_html(*power.limiter));
  return watts(row) + (below.empty() ? "" : fmt::format("<small>{}</small>", below));
}

std::string origin_markdown(const CeilingRow& row) {
  const Ceiling& ceiling = row.ceiling;
  std::string text = escape_markdown(ceiling.origin);
  if (!ceiling.instruction.empty()) text += ": " + escape_markdown(ceiling.instruction);
  if (!ceiling.variant.empty()) text += (text.empty() ? "" : ", ") + escape_markdown(ceiling.variant);
  return ceiling.below_peak.empty() ? text : fmt::format("{} ({})", text, escape_markdown(ceiling.below_peak));
}
/// For a probe, the usual origin, its instruction and variant; any other origin itself.
std::string origin_terminal(const CeilingRow& row) {
  const Ceiling& ceiling = row.ceiling;
  if (!ceiling.below_peak.empty()) return clean_line(ceiling.below_peak);
  if (ceiling.origin != kProbeOrigin || ceiling.variant.empty()) return clean_line(ceiling.origin);
  return clean_line(ceiling.instruction.empty() ? ceiling.variant : ceiling.instruction + ", " + ceiling.variant);
}
std::string origin_html(const CeilingRow& row) {
  const Ceiling& ceiling = row.ceiling;
  const Ceiling* burst = burst_of(row);
  if (burst != nullptr && burst->origin == ceiling.origin && burst->variant == ceiling.variant &&
      burst->instruction == ceiling.instruction && ceiling.below_peak.empty())
    return "same as burst";
  std::string origin = escape_html(ceiling.origin.empty() ? kAbsent : ceiling.origin);
  if (!ceiling.instruction.empty()) origin += ": " + escape_html(ceiling.instruction);
  if (!ceiling.variant.empty()) origin += fmt::format("<small>{}</small>", escape_html(ceiling.variant));
  if (!ceiling.below_peak.empty()) origin += fmt::format("<small>{}</small>", escape_html(ceiling.below_peak));
  return origin;
}

/// By the status of an audit.
struct AuditLook {
  const char* word;
  Ink ink;
  const char* style;
};
AuditLook audit_look(const CeilingRow& row) {
  switch (row.ceiling.audit.status()) {
    case CheckStatus::pass:
      return {"confirmed", Ink::good, "pass"};
    case CheckStatus::provisional:
      return {"provisional", Ink::dim, "skipped"};
    case CheckStatus::fail:
      return {"suspect", Ink::warn, "fail"};
    case CheckStatus::not_run:
      break;
  }
  return {"not run", Ink::dim, "skipped"};
}
std::string audit_text(const CeilingRow& row) { return audit_look(row).word; }
std::string audit_markdown(const CeilingRow& row) {
  const CheckStatus status = row.ceiling.audit.status();
  if (status != CheckStatus::fail && status != CheckStatus::provisional) return audit_text(row);
  std::string failed;
  for (const Check& check : row.ceiling.audit.checks) {
    if (check.status != status) continue;
    failed += fmt::format("{}{} ({})", failed.empty() ? "" : "; ", escape_markdown(check.name),
                          escape_markdown(check.detail));
  }
  return fmt::format("**{}**: {}", audit_text(row), failed);
}
/// Failed checks are always shown; the figures of the others are in the report's JSON, from which the page's
/// script lists them.
std::string audit_html(const CeilingRow& row) {
  const AuditLook look = audit_look(row);
  const std::vector<Check>& checks = row.ceiling.audit.checks;
  std::string html = html_verdict(look.style, look.word);
  if (checks.empty()) return html;
  html += fmt::format(" {} of {} checks", std::ranges::count(checks, CheckStatus::pass, &Check::status), checks.size());
  for (const Check& check : checks) {
    const bool failed = check.status == CheckStatus::fail;
    if (!failed && check.status != CheckStatus::provisional) continue;
    html += fmt::format("<small{}>{}: {}</small>", failed ? " class=\"warn\"" : "", escape_html(check.name),
                        escape_html(check.detail));
  }
  return html;
}

constexpr Column<CeilingRow, CeilingTable> kCeilingColumns[] = {
    {.title = "Ceiling",
     .left = true,
     .when = [](const CeilingTable& table) { return !in_report(table); },
     .text = name_text,
     .terminal = {.text = short_name,
                  .layout =
                      [](TerminalColumn& column, const CeilingTable& table) {
                        column.title = table == CeilingTable::burst        ? "roof (burst)"
                                       : table == CeilingTable::references ? "reference"
                                                                           : "roof (sustained)";
                      }},
     .page = {.html = [](const CeilingRow& r) { return html_name(r.ceiling.name, 32); }}},
    {.title = "Roof",
     .left = true,
     .when = in_report,
     .text = [](const CeilingRow& r) { return ceiling_label(r.ceiling); }},
    {.title = "Value",
     .when = [](const CeilingTable& table) { return !in_report(table); },
     .text = value_text,
     .page = {.html =
                  [](const CeilingRow& r) {
                    return fmt::format("{}<small>{}</small>", value_text(r), escape_html(interval(r)));
                  }}},
    {.title = "Burst", .when = in_report, .text = value_text},
    {.title = "95 %", .in = kMarkdown, .when = in_documents, .text = interval},
    {.in = kTerminal, .when = in_burst, .text = narrow_interval, .terminal = {.ink = dim, .rank = 2}},
    {.title = "% of limit",
     .left = true,
     .when = [](const CeilingTable& table) { return in_machine(table) || in_burst(table); },
     .text = limit_text,
     .markdown = {.text = limit_markdown},
     .terminal = {.title = "limit",
                  .rank = 1,
                  .layout = [](TerminalColumn& c, const CeilingTable&) { c.right = true; }},
     .page = {.html = limit_html}},
    {.title = "% of limit",
     .when = in_report,
     .text = [](const CeilingRow& r) { return r.ceiling.limit ? limit_text(r) : kAbsent; }},
    {.title = "Regime",
     .in = kDocuments,
     .left = true,
     .when = in_machine,
     .text = [](const CeilingRow& r) { return std::string(to_string(r.ceiling.regime)); },
     .page = {.html = regime_html}},
    {.title = "% of burst",
     .in = kTerminal,
     .when = in_sustained,
     .text =
         [](const CeilingRow& r) {
           const Ceiling* burst = r.machine.find(r.ceiling.name);
           return burst != nullptr ? percent(r.ceiling.value / burst->value) : std::string();
         },
     .terminal = {.rank = 1}},
    {.title = "Clock",
     .in = kMarkdown | kTerminal,
     .when = [](const CeilingTable& table) { return !in_report(table); },
     .text = clock_text,
     .markdown = {.text = [](const CeilingRow& r) { return r.ceiling.clocks.core_hz ? clock_text(r) : kAbsent; }},
     .terminal = {.layout = [](TerminalColumn& c, const CeilingTable& table) { c.rank = in_burst(table) ? 3 : 0; }}},
    {.title = "Sustained", .when = in_report, .markdown = {.text = sustained_markdown}},
    {.title = "Power",
     .left = true,
     .when = [](const CeilingTable& table) { return in_machine(table) || in_sustained(table); },
     .text = watts,
     .markdown = {.text = power_markdown},
     .terminal = {.layout = [](TerminalColumn& c, const CeilingTable&) { c.right = true; }},
     .page = {.html = power_html}},
    {.title = "Energy",
     .in = kTerminal,
     .when = in_sustained,
     .text = [](const CeilingRow& r) { return energy(r.ceiling); }},
    {.in = kTerminal,
     .when = in_sustained,
     .text = [](const CeilingRow& r) { return temperature(r, 2); },
     .terminal = {.rank = 4}},
    {.title = "Origin",
     .in = kDocuments,
     .left = true,
     .when = in_machine,
     .markdown = {.text = origin_markdown},
     .page = {.html = origin_html}},
    {.title = "Audit",
     .left = true,
     .text = audit_text,
     .markdown = {.text = audit_markdown},
     .terminal = {.ink = [](const CeilingRow& r) { return audit_look(r).ink; }},
     .page = {.html = audit_html}},
    {.title = "How",
     .in = kTerminal,
     .left = true,
     .when = in_burst,
     .text = origin_terminal,
     .terminal = {.ink = dim, .rank = 9}},
    {.title = "Limited by",
     .in = kTerminal,
     .left = true,
     .when = in_sustained,
     .text = limiter,
     .terminal = {.ink = dim, .rank = 2, .first_to = 12, .shrinks = true}},
};

std::string before_text(const CeilingChange& c) { return c.before > 0 ? ceiling_value(c.before, c.kind, c.pipe) : ""; }
std::string now_text(const CeilingChange& c) { return c.now > 0 ? ceiling_value(c.now, c.kind, c.pipe) : ""; }
std::string ratio_text(const CeilingChange& c) { return std::isfinite(c.ratio) ? fmt::format("{:.3f}", c.ratio) : ""; }
std::string or_absent(const std::string& text) { return text.empty() ? kAbsent : text; }
std::string change_text(const CeilingChange& c) { return std::string(to_string(c.change)); }
std::string change_name(const CeilingChange& c) { return ceiling_label(c.name, c.regime); }

constexpr Column<CeilingChange, MachineChange> kChangeColumns[] = {
    {.title = "Ceiling",
     .left = true,
     .text = [](const CeilingChange& c) { return c.name; },
     .terminal = {.text =
                      [](const CeilingChange& c) { return ceiling_label(shorten(clean_line(c.name), 24), c.regime); }},
     .page = {.html = [](const CeilingChange& c) { return html_name(change_name(c)); }}},
    {.title = "Regime",
     .in = kMarkdown,
     .left = true,
     .text = [](const CeilingChange& c) { return std::string(to_string(c.regime)); }},
    {.title = "Before",
     .text = before_text,
     .markdown = {.text = [](const CeilingChange& c) { return or_absent(before_text(c)); }},
     .page = {.html = [](const CeilingChange& c) { return or_absent(before_text(c)); }}},
    {.title = "Now",
     .text = now_text,
     .markdown = {.text = [](const CeilingChange& c) { return or_absent(now_text(c)); }},
     .page = {.html = [](const CeilingChange& c) { return or_absent(now_text(c)); }}},
    {.title = "Ratio",
     .text = ratio_text,
     .markdown = {.text = [](const CeilingChange& c) { return number(c.ratio); }},
     .page = {.title = "Now / before", .html = [](const CeilingChange& c) { return or_absent(ratio_text(c)); }}},
    {.title = "95 %",
     .in = kMarkdown | kTerminal,
     .text = [](const CeilingChange& c) { return plus_minus(c.ratio, c.ratio_ci95); },
     .terminal = {.title = "", .ink = [](const CeilingChange&) { return Ink::dim; }, .rank = 1}},
    {.title = "Change",
     .left = true,
     .text = change_text,
     .markdown = {.text =
                      [](const CeilingChange& c) {
                        return c.change == Change::same ? change_text(c) : "**" + change_text(c) + "**";
                      }},
     .terminal = {.ink =
                      [](const CeilingChange& c) {
                        return c.change == Change::slower   ? Ink::bad
                               : c.change == Change::faster ? Ink::good
                                                            : Ink::dim;
                      }},
     .page = {.html = [](const CeilingChange& c) { return html_change(c.change, false, change_text(c)); }}},
};

}  // namespace

std::vector<CeilingRow> ceiling_rows(const Machine& machine, CeilingTable table, Role role) {
  const auto wanted = [&](const Ceiling& ceiling) {
    const bool burst = ceiling.regime == Regime::burst;
    switch (table) {
      case CeilingTable::machine:
        return ceiling.role == role;
      case CeilingTable::report:  // a sustained ceiling is in the row of its burst ceiling
        return ceiling.role == Role::roof && (burst || machine.find(ceiling.name) == nullptr);
      case CeilingTable::burst:
        return ceiling.role == Role::roof && burst;
      case CeilingTable::references:
        return ceiling.role == Role::reference && burst;
      case CeilingTable::sustained:
        break;
    }
    return ceiling.regime == Regime::sustained;
  };
  std::vector<CeilingRow> rows;
  for (std::size_t i = 0; i < machine.ceilings.size(); ++i) {
    if (wanted(machine.ceilings[i])) rows.push_back({machine, machine.ceilings[i], i});
  }
  return rows;
}

std::span<const Column<CeilingRow, CeilingTable>> ceiling_columns() { return kCeilingColumns; }
std::span<const Column<CeilingChange, MachineChange>> ceiling_change_columns() { return kChangeColumns; }

}  // namespace roofline
