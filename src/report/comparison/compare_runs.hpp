// Two runs of a suite side by side: which kernels got slower, and by how much. Pure arithmetic on times.
#pragma once

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

/// One row of either run. Rows are the same when op, label, implementation, type, shape and cache mode are; what
/// stands several times in both runs is matched in order.
struct PointChange {
  std::optional<std::size_t> before, now;  ///< indices into the runs' points; absent: that run has no such row
  double time_ratio = 0;                   ///< now / before: above 1 is slower; NaN unless both were timed
  Interval ratio_ci95;                     ///< from the ends of both 95 % intervals
  /// `only_before`, `only_now`: timed in that run only (the other one may hold a row that failed). `untimed`: in none.
  Change change = Change::same;
  RatioBasis basis = RatioBasis::one_run;
  std::int64_t repetitions_before = 1, repetitions_now = 1;  ///< runs or rounds that the ratio is from
};

/// The rows of both, matched and not yet compared, in the order of compare_runs().
std::vector<PointChange> match_rows(const Report& before, const Report& now);

/// In the order of `now`, then what is only in `before`. A row changed when its ratio differs from 1 by more than
/// `threshold` and the interval of the ratio leaves 1 out.
std::vector<PointChange> compare_runs(const Report& before, const Report& now, double threshold = kRunToRun);

/// The default limit of a gate.
inline constexpr double kMaxSlowdown = 0.03;

/// What a gate fails on. Of one run: slower by more than `max_slowdown` (0.03 is 3 %), and beyond the intervals. Of
/// several runs or rounds: decided as slower (measure/repeated_ratio.hpp).
bool regressed(const PointChange& change, double max_slowdown);

}  // namespace roofline
