// The machine: its ceilings with what proves them, what could not be measured, and the device.
#include <fmt/format.h>

#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/html_sections.hpp"
#include "report/html_text.hpp"
#include "report/text.hpp"

namespace roofline {
namespace {

std::string check_list(const Audit& audit) {
  std::string html = "<ul class=\"checks\">";
  for (const Check& check : audit.checks) {
    const std::string_view status = check.status == CheckStatus::not_run ? "not run" : to_string(check.status);
    // Only what failed is a chip: the many that passed must not shout, and cost the page bytes.
    const std::string mark =
        check.status == CheckStatus::fail ? "<span class=\"chip fail\">fail</span>" : fmt::format("<i>{}</i>", status);
    html += fmt::format("<li>{} {}{}</li>", mark, escape_html(check.name),
                        check.detail.empty() ? "" : fmt::format("<small>{}</small>", escape_html(check.detail)));
  }
  return html + "</ul>";
}

/// What failed stands there for all to see; the whole list opens.
std::string audit_cell(const Audit& audit) {
  const CheckStatus status = audit.status();
  const char* word = status == CheckStatus::pass ? "pass" : status == CheckStatus::fail ? "suspect" : "not run";
  const char* style = status == CheckStatus::pass ? "pass" : status == CheckStatus::fail ? "fail" : "skipped";
  const std::string chip = fmt::format("<span class=\"chip {}\">{}</span>", style, word);
  if (audit.checks.empty()) return chip;
  std::string html;
  std::size_t passed = 0;
  for (const Check& check : audit.checks) {
    if (check.status == CheckStatus::pass) ++passed;
    if (check.status != CheckStatus::fail) continue;
    html += fmt::format("<small>{}: {}</small>", escape_html(check.name), escape_html(check.detail));
  }
  return fmt::format("<details><summary>{} {} of {} checks</summary>{}</details>{}", chip, passed, audit.checks.size(),
                     check_list(audit), html);
}

std::string limit_cell(const Ceiling& ceiling) {
  if (!ceiling.limit || !(ceiling.limit->value > 0)) return kAbsent;
  return fmt::format("{}<small>{} = {}</small>", percent(ceiling.value / ceiling.limit->value),
                     rate(ceiling.limit->value, ceiling.kind), escape_html(ceiling.limit->basis));
}

std::string origin_cell(const Ceiling& ceiling) {
  std::string origin = escape_html(ceiling.origin.empty() ? kAbsent : ceiling.origin);
  if (!ceiling.instruction.empty()) origin += ": " + escape_html(ceiling.instruction);
  if (!ceiling.variant.empty()) origin += fmt::format("<small>{}</small>", escape_html(ceiling.variant));
  if (!ceiling.below_peak.empty()) origin += fmt::format("<small>{}</small>", escape_html(ceiling.below_peak));
  return origin;
}

/// Power, energy and what held the clock down, as far as they were read.
std::string power_cell(const Power& power, CeilingKind kind) {
  if (!power.watts) return kAbsent;
  std::string text = si(*power.watts, "W");
  if (power.joules_per_unit) text += fmt::format("<small>{}</small>", energy(*power.joules_per_unit, kind));
  if (power.temperature_c) text += fmt::format("<small>{} °C</small>", number(*power.temperature_c, 3));
  if (power.limiter && !power.limiter->empty()) text += fmt::format("<small>{}</small>", escape_html(*power.limiter));
  return text;
}

std::string ceiling_row(const Ceiling& ceiling) {
  const auto cell = [](const char* style, const char* title, const std::string& content) {
    return fmt::format("<td class=\"{}\" data-h=\"{}\">{}</td>", style, title, content);
  };
  std::string html = fmt::format("<tr{}><th scope=\"row\">{}</th>", ceiling.suspect() ? " class=\"suspect\"" : "",
                                 html_name(ceiling.name, 32));
  html += cell("n", "Value",
               fmt::format("{}<small>{}</small>", ceiling_value(ceiling), plus_minus(ceiling.value, ceiling.ci95)));
  html += cell("n", "Of its limit", limit_cell(ceiling));
  html += cell("", "Regime", std::string(to_string(ceiling.regime)));
  html += cell("n", "Clock", ceiling.clocks.core_hz ? si(*ceiling.clocks.core_hz, "Hz") : kAbsent);
  html += cell("n", "Power", power_cell(ceiling.power, ceiling.kind));
  html += cell("", "Origin", origin_cell(ceiling));
  return html + cell("", "Audit", audit_cell(ceiling.audit)) + "</tr>\n";
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
  std::string rows;
  for (const Ceiling& ceiling : machine.ceilings) {
    if (ceiling.role == role) rows += ceiling_row(ceiling);
  }
  if (rows.empty()) return {};
  return fmt::format(
      "<h3>{}</h3>\n<div class=\"scroll\"><table class=\"cards\"><thead><tr><th scope=\"col\">Ceiling</th>"
      "<th scope=\"col\" class=\"n\">Value</th><th scope=\"col\" class=\"n\">Of its limit</th>"
      "<th scope=\"col\">Regime</th><th scope=\"col\" class=\"n\">Clock</th><th scope=\"col\" class=\"n\">Power</th>"
      "<th scope=\"col\">Origin</th><th scope=\"col\">Audit</th></tr></thead><tbody>\n{}</tbody></table></div>\n",
      title, rows);
}

std::string sweeps(const Machine& machine) {
  if (machine.sweeps.empty()) return {};
  std::string html = "<h3>Sweeps</h3>\n<ul class=\"sweeps\">\n";
  for (const Sweep& sweep : machine.sweeps) {
    html += fmt::format("<li><b>{}</b> {}</li>\n", html_name(sweep.name, 32), escape_html(sweep_sentence(sweep)));
  }
  return html + "</ul>\n";
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

std::string html_machine(const Report& report) {
  const Machine& machine = report.machine;
  std::string html = "<section id=\"machine\" aria-labelledby=\"machine-h\">\n<h2 id=\"machine-h\">Machine</h2>\n" +
                     device_facts(machine);
  html += ceilings_table(machine, Role::roof, "Ceilings");
  html += ceilings_table(machine, Role::reference, "For comparison");
  html += sweeps(machine);
  if (!machine.unmeasured.empty()) {
    html += "<h3>Not measured</h3>\n<ul class=\"unmeasured\">\n";
    for (const Unmeasured& missing : machine.unmeasured) {
      html += fmt::format("<li><b>{}</b> {}</li>\n", html_name(missing.name, 32), escape_html(missing.reason));
    }
    html += "</ul>\n";
  }
  return html + "</section>\n";
}

}  // namespace roofline
