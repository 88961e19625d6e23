// The results table for a terminal: rows grouped under op and shape, so that all figures fit 80 columns.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "render/counters_tables.hpp"
#include "render/kernel_columns.hpp"
#include "render/render.hpp"
#include "render/terminal/bound.hpp"
#include "render/terminal/profile.hpp"
#include "render/terminal/table.hpp"
#include "report/findings.hpp"
#include "report/roof_share.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// Removes " words" from the end of a text.
void remove_end(std::string& text, std::string_view words) {
  if (!words.empty() && text.ends_with(" " + std::string(words))) text.erase(text.size() - words.size() - 1);
}

/// The line that rows of one op and shape stand under: the label that every output has, without what the rows below it
/// state (suite_row_name). A label of the suite's own is its own line.
std::string group_name(const Workload& workload) {
  const std::string dtype(to_string(workload.dtype));
  const std::string start = workload.op + " " + dtype;
  std::string label = workload.label.empty() ? workload.op : workload.label;
  if (!label.starts_with(start) || (label.size() > start.size() && label[start.size()] != ' '))
    return clean_line(label);
  label.erase(workload.op.size(), dtype.size() + 1);
  remove_end(label, to_string(workload.cache));
  remove_end(label, workload.implementation);
  return clean_line(label);
}

/// The rates of the probes that were slower or faster than their roofs beside a row.
std::string probe_lines(const Report& report, const TerminalStyle& style) {
  constexpr std::size_t kMost = 8;
  std::string text;
  std::size_t shown = 0, all = 0;
  for (const Point& point : report.points) {
    const std::string rates = probe_rates_text(point);
    if (rates.empty() || share_basis(point, report) != ShareBasis::probe || ++all > kMost) continue;
    ++shown;
    const std::string line =
        fmt::format("{}: {} reached {}", clean_line(point_name(point)), point.bound.limiting_ceiling, rates);
    text += wrapped("* ", for_terminal(line, style), style);
  }
  return all > shown ? text + fmt::format("* and {} more rows\n", all - shown) : text;
}

/// What the signs and short titles of the table mean, of those that it has.
std::string table_key(const Report& report, const TerminalTable& table, const TerminalStyle& style) {
  bool interval = false, above = false, uncertain = false, suspect = false, probe = false, unpaired = false;
  for (const Point& point : report.points) {
    if (point.status != PointStatus::ok || !point.time) continue;
    interval |= point.time->ci95.known();
    above |= point.above_roof();
    uncertain |= badly_measured(point) && !point.above_roof();
    suspect |= point.bound.suspect;
    const ShareBasis basis = share_basis(point, report);
    probe |= basis == ShareBasis::probe;
    unpaired |= basis == ShareBasis::unpaired;
  }
  std::vector<std::string> parts;
  if (table.shows("AI", style)) parts.emplace_back("AI: FLOP per byte of main memory");
  parts.emplace_back("roof: share of the roof that limits the kernel");
  if (interval) parts.emplace_back("\u00b1: 95 % interval of the time");
  if (uncertain) parts.emplace_back("?: not measured well enough to draw conclusions");
  if (suspect) parts.emplace_back("? after a roof: its audit failed");
  if (probe) parts.emplace_back("*: share of what the roof's probe reached beside the row, in alternation with it");
  if (unpaired) parts.emplace_back("\u2020: share of the calibrated roof, not paired with its probe");
  if (above) parts.emplace_back("\u25b2: above its roof: the roof or the counted work is wrong");
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "; ") + part;
  std::string lines = wrapped("", for_terminal(text, style), style);
  lines.pop_back();
  return inked(lines, Ink::dim, style) + '\n' + probe_lines(report, style);
}

