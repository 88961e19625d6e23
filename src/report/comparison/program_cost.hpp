// The cost of a profiled program in a comparable form: per steady step, or of the whole run if there are no steps. All
// times are per GPU, averaged over the GPUs that the program used. Of a program without a GPU: the wall time, the CPU
// time, and its causes and functions.
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

/// Unit of the costs. Step times exclude counting; run times include it.
enum class CostUnit : std::uint8_t { step, run };
std::string_view to_string(CostUnit unit);

/// A time of one run, or the mean over several.
struct CostTime {
  double seconds = kNaN;
  Interval ci95 = {};  ///< from the spread of the steps; NaN bounds if there are too few
};

/// A cause of lost time.
struct CauseCost {
  SavingKind kind = SavingKind::idle;
  std::optional<SavingCause> cause = {};  ///< std::nullopt: idle time without a cause
  std::string line = {};                  ///< "train.py:31 load_batch"; empty: unknown
  std::string kernel = {};                ///< name of the affected kernel; empty: none
  std::string what = {};                  ///< description, a sentence
  double seconds = 0;
};

/// All launch signatures of one kernel function.
struct KernelCost {
  std::string name;
  double launches = 0, seconds = 0;  ///< per unit
};

/// A cause of lost time of the host, from samples.
struct HostCauseCost {
  std::string id = {};    ///< "allocation"
  std::string line = {};  ///< "train.py:31 load_batch"; empty: unknown
  std::string what = {};  ///< description, a sentence with figures of one run
  double seconds = 0;
};

/// CPU time of a function, without that of its callees.
struct FunctionCost {
  std::string name;
  double seconds = 0;
};

struct ProgramCost {
  std::int64_t gpus = 0;     ///< 0: costs of the host
  std::int64_t steps = 0;    ///< number of steps behind the figures; 0 for a run
  CostTime typical = {};     ///< median recorded step; for a run the time in which the GPU is busy, or the CPU time
  CostTime mean = {};        ///< mean step; the parts add up to it. For a run the wall time
  CostTime unrecorded = {};  ///< median step outside the recording; NaN if not measured
  bool of_percentiles =
      false;                 ///< `typical` has no interval of its own: ci95 is the 5th to 95th percentile of the steps
  double slow_s = kNaN;      ///< 95th percentile of the steps
  double slowest_s = kNaN;   ///< slowest of the slow steps; NaN without one
  double start_up_s = kNaN;  ///< before the first step, without profiler overhead
  std::array<double, kStartUpParts> start_up = {};
  std::array<double, kWallParts> parts = {};
  std::vector<CauseCost> causes = {};    ///< each kind, cause, line and kernel once; causes of idle time add up to it
  std::vector<KernelCost> kernels = {};  ///< by name
  std::vector<HostCauseCost> host_causes = {};  ///< each cause and line once
  std::vector<FunctionCost> functions = {};     ///< by name
  double sample_s = 0;                          ///< CPU time of one sample of the host; 0: no samples
  bool has_causes = false;                      ///< false if savings are of another unit
  bool has_kernels = false;                     ///< false for files of an earlier version, which lack kernels per step
};

/// Cost of a step; std::nullopt if the program has no steps.
std::optional<ProgramCost> step_cost_of(const Report& report);
/// Cost of the whole run; std::nullopt if the report is not a profile or used no GPU.
std::optional<ProgramCost> run_cost_of(const Report& report);

/// Cost of the whole run on the host; std::nullopt if the report is not a profile or has no wall time.
std::optional<ProgramCost> host_cost_of(const Report& report);

/// Costs of one run per step and in total.
struct ProgramCosts {
  std::optional<ProgramCost> step = {}, run = {}, host = {};
};
ProgramCosts program_costs_of(const Report& report);

/// The mean over several runs (at least one). Its times have no interval of their own.
ProgramCost mean_cost(const std::vector<const ProgramCost*>& runs);

}  // namespace roofline
