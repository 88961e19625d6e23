#include "render/comparison_cases.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "model/nan.hpp"
#include "report/comparison/program_words.hpp"
#include "report/findings.hpp"
#include "report/profile_findings.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

CaseOutcome outcome_of(const Comparison& comparison, const PointChange& change) {
  const bool timed_in_both = std::isfinite(change.time_ratio);
  if (comparison.is_regression(change)) return timed_in_both ? CaseOutcome::regression : CaseOutcome::failed;
  if (!timed_in_both) return CaseOutcome::not_compared;
  if (change.change == Change::slower) return CaseOutcome::slower;
  return change.change == Change::undecided ? CaseOutcome::undecided : CaseOutcome::passed;
}

std::string sentence_of(const ComparisonRow& row) {
  const Comparison& comparison = *row.comparison;
  if (!std::isfinite(row.change->time_ratio)) {
    const std::string reason = row.now != nullptr ? row.now->reason : "";
    return verdict(comparison, *row.change) + (reason.empty() ? "" : ": " + clean_line(reason));
  }
  return fmt::format("{}: {} \u2192 {}, {}\u00d7 the time (95 %: {})", verdict(comparison, *row.change),
                     duration(row.before->time->median), duration(row.now->time->median), ratio_text(*row.change),
                     ratio_interval(*row.change));
}

std::vector<std::pair<std::string, Value>> facts_of(const ComparisonRow& row) {
  std::vector<std::pair<std::string, Value>> facts;
  for (const auto* column : columns_in(kCsv, comparison_columns(), *row.comparison)) {
    const Value value = column->value(row);
    const bool is_text = std::holds_alternative<std::string>(value);
    const bool absent = is_text ? std::get<std::string>(value).empty() : exact_text(value).empty();
    if (!absent) facts.emplace_back(column->key, value);
  }
  return facts;
}

ComparisonCase case_of_program(const Comparison& comparison) {
  const ProgramChange& program = *comparison.program;
  const TimeChange& time = program.deciding();
  ComparisonCase step{.name = std::string(name_of_deciding(program)),
                      .outcome = comparison.program_regressed() ? CaseOutcome::regression : CaseOutcome::passed,
                      .sentence = comparison_headline(comparison)};
  if (time.change == Change::undecided && step.outcome == CaseOutcome::passed) step.outcome = CaseOutcome::undecided;
  if (!time.known()) step.outcome = CaseOutcome::not_compared;
  step.now_s = time.now.seconds;
  step.facts = {{"before_s", time.before.seconds},    {"now_s", time.now.seconds},
                {"time_ratio", time.ratio},           {"ratio_low", time.ratio_ci95.low},
                {"ratio_high", time.ratio_ci95.high}, {"regression", comparison.program_regressed()}};
  std::erase_if(step.facts, [](const auto& fact) { return exact_text(fact.second).empty(); });
  return step;
}

/// Names that several rows have get a number.
void number_repeated_names(std::vector<ComparisonCase>& cases) {
  std::map<std::string, int> seen;
  for (ComparisonCase& one : cases) {
    if (const int times = ++seen[one.name]; times > 1) one.name += fmt::format(" #{}", times);
  }
}

}  // namespace

std::string_view to_string(CaseOutcome outcome) {
  switch (outcome) {
    case CaseOutcome::passed:
      return "passed";
    case CaseOutcome::slower:
      return "slower";
    case CaseOutcome::undecided:
      return "undecided";
    case CaseOutcome::not_compared:
      return "not-compared";
    case CaseOutcome::regression:
      return "regression";
    case CaseOutcome::failed:
      break;
  }
  return "failed";
}

std::vector<ComparisonCase> comparison_cases(const Comparison& comparison) {
  if (comparison.program_decides()) return {case_of_program(comparison)};
  std::vector<ComparisonCase> cases;
  for (const ComparisonRow& row : comparison_rows(comparison, worst_first(comparison))) {
    cases.push_back({.name = clean_line(point_name(row.point())),
                     .outcome = outcome_of(comparison, *row.change),
                     .sentence = sentence_of(row),
                     .now_s = row.now != nullptr && row.now->time ? row.now->time->median : kNaN,
                     .facts = facts_of(row),
                     .point = &row.point()});
  }
  number_repeated_names(cases);
  return cases;
}

std::string subject_of(const Report& report) {
  return clean_line(report.profile ? program_name(*report.profile) : "suite " + report.invocation.run_name);
}

std::string exact_text(const Value& value) {
  const std::string* const text = std::get_if<std::string>(&value);
  return text != nullptr ? *text : csv_field(value);
}

}  // namespace roofline
