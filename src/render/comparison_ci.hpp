// Comparisons for CI services: each row as a test case (JUnit XML), or regressions as alerts at the suite's line (SARIF
// 2.1.0). Both have the figures and names of the CSV columns.
#pragma once

#include <string>

#include "report/comparison/comparison.hpp"

namespace roofline {

/// One test case per row, or one for the step of programs with steps. A regression is a failure with or without a gate,
/// like the exit status. Rows not timed in both runs are skipped, and an incomplete run is an error.
std::string render_comparison_junit(const Comparison& comparison);

/// Results are errors (regressions) and notes (slower within the limit, and undecided).
std::string render_comparison_sarif(const Comparison& comparison);

}  // namespace roofline
