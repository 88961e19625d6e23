// Reports: the summary of a suite, lists of rows and savings, and one row.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <vector>

#include "mcp/digest.hpp"
#include "mcp/facts.hpp"
#include "model/error.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::size_t kSummaryRows = 8, kSectionRows = 40, kCandidates = 10;
constexpr int kLabelColumns = 90;

std::string label_of(const Json& row) { return shorten(text_fact(row, "label"), kLabelColumns); }

/// Seconds above the roof, of all launches; std::nullopt if the row has no roof.
std::optional<double> saving_of(const Json& row) {
  const std::optional<double> median = number_fact(row, "time_s.median");
  const std::optional<double> fraction = number_fact(row, "fraction_of_roof");
  if (!median || !fraction) return std::nullopt;
  const double total = number_fact_or(row, "profiled.total_s", *median);
  return std::max(0.0, total * (1 - *fraction));
}

/// Failed rows come first.
double weight_of(const Json& row) {
  if (text_fact(row, "status") == "failed") return std::numeric_limits<double>::infinity();
  return saving_of(row).value_or(number_fact_or(row, "profiled.total_s", 0));
}

std::string doubts_of(const Json& row) {
  std::string doubts;
  for (const char* doubt : {"suspect", "provisional", "above_roof", "not_cold"}) {
    if (flag_fact(row, doubt)) doubts += fmt::format(" [{}]", doubt);
  }
  return doubts;
}

/// "#3 gemm fp32 …: 4.51 µs, 33.4 % of roof (tensor.bf16, compute), saving 471 ms: bank-conflicts".
std::string row_line(const Json& row, std::size_t number) {
  const std::string status = text_fact(row, "status");
  const std::string impl = text_fact(row, "impl");
  std::string line = fmt::format("#{} {}{}: ", number, label_of(row), impl.empty() ? "" : fmt::format(" ({})", impl));
  if (status != "ok") return line + fmt::format("{}: {}", status, text_fact(row, "reason"));
  line += duration_fact(row, "time_s.median");
  if (const auto launches = number_fact(row, "profiled.launches"); launches && *launches > 1) {
    line += fmt::format(" x {}", count_fact(row, "profiled.launches"));
  }
  if (find_fact(row, "fraction_of_roof") != nullptr) {
    line += fmt::format(", {} of roof ({}, {})", percent_fact(row, "fraction_of_roof"),
                        text_fact(row, "limiting_ceiling"), text_fact(row, "bound"));
  }
  if (const auto saving = saving_of(row)) line += ", saving " + duration(*saving);
  const Json& rules = list_fact(row, "diagnosis");
  if (!rules.empty()) line += "; " + text_fact(rules[0], "rule");
  return line + doubts_of(row);
}

void list_rows(const Json& rows, std::size_t offset, std::size_t most, Digest& digest) {
  const std::vector<std::size_t> order = largest_first(rows, weight_of);
  std::size_t at = std::min(offset, order.size());
  const std::size_t end = std::min(order.size(), at + most);
  for (; at < end && digest.has_room(); ++at) {
    if (!digest.item(row_line(rows[order[at]], order[at] + 1))) break;
  }
  digest_offset(offset, order.size(), "rows", digest);
  if (at < order.size()) {
    digest.more(fmt::format("{} more rows: section=rows offset={}", order.size() - at, at));
  }
}

/// Verdicts of the rows with the largest savings, each cause once.
void list_verdicts(const Json& rows, Digest& digest) {
  constexpr std::size_t kMostVerdicts = 4;
  std::vector<std::string> told;
  for (const std::size_t at : largest_first(rows, weight_of)) {
    const Json& rules = list_fact(rows[at], "diagnosis");
    if (told.size() == kMostVerdicts || rules.empty()) continue;
    const std::string rule = text_fact(rules[0], "rule");
    if (rule == "good-enough" || std::find(told.begin(), told.end(), rule) != told.end()) continue;
    if (told.empty()) digest.line("verdicts:");
    told.push_back(rule);
    digest.line(
        fmt::format("#{} {}: {} Next: {}", at + 1, rule, text_fact(rules[0], "finding"), text_fact(rules[0], "next")),
        320);
  }
}

void digest_suite(const Json& report, Digest& digest) {
  const Json& rows = list_fact(report, "results");
  std::size_t ok = 0, failed = 0;
  for (const Json& row : rows) {
    const std::string status = text_fact(row, "status");
    ok += status == "ok" ? 1 : 0;
    failed += status == "failed" ? 1 : 0;
  }
  digest.line(fmt::format("suite {} on {}: {} rows, {} timed, {} skipped, {} failed",
                          text_fact(report, "invocation.suite"), text_fact(report, "machine.device.name"), rows.size(),
                          ok, rows.size() - ok - failed, failed));
  digest.line("rows, the largest saving (time above the roof) first:");
  list_rows(rows, 0, kSummaryRows, digest);
  list_verdicts(rows, digest);
}

