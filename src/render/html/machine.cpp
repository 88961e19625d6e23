// The machine: its ceilings with their audits, what could not be measured, and the device.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "model/find.hpp"
#include "render/ceiling_columns.hpp"
#include "render/html/escape.hpp"
#include "render/html/sections.hpp"
#include "report/roofs.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// The names of all checks, in the order of their first appearance.
std::vector<std::string> check_names(const Machine& machine) {
  std::vector<std::string> names;
  for (const Ceiling& ceiling : machine.ceilings) {
    for (const Check& check : ceiling.audit.checks) {
      if (!contains(names, check.name)) names.push_back(check.name);
    }
  }
  return names;
}

std::string check_mark(const Audit& audit, const std::string& name) {
  for (const Check& check : audit.checks) {
    if (check.name != name) continue;
    if (check.status == CheckStatus::fail) return "<b class=\"warn\">fail</b>";
    if (check.status == CheckStatus::provisional) return "provisional";
    return check.status == CheckStatus::pass ? "\u00b7" : kAbsent;
  }
  return {};
}

/// Every check of every ceiling at a glance.
std::string audit_table(const Machine& machine) {
  const std::vector<std::string> names = check_names(machine);
  if (names.empty()) return {};
  std::string html =
      "<details id=\"audit\"><summary>All audit checks</summary>\n<p class=\"lead\">\u00b7 passed, \u2013 could not "
      "run, empty: not applicable. The measured figures are in the report\u2019s JSON.</p>\n<div "
      "class=\"scroll\"><table class=\"audit\"><thead><tr><th scope=\"col\">Ceiling";
  for (const std::string& name : names) html += fmt::format("<th scope=\"col\">{}", escape_html(name));
  html += "</tr></thead><tbody>\n";
  for (const Ceiling& ceiling : machine.ceilings) {
    html += fmt::format("<tr><th scope=\"row\">{}", html_name(ceiling_label(ceiling), 36));
    for (const std::string& name : names) html += "<td>" + check_mark(ceiling.audit, name);
    html += '\n';
  }
  return html + "</tbody></table></div></details>\n";
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
  const std::vector<CeilingRow> rows = ceiling_rows(machine, CeilingTable::machine, role);
  if (rows.empty()) return {};
  return fmt::format("<h3>{}</h3>\n", title) +
         html_table("cards ceilings", "", ceiling_columns(), CeilingTable::machine, rows, [](const CeilingRow& row) {
           return fmt::format(" data-label=\"{}\" data-at=\"{}\" data-checks=\"{}\"{}",
                              escape_html(clean_line(ceiling_label(row.ceiling))), row.index,
                              row.ceiling.audit.checks.size(), row.ceiling.suspect() ? " class=\"suspect\"" : "");
         });
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
  return html_column_names(".ceilings", columns_in(kPage, ceiling_columns(), CeilingTable::machine));
}

}  // namespace roofline
