// What a profiled program costs, in a form that two of them can be compared in: a steady step, or the whole run where
// there are no steps. Everything is of one GPU: the mean over those that the program used.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/nan.hpp"
#include "report/budget.hpp"
#include "report/report.hpp"

namespace roofline {

/// What costs are of. Times of steps are those without counting; a run's include all.
enum class CostUnit : std::uint8_t { step, run };
std::string_view to_string(CostUnit unit);

/// A time of one run, or of the mean of several.
struct CostTime {
  double seconds = kNaN;
  Interval ci95 = {};  ///< from the spread of the steps; NaN bounds where they are too few
};

/// A cause of lost time.
struct CauseCost {
  SavingKind kind = SavingKind::idle;
  std::optional<SavingCause> cause = {};  ///< nothing: idle time that no cause claims
  std::string line = {};                  ///< "train.py:31 load_batch"; empty: not known
  std::string kernel = {};                ///< name of the kernel that it concerns; empty: of none
  std::string what = {};                  ///< sentence
  double seconds = 0;
};

/// All launch signatures of one kernel function.
struct KernelCost {
  std::string name;
  double launches = 0, seconds = 0;  ///< of the unit
};

struct ProgramCost {
  std::int64_t gpus = 0;
  std::int64_t steps = 0;       ///< that the figures are of; 0 of a run
  CostTime typical = {};        ///< median step while recorded; of a run the time in which the GPU is busy
  CostTime mean = {};           ///< mean step, which the parts add up to
  CostTime unrecorded = {};     ///< median step while nothing was recorded; NaN where not measured
  bool of_percentiles = false;  ///< `typical` has no interval of its own: it is 5th and 95th percentile of the steps
  double slow_s = kNaN;         ///< 95th percentile of the steps
  double slowest_s = kNaN;      ///< of the slow steps; NaN where there is none
  double start_up_s = kNaN;     ///< before the first step, without profiler overhead
  std::array<double, kStartUpParts> start_up = {};
  std::array<double, kWallParts> parts = {};
  std::vector<CauseCost> causes = {};    ///< each kind, cause, line and kernel once; those of idle time add up to it
  std::vector<KernelCost> kernels = {};  ///< by name
  bool has_causes = false;               ///< savings are of this unit
  bool has_kernels = false;              ///< a file of an earlier version has no kernels of a step
};

/// Of a step where the program has steps, else nothing.
std::optional<ProgramCost> step_cost_of(const Report& report);
/// Of the whole run. Nothing where the report is no profile or no GPU was seen.
std::optional<ProgramCost> run_cost_of(const Report& report);

/// Both, of one run.
struct ProgramCosts {
  std::optional<ProgramCost> step = {}, run = {};
};
ProgramCosts program_costs_of(const Report& report);

/// The mean of several runs, at least one. Times have no interval of their own then.
ProgramCost mean_cost(const std::vector<const ProgramCost*>& runs);

}  // namespace roofline