/// The sections that the report has something for: "savings (5), roofs (63), host (40 lines)".
std::string sections_of(const Json& report) {
  std::string sections;
  const auto add = [&](const char* section, std::size_t entries, const char* unit = "") {
    if (entries > 0) sections += fmt::format("{}{} ({}{})", sections.empty() ? "" : ", ", section, entries, unit);
  };
  add("rows", list_fact(report, "results").size());
  add("savings", list_fact(report, "profile.wins").size());
  add("lines", list_fact(report, "profile.instructions.kernels").size(), " kernels");
  add("roofs", list_fact(report, "machine.ceilings").size());
  add("host", list_fact(report, "profile.host.lines").size(), " lines");
  add("memory", list_fact(report, "profile.memory.devices").size() + list_fact(report, "profile.memory.host").size());
  return sections.empty() ? "the report is empty" : "sections of this report: " + sections;
}

/// A row by "#3", its id, its label or a part of them. Throws UsageError with candidates.
std::size_t find_row(const Json& report, const std::string& wanted) {
  const Json& rows = list_fact(report, "results");
  if (rows.empty()) {
    throw UsageError(fmt::format("row {}: the report has no rows", shorten(clean_line(wanted), 80)),
                     sections_of(report));
  }
  const std::string_view digits = std::string_view(wanted).substr(wanted.starts_with('#') ? 1 : 0);
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc() && end == digits.data() + digits.size()) {
    if (number >= 1 && number <= rows.size()) return number - 1;
    const std::string known = rows.size() == 1 ? "one row, #1" : fmt::format("rows #1 to #{}", rows.size());
    throw UsageError(fmt::format("row {}: the report has {}", wanted, known));
  }
  std::vector<std::size_t> parts;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string id = text_fact(rows[i], "id"), label = text_fact(rows[i], "label");
    if (id == wanted) return i;
    if (id.find(wanted) != std::string::npos || label.find(wanted) != std::string::npos) parts.push_back(i);
  }
  if (parts.size() == 1) return parts.front();
  std::string candidates;
  for (std::size_t i = 0; i < std::min(parts.size(), kCandidates); ++i) {
    candidates += fmt::format("{}#{} {}", i == 0 ? "" : "; ", parts[i] + 1, label_of(rows[parts[i]]));
  }
  throw UsageError(fmt::format("row {}: {} rows match", shorten(clean_line(wanted), 80), parts.size()),
                   candidates.empty() ? "section=rows lists them" : candidates);
}

}  // namespace

void digest_savings(const Json& report, std::size_t offset, std::size_t most, Digest& digest) {
  const Json& savings = list_fact(report, "profile.wins");
  digest_offset(offset, savings.size(), "savings", digest);
  std::size_t at = std::min(offset, savings.size());
  const std::size_t end = std::min(savings.size(), at + most);
  if (at < end) digest.line("potential savings:");
  for (; at < end; ++at) {
    const Json& saving = savings[at];
    const std::string category = text_fact(saving, "kind"), cause = text_fact(saving, "cause");
    const std::string line = text_fact(saving, "line");
    std::string text = fmt::format("{}. {} {}{}{}: {}. {}", at + 1, duration_fact(saving, "seconds"), category,
                                   cause.empty() || cause == category ? "" : "/" + cause,
                                   flag_fact(saving, "one_off") ? " (once)" : "", text_fact(saving, "what"),
                                   text_fact(saving, "evidence"));
    if (const auto row = number_fact(saving, "result")) text += fmt::format(" [#{:.0f}]", *row + 1);
    if (!line.empty()) text += fmt::format(" [{}]", line);
    if (!digest.item(shorten(text, 330) + "\n   Next: " + text_fact(saving, "action"), 560)) break;
  }
  if (at < savings.size()) {
    digest.more(fmt::format("{} more savings: section=savings offset={}", savings.size() - at, at));
  }
}

void digest_report(const Json& report, const ReportView& view, Digest& digest) {
  const Json& rows = list_fact(report, "results");
  digest.cut_hint("ask for a section or a row");
  if (!flag_fact(report, "complete")) digest.line("incomplete: the run was ended early");
  if (!view.row.empty()) {
    const std::size_t at = find_row(report, view.row);
    digest_row(rows[at], at + 1, digest);
    digest_samples_of_row(report, rows[at], digest);
  } else if (view.section == "rows" && rows.empty()) {
    digest.line("no rows: no kernel was timed; " + sections_of(report));
  } else if (view.section == "savings" && list_fact(report, "profile.wins").empty()) {
    digest.line("no savings in this report; " + sections_of(report));
  } else if (view.section == "rows") {
    list_rows(rows, view.offset, kSectionRows, digest);
  } else if (view.section == "savings") {
    digest_savings(report, view.offset, kSectionRows, digest);
  } else if (view.section == "roofs") {
    digest_machine(object_fact(report, "machine"), view.offset, digest);
  } else if (view.section == "host") {
    digest_host(report, view.offset, digest);
  } else if (view.section == "lines") {
    digest_lines(report, view.offset, digest);
  } else if (view.section == "memory") {
    digest_memory(report, digest);
  } else {
    if (find_fact(report, "profile") == nullptr) {
      digest_suite(report, digest);
    } else {
      digest_profile(report, digest);
      if (!rows.empty()) {
        digest.line("kernels, the largest saving first:");
        list_rows(rows, 0, kSummaryRows, digest);
      }
    }
    if (!view.report.empty()) {
      digest.footer(
          fmt::format("report: {} (tool report: row=#N for one row; section=rows, savings, lines, roofs, "
                      "host, memory; compare two)",
                      view.report));
    }
  }
}

}  // namespace roofline
