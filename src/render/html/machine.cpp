// The machine: its ceilings with what proves them, what could not be measured, and the device.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "render/html/escape.hpp"
#include "render/html/sections.hpp"
#include "report/roofs.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// What failed stands there for all to see; the figures of the others are in the report's JSON, from which the
/// page's script lists them.
std::string audit_cell(const Audit& audit) {
  const CheckStatus status = audit.status();
  const char* word = status == CheckStatus::pass ? "pass" : status == CheckStatus::fail ? "suspect" : "not run";
  const char* style = status == CheckStatus::pass ? "pass" : status == CheckStatus::fail ? "fail" : "skipped";
  std::string html = html_verdict(style, word);
  if (audit.checks.empty()) return html;
  const auto passed = std::count_if(audit.checks.begin(), audit.checks.end(),
                                    [](const Check& check) { return check.status == CheckStatus::pass; });
  html += fmt::format(" {} of {} checks", passed, audit.checks.size());
  for (const Check& check : audit.checks) {
    if (check.status != CheckStatus::fail) continue;
    html += fmt::format("<small class=\"warn\">{}: {}</small>", escape_html(check.name), escape_html(check.detail));
  }
  return html;
}

/// The names of all checks, in the order of their first appearance.
std::vector<std::string> check_names(const Machine& machine) {
  std::vector<std::string> names;
  for (const Ceiling& ceiling : machine.ceilings) {
    for (const Check& check : ceiling.audit.checks) {
      if (std::find(names.begin(), names.end(), check.name) == names.end()) names.push_back(check.name);
    }
  }
  return names;
}

std::string check_mark(const Audit& audit, const std::string& name) {
  for (const Check& check : audit.checks) {
    if (check.name != name) continue;
    if (check.status == CheckStatus::fail) return "<b class=\"warn\">fail</b>";
    return check.status == CheckStatus::pass ? "\u00b7" : kAbsent;
  }
  return {};
}

/// Every check of every ceiling at a glance.
std::string audit_table(const Machine& machine) {
  const std::vector<std::string> names = check_names(machine);
  if (names.empty()) return {};
  std::string html =
      "<details id=\"audit\"><summary>Every check of every ceiling</summary>\n<p class=\"lead\">\u00b7 passed, "
      "\u2013 could not be run, empty: has no meaning there. The figures that decided it are in the report\u2019s "
      "JSON.</p>\n<div class=\"scroll\"><table class=\"audit\"><thead><tr><th scope=\"col\">Ceiling";
  for (const std::string& name : names) html += fmt::format("<th scope=\"col\">{}", escape_html(name));
  html += "</tr></thead><tbody>\n";
  for (const Ceiling& ceiling : machine.ceilings) {
    html += fmt::format("<tr><th scope=\"row\">{}", html_name(ceiling_label(ceiling), 36));
    for (const std::string& name : names) html += "<td>" + check_mark(ceiling.audit, name);
    html += '\n';
  }
  return html + "</tbody></table></div></details>\n";
}

/// A sustained ceiling has its burst one above it, which says where the limit is from.
std::string limit_cell(const Ceiling& ceiling, bool below_burst) {
  if (!ceiling.limit || !(ceiling.limit->value > 0)) return kAbsent;
  if (below_burst) return percent(ceiling.value / ceiling.limit->value);
  return fmt::format("{}<small>{} = {}</small>", percent(ceiling.value / ceiling.limit->value),
                     rate(ceiling.limit->value, ceiling.kind), escape_html(ceiling.limit->basis));
}

std::string origin_cell(const Ceiling& ceiling, bool below_burst) {
  if (below_burst) return "the same";
  std::string origin = escape_html(ceiling.origin.empty() ? kAbsent : ceiling.origin);
  if (!ceiling.instruction.empty()) origin += ": " + escape_html(ceiling.instruction);
  if (!ceiling.variant.empty()) origin += fmt::format("<small>{}</small>", escape_html(ceiling.variant));
  if (!ceiling.below_peak.empty()) origin += fmt::format("<small>{}</small>", escape_html(ceiling.below_peak));
  return origin;
}

/// Power, energy and what held the clock down, as far as they were read.
std::string power_cell(const Ceiling& ceiling) {
  const Power& power = ceiling.power;
  if (!power.watts) return kAbsent;
  std::string below;
  const auto append = [&below](const std::string& fact) { below += (below.empty() ? "" : " \u00b7 ") + fact; };
  if (power.joules_per_unit) append(energy(ceiling));
  if (power.temperature_c) append(number(*power.temperature_c, 3) + " \u00b0C");
  if (power.limiter && !power.limiter->empty()) append(escape_html(*power.limiter));
  return si(*power.watts, "W") + (below.empty() ? "" : fmt::format("<small>{}</small>", below));
}

/// Burst or sustained, and the clock at which it was measured.
std::string regime_cell(const Ceiling& ceiling) {
  std::string html(to_string(ceiling.regime));
  if (ceiling.clocks.core_hz) html += fmt::format("<small>{}</small>", si(*ceiling.clocks.core_hz, "Hz"));
  return html;
}

struct CeilingColumn {
  const char* title;
  const char* style;
};

constexpr CeilingColumn kCeilingColumns[] = {{"Ceiling", ""}, {"Value", "n"}, {"Of its limit", ""}, {"Regime", ""},
                                             {"Power", ""},   {"Origin", ""}, {"Audit", ""}};

