// Diagnosis by experiment: rows of a CPU that nothing explains are run again with one thing changed. Method and limits:
// docs/method.md.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analyze/analyze.hpp"

namespace roofline {

/// The workload with its working set reduced to `bytes`, hot, with the same work per element: the first extent that
/// suffices alone, otherwise (and of `products`) extents are halved, each time the one that keeps the most operations
/// per byte. Nothing where no valid shape is that small.
std::optional<Workload> shrunk(const SuiteEntry& entry, double bytes, bool products);

/// The workload with its leading extent doubled; nothing where that is not valid.
std::optional<Workload> doubled(const SuiteEntry& entry);

/// Rows that the rules leave unexplained, or explain by their rate alone, on a CPU without counters: in
/// Report::points, the largest saving first.
std::vector<std::size_t> rows_for_experiments(const Suite& suite, const Report& report);

/// Runs experiments on those rows in a process of their own, for `options.experiments_s` in all, and stores the results
/// in the rows.
void run_experiments(const Suite& suite, const Machine& machine, const AnalyzeOptions& options, Report& report);

}  // namespace roofline
