// Diagnosis by experiment: rows of a CPU that nothing explains are run again with one thing changed. Method and limits:
// docs/method.md.
#pragma once

#include <cstddef>
#include <vector>

#include "analyze/analyze.hpp"

namespace roofline {

/// Indices in Report::points of the rows that the rules leave unexplained, or explain only by their rate, on a CPU
/// without counters; largest saving first.
std::vector<std::size_t> rows_for_experiments(const Suite& suite, const Report& report);

/// Runs experiments on those rows in a process of their own, for `options.experiments_s` in all and some seconds more
/// for each own kernel, and stores the results in the rows.
void run_experiments(const Suite& suite, const AnalyzeOptions& options, Report& report);

}  // namespace roofline