std::string class_of(const CeilingColumn& column) {
  const std::string style = column.style;
  return style.empty() ? "" : fmt::format(" class=\"{}\"", style);
}

std::string cell(std::size_t column, const std::string& content) {
  return "<td" + class_of(kCeilingColumns[column]) + ">" + content;
}

std::string ceiling_row(const Machine& machine, std::size_t index) {
  const Ceiling& ceiling = machine.ceilings[index];
  const Ceiling* burst = ceiling.regime == Regime::sustained ? machine.find(ceiling.name) : nullptr;
  const bool same_limit =
      burst != nullptr && burst->limit && ceiling.limit && burst->limit->basis == ceiling.limit->basis;
  const bool same_origin = burst != nullptr && burst->origin == ceiling.origin && burst->variant == ceiling.variant &&
                           burst->instruction == ceiling.instruction && ceiling.below_peak.empty();
  std::string html = fmt::format("<tr data-label=\"{}\" data-at=\"{}\" data-checks=\"{}\"{}><th scope=\"row\">{}",
                                 escape_html(clean_line(ceiling_label(ceiling))), index, ceiling.audit.checks.size(),
                                 ceiling.suspect() ? " class=\"suspect\"" : "", html_name(ceiling.name, 32));
  html += cell(1, fmt::format("{}<small>{}</small>", ceiling_value(ceiling),
                              escape_html(plus_minus(ceiling.value, ceiling.ci95))));
  html += cell(2, limit_cell(ceiling, same_limit));
  html += cell(3, regime_cell(ceiling));
  html += cell(4, power_cell(ceiling));
  html += cell(5, origin_cell(ceiling, same_origin));
  return html + cell(6, audit_cell(ceiling.audit)) + "\n";
}

void append_fact(std::string& html, std::string_view name, const std::string& value) {
  if (value.empty()) return;
  html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape_html(name), html_name(value, 120));
}

std::string cache_text(const CacheInfo& cache) {
  return binary_bytes(cache.bytes) + (cache.instances > 1 ? fmt::format(" \u00d7 {}", count(cache.instances)) : "");
}

/// The ceilings of one role, or nothing.
std::string ceilings_table(const Machine& machine, Role role, const char* title) {
  std::string rows, head;
  for (std::size_t i = 0; i < machine.ceilings.size(); ++i) {
    if (machine.ceilings[i].role == role) rows += ceiling_row(machine, i);
  }
  if (rows.empty()) return {};
  for (const CeilingColumn& column : kCeilingColumns) {
    head += fmt::format("<th scope=\"col\"{}>{}", class_of(column), column.title);
  }
  return fmt::format(
      "<h3>{}</h3>\n<div class=\"scroll\"><table class=\"cards ceilings\"><thead><tr>{}</tr></thead><tbody>\n{}</tbody>"
      "</table></div>\n",
      title, head, rows);
}

std::string device_facts(const Machine& machine) {
  const DeviceInfo& device = machine.device;
  std::string html = "<dl class=\"facts\">\n";
  append_fact(html, "Device", device.name);
  append_fact(html, device.kind == DeviceKind::cuda ? "Streaming multiprocessors" : "Threads", count(device.units));
  if (device.memory_bytes > 0) append_fact(html, "Memory", binary_bytes(device.memory_bytes));
  for (const CacheInfo& cache : device.caches) {
    append_fact(html, fmt::format("{} cache", to_string(cache.level)), cache_text(cache));
  }
  if (device.max_core_hz) append_fact(html, "Highest core clock", si(*device.max_core_hz, "Hz"));
  if (device.memory_hz) append_fact(html, "Memory clock", si(*device.memory_hz, "Hz", 4));
  append_fact(html, device.kind == DeviceKind::cuda ? "Architecture" : "Instruction set", device.isa);
  append_fact(html, "Driver", device.driver);
  for (const Attribute& attribute : device.attributes) append_fact(html, attribute.name, attribute.value);
  if (machine.idle_watts) append_fact(html, "Idle power", si(*machine.idle_watts, "W"));
  append_fact(html, "Host", machine.host);
  append_fact(html, "Calibrated", machine.measured_at + (machine.quick ? " (quick: wider intervals)" : ""));
  append_fact(html, "By roofline", machine.tool_version);
  return html + "</dl>\n";
}

}  // namespace

std::string html_machine(const Machine& machine) {
  std::string html = "<section id=\"machine\" aria-labelledby=\"machine-h\">\n<h2 id=\"machine-h\">Machine</h2>\n" +
                     device_facts(machine);
  html += ceilings_table(machine, Role::roof, "Ceilings");
  html += ceilings_table(machine, Role::reference, "For comparison");
  html += audit_table(machine);
  if (!machine.unmeasured.empty()) {
    html += "<h3>Not measured</h3>\n<ul class=\"unmeasured\">\n";
    for (const Unmeasured& missing : by_reason(machine.unmeasured)) {
      html += fmt::format("<li><b>{}</b> {}</li>\n", html_name(missing.name, 512), escape_html(missing.reason));
    }
    html += "</ul>\n";
  }
  return html + "</section>\n";
}

std::string html_machine_css() {
  std::vector<std::string> titles;
  for (const CeilingColumn& column : kCeilingColumns) titles.emplace_back(column.title);
  return html_column_names(".ceilings", titles);
}

}  // namespace roofline
