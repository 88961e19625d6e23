// Change in the cost of a program between two profiles: step against step, whole run against whole run if one side has
// no steps, or what the host did if one side used no GPU. Pure.
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

/// A time before and now, in seconds. NaN if a side lacks it.
struct TimeChange {
  CostTime before = {}, now = {};
  double ratio = kNaN;  ///< now / before: above 1 is slower
  Interval ratio_ci95 = {};
  Change change = Change::untimed;
  RatioBasis basis = RatioBasis::one_run;

  bool known() const { return change != Change::untimed; }
};

/// Kind of change of a cause or kernel. same: the difference is below kVisibleShare of the mean step.
enum class CostChange : std::uint8_t { same, smaller, larger, gone, appeared };
std::string_view to_string(CostChange change);  ///< "new" for appeared

/// Smallest visible difference, as a fraction of the larger mean step.
inline constexpr double kVisibleShare = 0.005;

struct PartChange {
  WallPart part = WallPart::unknown;
  double before_s = 0, now_s = 0;
};

template <class Cost>
struct ChangeOfCause {
  Cost cause = {};  ///< current state; for a cause that is gone, the earlier one
  std::string line_before = {};
  double before_s = 0, now_s = 0;
  CostChange change = CostChange::same;

  double difference_s() const { return now_s - before_s; }
};

using CauseChange = ChangeOfCause<CauseCost>;
using HostCauseChange = ChangeOfCause<HostCauseCost>;

struct KernelChange {
  std::string name;
  double launches_before = 0, launches_now = 0;
  double before_s = 0, now_s = 0;  ///< all launches of a step or run
  CostChange change = CostChange::same;

  double difference_s() const { return now_s - before_s; }
};

/// CPU time of a function. same: the difference is below kVisibleShare of the run, or within the noise of sampling.
struct FunctionChange {
  std::string name;
  double before_s = 0, now_s = 0;
  CostChange change = CostChange::same;

  double difference_s() const { return now_s - before_s; }
};

/// Time before the first step, without profiler overhead.
struct StartUpChange {
  StartUpPart part = StartUpPart::host;
  double before_s = 0, now_s = 0;
};

struct ProgramChange {
  CostUnit unit = CostUnit::step;
  bool of_host = false;  ///< a side used no GPU: wall and CPU times of whole runs are compared
  /// True if a run before / now lacks steps, so that whole runs are compared.
  bool no_steps_before = false, no_steps_now = false;
  ProgramCost before = {}, now = {};  ///< means over the runs of a side
  /// Median step time: outside the recording if both sides have it, else while recorded. For runs, the time in which
  /// the GPU is busy, or the CPU time of all threads (`of_host`).
  TimeChange typical = {};
  bool unrecorded = false;  ///< `typical` is from steps outside the recording
  TimeChange mean = {};     ///< mean recorded step; for runs the wall time, without an interval
  std::vector<PartChange> parts =
      {};  ///< add up to the mean, before and now; parts that are zero on both sides are omitted
  std::vector<CauseChange> causes = {};    ///< largest difference first; causes of idle time add up to the idle parts
  std::vector<KernelChange> kernels = {};  ///< largest difference first
  std::vector<StartUpChange> start_up = {};
  std::vector<HostCauseChange> host_causes = {};  ///< largest difference first
  std::vector<FunctionChange> functions = {};     ///< largest difference first
  double max_slowdown = kMaxSlowdown;

  /// True if a step or, without a GPU, the wall time decides. False for runs with kernels, whose lengths differ: there
  /// the kernels' rows decide.
  bool decides() const { return unit == CostUnit::step || of_host; }
  /// True if it decides, and the typical or mean step or the wall time is slower by more than `max_slowdown` and beyond
  /// the interval.
  bool is_regression() const;
  /// Seconds: a smaller difference of costs is none.
  double visible_s() const;
  /// The deciding time: of the host the wall time, else the regression, else the typical step.
  const TimeChange& deciding() const;
};

/// Compares one or several runs per side. std::nullopt if a side is not a profile.
std::optional<ProgramChange> program_change(const std::vector<ProgramCosts>& before,
                                            const std::vector<ProgramCosts>& now, double max_slowdown = kMaxSlowdown);

}  // namespace roofline
