// What a CI service shows of a comparison: each row as a test case (JUnit XML), or what got worse as an alert at the
// suite's line (SARIF 2.1.0). Both have the figures of the CSV columns, under the same names.
#pragma once

#include <string>

#include "report/comparison/comparison.hpp"

namespace roofline {

/// One test case per row; of programs with steps one for the step. What is a regression is a failure, with or without a
/// gate: as the exit status. What was not timed in both runs is skipped, and a run without its end is an error.
std::string render_comparison_junit(const Comparison& comparison);

/// Results are errors (regressions) and notes (slower within the limit, and undecided).
std::string render_comparison_sarif(const Comparison& comparison);

}  // namespace roofline
