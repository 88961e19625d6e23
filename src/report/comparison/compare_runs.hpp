// Two runs of a suite side by side: which kernels got slower, and by how much. Pure arithmetic on times.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/compare_machines.hpp"
#include "report/report.hpp"

namespace roofline {

/// What the interval of a ratio covers. one_run: the noise within one run on each side. runs: the scatter between runs.
/// rounds: the scatter between rounds of `roofline ab`, each with new buffers.
enum class RatioBasis : std::uint8_t { one_run, runs, rounds };
std::string_view to_string(RatioBasis basis);

/// One row of either run. Rows match if op, label, implementation, type, shape and cache mode are equal; duplicates are
/// matched in order.
struct PointChange {
  std::optional<std::size_t> before, now;  ///< indices into the runs' points; std::nullopt: no such row in that run
  double time_ratio = 0;                   ///< now / before: above 1 is slower; NaN unless both were timed
  Interval ratio_ci95;                     ///< from the bounds of both 95 % intervals
  /// `only_before`, `only_now`: timed in that run only (the other one may hold a row that failed). `untimed`: in none.
  Change change = Change::same;
  RatioBasis basis = RatioBasis::one_run;
  std::int64_t repetitions_before = 1, repetitions_now = 1;  ///< number of runs or rounds behind the ratio
};

/// True if both runs timed the row.
inline bool is_compared(const PointChange& change) { return std::isfinite(change.time_ratio); }

/// The rows of both runs, matched but not yet compared, in the order of compare_runs().
std::vector<PointChange> match_rows(const Report& before, const Report& now);

/// Rows in the order of `now`, then those only in `before`. A row has changed if its ratio differs from 1 by more than
/// `threshold` and the interval of the ratio excludes 1.
std::vector<PointChange> compare_runs(const Report& before, const Report& now, double threshold = kRunToRun);

/// Default slowdown limit of the regression gate, as a fraction.
inline constexpr double kMaxSlowdown = 0.03;

/// True if a gate fails on the row. With one run per side: slower by more than `max_slowdown` (0.03 is 3 %) and beyond
/// the intervals. With several runs or rounds: decided as slower (measure/repeated_ratio.hpp).
bool regressed(const PointChange& change, double max_slowdown);

}  // namespace roofline
