#include "render/program_change_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/comparison/program_words.hpp"
#include "report/time_scale.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostCostRows = 12;

Ink difference_ink(double difference_s, double visible_s) {
  if (std::abs(difference_s) < visible_s) return Ink::dim;
  return difference_s < 0 ? Ink::good : Ink::warn;
}

std::string change_word(CostChange change) {
  return change == CostChange::gone || change == CostChange::appeared ? std::string(to_string(change)) : std::string();
}

CostRow row_of_costs(std::string name, double before_s, double now_s, double visible_s) {
  return {.name = std::move(name),
          .before = duration_or_absent(before_s),
          .now = duration_or_absent(now_s),
          .difference = signed_duration(now_s - before_s),
          .ink = difference_ink(now_s - before_s, visible_s)};
}

/// Both bars in one unit. Each adds up as shown, and so do the differences.
ShownCosts shown_parts(const ProgramChange& change, double visible_s) {
  ShownCosts shown{.table = CostTable::parts, .unit = change.unit, .rows = {}};
  if (change.parts.empty()) return shown;
  const TimeScale scale(std::max(change.before.mean.seconds, change.now.mean.seconds), 1);
  std::vector<double> before_s, now_s;
  for (const PartChange& part : change.parts) {
    before_s.push_back(part.before_s);
    now_s.push_back(part.now_s);
  }
  const std::vector<std::int64_t> before = scale.round_together(before_s), now = scale.round_together(now_s);
  const auto add = [&](std::string name, std::int64_t then, std::int64_t today, Ink ink) {
    const std::int64_t difference = today - then;
    const std::string sign = difference < 0 ? "\u2212" : difference > 0 ? "+" : "";
    shown.rows.push_back({.name = std::move(name),
                          .before = scale.text(then),
                          .now = scale.text(today),
                          .difference = sign + scale.text(std::abs(difference)),
                          .ink = ink});
  };
  std::int64_t all_before = 0, all_now = 0;
  for (std::size_t i = 0; i < change.parts.size(); ++i) {
    add(std::string(name_of(change.parts[i].part)), before[i], now[i],
        difference_ink(now_s[i] - before_s[i], visible_s));
    all_before += before[i];
    all_now += now[i];
  }
  add(change.unit == CostUnit::step ? "mean step" : "wall time", all_before, all_now,
      difference_ink(change.now.mean.seconds - change.before.mean.seconds, visible_s));
  return shown;
}

/// True if a change has a row of its own: the differences are sorted, largest first.
bool has_row(double difference_s, double visible_s, std::size_t rows) {
  return rows < kMostCostRows && std::abs(difference_s) >= visible_s;
}

std::string at_line(const std::string& name, const std::string& line) {
  return line.empty() ? name : fmt::format("{} ({})", name, clean_line(line));
}

std::string name_of_cause(const HostCauseCost& cause) {
  std::string name = clean_line(cause.id);
  std::ranges::replace(name, '-', ' ');
  return at_line(name, cause.line);
}

/// A kernel's own sentence has figures of one run.
std::string name_of_cause(const CauseCost& cause) {
  if (!cause.cause) return "GPU idle: no cause of its own";
  const bool kernel = cause.kind == SavingKind::kernel && !cause.kernel.empty();
  const std::string name = kernel ? fmt::format("{} below its roof", clean_line(cause.kernel)) : clean_line(cause.what);
  return at_line(name, cause.line);
}

template <class Cost>
std::string name_of_change(const ChangeOfCause<Cost>& change) {
  return name_of_cause(change.cause);
}
std::string name_of_change(const FunctionChange& change) { return clean_line(change.name); }

/// Those with a visible difference, and the sum of the others.
template <class Entry>
ShownCosts shown_costs(CostTable table, CostUnit unit, const std::vector<Entry>& changes, double visible_s) {
  ShownCosts shown{.table = table, .unit = unit, .rows = {}};
  double other_before = 0, other_now = 0;
  std::size_t others = 0;
  for (const Entry& one : changes) {
    if (one.change == CostChange::same || !has_row(one.difference_s(), visible_s, shown.rows.size())) {
      other_before += one.before_s;
      other_now += one.now_s;
      ++others;
      continue;
    }
    shown.rows.push_back(row_of_costs(name_of_change(one), one.before_s, one.now_s, visible_s));
    shown.rows.back().word = change_word(one.change);
  }
  if (others > 0 && !shown.rows.empty()) {
    shown.rows.push_back(row_of_costs(fmt::format("{} others", others), other_before, other_now, visible_s));
  }
  return shown;
}

std::string pair_text(const std::string& before, const std::string& now) {
  return before == now ? now : fmt::format("{} \u2192 {}", before, now);
}

std::string launches_text(double launches) { return launches > 0 ? number(launches, 4) : kAbsent; }

