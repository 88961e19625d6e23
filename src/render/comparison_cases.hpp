// The rows of a comparison as the formats of CI services need them: a unique name, an outcome and a sentence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "render/comparison_columns.hpp"

namespace roofline {

/// Outcome of a row, or of the step or wall time of two programs.
enum class CaseOutcome : std::uint8_t { passed, slower, undecided, not_compared, regression, failed };
std::string_view to_string(CaseOutcome outcome);

struct ComparisonCase {
  std::string name;  ///< unique within the comparison, on one line
  CaseOutcome outcome = CaseOutcome::passed;
  std::string sentence;  ///< "249 µs → 299 µs, 1.200× the time (95 %: 1.195–1.205)"
  double now_s = kNaN;   ///< NaN: not timed
  std::vector<std::pair<std::string, Value>> facts = {};  ///< those of the CSV columns that this row has
  const Point* point = nullptr;                           ///< null: the program
};

/// Cases in the order of worst_first(); for programs that decide by their step or wall time only that.
std::vector<ComparisonCase> comparison_cases(const Comparison& comparison);

/// Subject of a run: "suite ops", "train.py --steps 100".
std::string subject_of(const Report& report);

/// The exact value: numbers with the shortest digits that read back; empty where it is absent.
std::string exact_text(const Value& value);

}  // namespace roofline
