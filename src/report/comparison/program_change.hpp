// What changed in the cost of a program between two profiles: a step against a step, or a whole run against a whole run
// where one of them has no steps. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/comparison/compare_runs.hpp"
#include "report/comparison/program_cost.hpp"

namespace roofline {

/// A time before and now. NaN where a side lacks it.
struct TimeChange {
  CostTime before = {}, now = {};
  double ratio = kNaN;  ///< now / before: above 1 is slower
  Interval ratio_ci95 = {};
  Change change = Change::untimed;
  RatioBasis basis = RatioBasis::one_run;

  bool known() const { return change != Change::untimed; }
};

/// How a cause or a kernel changed. same: by less than kVisibleShare of the mean step.
enum class CostChange : std::uint8_t { same, smaller, larger, gone, appeared };
std::string_view to_string(CostChange change);  ///< "new" for appeared

/// Of the larger mean step of both: a smaller difference is not shown.
inline constexpr double kVisibleShare = 0.005;

struct PartChange {
  WallPart part = WallPart::unknown;
  double before_s = 0, now_s = 0;
};

struct CauseChange {
  CauseCost cause = {};  ///< as it is now; of one that is gone, as it was
  std::string line_before = {};
  double before_s = 0, now_s = 0;
  CostChange change = CostChange::same;

  double difference_s() const { return now_s - before_s; }
};

struct KernelChange {
  std::string name;
  double launches_before = 0, launches_now = 0;
  double before_s = 0, now_s = 0;  ///< of all launches of a step or run
  CostChange change = CostChange::same;

  double difference_s() const { return now_s - before_s; }
};

/// What the program does before its first step, without profiler overhead.
struct StartUpChange {
  StartUpPart part = StartUpPart::host;
  double before_s = 0, now_s = 0;
};

struct ProgramChange {
  CostUnit unit = CostUnit::step;
  /// Whether a run before and a run now lack steps: why whole runs are compared.
  bool no_steps_before = false, no_steps_now = false;
  ProgramCost before = {}, now = {};  ///< means over the runs of a side
  /// Typical step while nothing was recorded where both sides have it, else while recorded; of a run the time in which
  /// the GPU is busy.
  TimeChange typical = {};
  bool unrecorded = false;                 ///< `typical` is of steps while nothing was recorded
  TimeChange mean = {};                    ///< of the recorded steps; of a run its wall time, without an interval
  std::vector<PartChange> parts = {};      ///< add up to the mean, before and now; those that are there
  std::vector<CauseChange> causes = {};    ///< the largest difference first; those of idle time add up to its parts
  std::vector<KernelChange> kernels = {};  ///< the largest difference first
  std::vector<StartUpChange> start_up = {};
  double max_slowdown = kMaxSlowdown;

  /// Whether the typical or the mean step is slower by more than `max_slowdown` and beyond the interval. Never of runs,
  /// which differ in their length: there the kernels' rows decide.
  bool is_regression() const;
  /// The time that decides: the regression, else the typical step.
  const TimeChange& deciding() const;
};

/// Of one run or several on each side; nothing where a side is no profile.
std::optional<ProgramChange> program_change(const std::vector<ProgramCosts>& before,
                                            const std::vector<ProgramCosts>& now, double max_slowdown = kMaxSlowdown);

}  // namespace roofline