std::string per_launch(double seconds, double launches) {
  return launches > 0 ? duration(seconds / launches) : kAbsent;
}

CostRow row_of_kernel(std::string name, const KernelChange& kernel, double visible_s) {
  CostRow row = row_of_costs(std::move(name), kernel.before_s, kernel.now_s, visible_s);
  row.launches = pair_text(launches_text(kernel.launches_before), launches_text(kernel.launches_now));
  row.per_launch =
      pair_text(per_launch(kernel.before_s, kernel.launches_before), per_launch(kernel.now_s, kernel.launches_now));
  row.word = change_word(kernel.change);
  return row;
}

void add_kernel(KernelChange& sum, const KernelChange& kernel) {
  sum.launches_before += kernel.launches_before;
  sum.launches_now += kernel.launches_now;
  sum.before_s += kernel.before_s;
  sum.now_s += kernel.now_s;
}

ShownCosts shown_kernels(const ProgramChange& change, double visible_s) {
  ShownCosts shown{.table = CostTable::kernels, .unit = change.unit, .rows = {}};
  KernelChange other, all;
  std::size_t others = 0;
  for (const KernelChange& kernel : change.kernels) {
    add_kernel(all, kernel);
    if (has_row(kernel.difference_s(), visible_s, shown.rows.size())) {
      shown.rows.push_back(row_of_kernel(clean_line(kernel.name), kernel, visible_s));
    } else {
      add_kernel(other, kernel);
      ++others;
    }
  }
  if (change.kernels.empty()) return shown;
  if (others > 0 && !shown.rows.empty()) {
    shown.rows.push_back(row_of_kernel(fmt::format("{} others", others), other, visible_s));
  }
  shown.rows.push_back(row_of_kernel("all kernels", all, visible_s));
  return shown;
}

template <CostTable table>
bool is_table(const ShownCosts& costs) {
  return costs.table == table;
}

std::string cost_name(const CostRow& row) { return row.name; }
std::string cost_name_html(const CostRow& row) { return html_name(row.name, 90); }

template <CostTable table>
constexpr Column<CostRow, ShownCosts> name_column(std::string_view title) {
  return {.title = title,
          .left = true,
          .when = is_table<table>,
          .text = cost_name,
          .terminal = {.first_to = 30, .shrinks = true},
          .page = {.style = "name", .html = cost_name_html}};
}

constexpr Column<CostRow, ShownCosts> kCostColumns[] = {
    name_column<CostTable::parts>("Part"),
    name_column<CostTable::causes>("Cause"),
    name_column<CostTable::kernels>("Kernel"),
    name_column<CostTable::functions>("Function"),
    {.title = "Launches",
     .when = is_table<CostTable::kernels>,
     .text = [](const CostRow& row) { return row.launches; },
     .terminal = {.rank = 2}},
    {.title = "Per launch",
     .when = is_table<CostTable::kernels>,
     .text = [](const CostRow& row) { return row.per_launch; },
     .terminal = {.rank = 1}},
    {.title = "Before", .text = [](const CostRow& row) { return row.before; }},
    {.title = "Now", .text = [](const CostRow& row) { return row.now; }},
    {.title = "Change",
     .text = [](const CostRow& row) { return row.difference; },
     .terminal = {.ink = [](const CostRow& row) { return row.ink; }}},
    {.title = "Verdict",
     .left = true,
     .shown = [](const ShownCosts& costs) { return costs.table != CostTable::parts; },
     .text = [](const CostRow& row) { return row.word; }},
};

}  // namespace

std::vector<ShownCosts> cost_tables(const ProgramChange& change) {
  const double visible_s = change.visible_s();
  std::vector<ShownCosts> tables = {shown_parts(change, visible_s),
                                    shown_costs(CostTable::causes, change.unit, change.causes, visible_s),
                                    shown_costs(CostTable::causes, change.unit, change.host_causes, visible_s),
                                    shown_costs(CostTable::functions, change.unit, change.functions, visible_s)};
  // In whole runs each launch signature already has a row.
  if (change.unit == CostUnit::step) tables.push_back(shown_kernels(change, visible_s));
  std::erase_if(tables, [](const ShownCosts& costs) { return costs.rows.empty(); });
  return tables;
}

std::span<const Column<CostRow, ShownCosts>> cost_columns() { return kCostColumns; }

std::string title_of(const ShownCosts& costs) {
  const char* unit = costs.unit == CostUnit::step ? "step" : "run";
  switch (costs.table) {
    case CostTable::parts:
      return fmt::format("Parts of a {}{}", costs.unit == CostUnit::step ? "mean " : "", unit);
    case CostTable::causes:
      return fmt::format("Causes of lost time, per {}", unit);
    case CostTable::functions:
      return "CPU time of functions";
    default:
      return fmt::format("Kernels, per {}", unit);
  }
}

}  // namespace roofline
