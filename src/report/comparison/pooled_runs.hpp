// Several runs of one side of a comparison as one report, with the time of each run: their scatter is the noise that
// the interval of a single run does not contain.
#pragma once

#include <cstddef>
#include <vector>

#include "measure/repeated_ratio.hpp"
#include "report/comparison/compare_runs.hpp"
#include "report/comparison/program_cost.hpp"

namespace roofline {

struct PooledRuns {
  /// The rows of all runs. A time is the geometric mean of the runs' medians, with the interval of that mean; totals of
  /// programs are means. A row that failed in one run is failed. Contention is that of the run with the most.
  Report report;
  std::vector<std::vector<Repetition>> times;  ///< per row, one entry for each run that timed it
  std::size_t runs = 1;
  std::vector<ProgramCosts> programs = {};  ///< program costs, one per run
};

/// Requires at least one run. Device and calibration are those of the first.
PooledRuns pool_runs(std::vector<Report> runs);

/// Like compare_runs() for two reports. Rows that a side timed in several runs are decided by `decide`
/// (measure/repeated_ratio.hpp), the others by `threshold`.
std::vector<PointChange> compare_runs(const PooledRuns& before, const PooledRuns& now, double max_slowdown,
                                      double threshold = kRunToRun);

}  // namespace roofline