std::string results_table(const Report& report, const TerminalStyle& style) {
  const auto columns = columns_in(kTerminal, kernel_columns(), report);
  TerminalTable table = terminal_head(columns, report);
  std::string group;
  bool first = true;
  for (const KernelRow& row : kernel_rows(report)) {
    if (!row.timed()) continue;
    const std::string name = group_name(row.point.workload);
    if (first || name != group) table.add_heading(name);
    group = name;
    first = false;
    table.add_row(terminal_cells(columns, row, style));
  }
  return first ? "" : table.render(style) + table_key(report, table, style);
}

/// The device and the machine in one line, or in two where one is too short for them.
std::string title(const Report& report, const TerminalStyle& style) {
  const std::string device = shorten(clean_line(report.machine.device.name), 60);
  std::string facts;
  for (const std::string& part : headline(report)) facts += (facts.empty() ? "" : " \u00b7 ") + part;
  const bool one_line = display_width(device) + 3 + display_width(facts) <= style.columns;
  const std::string first = one_line && !facts.empty() ? device + " \u00b7 " + facts : device;
  std::string text = inked(for_terminal(shorten(first, style.columns), style), Ink::bold, style) + '\n';
  if (!one_line) text += wrapped("", for_terminal(facts, style), style);
  return text;
}

/// The first line wrapped; what follows it is a compiler's output, whose lines stay as they are.
std::string reason_lines(const std::string& reason, const TerminalStyle& style) {
  constexpr std::size_t kMostReasonLines = 40;
  if (reason.empty()) return "";
  const std::vector<std::string> lines = clean_lines(reason, kMostReasonLines);
  std::string text = wrapped("           ", for_terminal(clean_line(lines.front()), style), style);
  for (std::size_t i = 1; i < lines.size(); ++i) text += for_terminal(lines[i], style) + '\n';
  return text;
}

std::string untimed_rows(const Report& report, const TerminalStyle& style) {
  std::string text;
  for (const KernelRow& row : kernel_rows(report)) {
    if (row.timed()) continue;
    const Point& point = row.point;
    const std::string status =
        inked(to_string(point.status), point.status == PointStatus::failed ? Ink::bad : Ink::dim, style);
    text += fmt::format("  {}  {}\n", status, for_terminal(shorten(point_name(point), style.columns - 12), style));
    text += reason_lines(point.reason, style);
  }
  return text;
}

/// What the verdicts say already, each under its kernel, has no second place.
bool repeats_verdicts(FindingKind kind) {
  return kind == FindingKind::largest_saving || kind == FindingKind::next_savings || kind == FindingKind::rows_at_roof;
}

/// The other configurations of kernels whose fastest was kept.
std::string tried_configurations(const Report& report, const TerminalStyle& style) {
  std::string text;
  for (const Point& point : report.points) {
    const std::string tried = tried_text(point);
    if (tried.empty()) continue;
    text += fmt::format("{}\n", for_terminal(shorten("tried: " + point_name(point), style.columns), style));
    text += wrapped("  ", for_terminal(tried, style), style);
  }
  return text;
}

}  // namespace

std::string render_terminal(const Report& report, const TerminalStyle& style) {
  if (report.profile) return profile_terminal(report, style);
  std::string text = title(report, style) + '\n';
  const std::string table = results_table(report, style);
  if (!table.empty()) text += table + '\n';
  const std::string untimed = untimed_rows(report, style);
  if (!untimed.empty()) text += untimed + '\n';
  const std::string tried = tried_configurations(report, style);
  if (!tried.empty()) text += tried + '\n';
  const std::string texts = verdicts_terminal(report, style);
  if (!texts.empty()) text += texts + '\n';
  for (const Finding& finding : findings(report)) {
    if (!texts.empty() && repeats_verdicts(finding.kind)) continue;
    text += wrapped(for_terminal("\u00b7 ", style), for_terminal(finding.text, style), style);
  }
  for (const std::string& note : report.notes) {
    text += wrapped(inked("! ", Ink::plain, style), for_terminal(clean_line(note), style), style);
  }
  return text;
}

}  // namespace roofline
