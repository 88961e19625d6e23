// The report: what was run, on which machine, and the results. Every output is a function of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/summary.hpp"
#include "model/bound.hpp"
#include "model/contention.hpp"
#include "model/counters.hpp"
#include "model/experiment.hpp"
#include "model/machine.hpp"
#include "model/nan.hpp"
#include "model/work.hpp"
#include "op/verification.hpp"
#include "op/workload.hpp"
#include "report/profile.hpp"

namespace roofline {

/// ok: timed, and verified unless the suite disables it. skipped: cannot run here. failed: wrong output, error or
/// crash.
enum class PointStatus : std::uint8_t { ok, skipped, failed };
std::string_view to_string(PointStatus status);
std::optional<PointStatus> parse_point_status(std::string_view text);

/// Fraction of the limiting roof, from a row and the roof's probe timed in alternation: a change of the machine's speed
/// affects both and cancels out.
struct PairedFraction {
  std::string ceiling;     ///< ceiling of the probe
  double fraction = 0;     ///< the probe's time for the row's work over the row's time, median of all pairs
  Interval ci95;           ///< interval of the median; always known
  std::int64_t pairs = 0;  ///< at least kFewestForInterval
  /// Median rate of the probe in these pairs, in the unit of its ceiling. NaN: unknown, in files of earlier versions.
  double probe_value = kNaN;
};

/// Result of running a workload. Times only if ok.
struct Outcome {
  PointStatus status = PointStatus::ok;
  std::string reason;                        ///< why it was skipped or failed; empty if ok
  std::optional<Verification> verification;  ///< std::nullopt if nothing was run
  std::optional<Summary> time;               ///< set only if ok
  std::vector<double> raw_samples;           ///< seconds per launch; only on request
  std::int64_t buffer_sets = 1;
  double resident_bytes = 0;
  std::optional<Contention> contention;           ///< other load while it was timed, if significant
  std::optional<ReferenceRates> reference_rates;  ///< rates of the reference probes beside it, if measured
  std::optional<PairedFraction> paired;  ///< std::nullopt: a GPU's steady row, or the probe could not run beside it
  int attempts = 1;                      ///< 2 if it was timed again because of contention or poor precision
};

/// A configuration of a suite's own kernel (`choose: fastest`), and its median time.
struct TriedConfiguration {
  std::string configuration;
  double time_s = 0;
};

/// One row: the workload, its outcome, its work by the op's model, and its bound.
struct Point : Outcome {
  Workload workload;
  std::string family;                  ///< the op's family, for colour and legend
  std::string implementation_summary;  ///< one-line description of the implementation; empty for profiled rows
  bool non_temporal_stores = false;    ///< true if the implementation uses them; false in files before version 0.10
  Work work;
  Bound bound;
  std::optional<Counters> counters;       ///< hardware counts from a separate run; only on request
  std::vector<Experiment> experiments;    ///< re-runs with one change, on CPUs without counters
  std::vector<TriedConfiguration> tried;  ///< `choose: fastest`: all timed candidates, the chosen one first
  std::optional<ProfiledKind> profiled;   ///< profiled rows: the launch signature

  /// Counted FLOPs over the median time, FLOP/s; 0 if not timed.
  double performance() const;
  /// Compulsory main-memory bytes over the median time, byte/s; 0 if not timed.
  double bandwidth(Level level) const;
  /// The paired fraction, if it is that of the limiting roof; else null.
  const PairedFraction* paired_with_roof() const;
  /// The paired fraction, otherwise attainable over measured time; never clamped. NaN if not timed or without a
  /// ceiling.
  double fraction_of_roof() const;
  /// Above its roof by more than the interval of the paired fraction, or those of roof and time.
  bool above_roof() const;
  /// Above a roof that is suspect or provisional and whose probe was not timed in alternation: the roof is more
  /// doubtful than the work.
  bool above_unconfirmed_roof() const;
};

/// True if a cold row moved its bytes faster than the hardware limit of main memory, so that caches must have served
/// some. False for hot rows and without a known limit.
bool not_cold(const Point& point, const Machine& machine);

/// True if a hot row is above main memory's roof with a working set below 16 times the caches, which then serve part of
/// it.
bool partly_cached(const Point& point, const Machine& machine);

struct Invocation {
  std::vector<std::string> command;  ///< argv
  std::string run_name;              ///< name of the suite, program or first imported file
  std::string suite_path;
  std::string suite_text;  ///< the suite's YAML, to reproduce the run
  std::string tool_version;
  std::string started_at;  ///< UTC, ISO 8601
  double duration_s = 0;
  double counting_s = 0;  ///< part of `duration_s` spent on hardware counters; 0 without them
};

struct Report {
  Invocation invocation;
  Machine machine;
  std::vector<Machine> other_machines;  ///< GPUs of other models that rows ran on, each with its own roofs
  std::vector<Point> points;
  std::vector<std::string> notes;  ///< notes for the reader: a stale calibration, a drifting clock
  bool cancelled = false;
  bool complete = true;            ///< false until the run ends; stays false if it is killed
  std::int64_t rows_planned = 0;   ///< planned rows of an incomplete run
  std::optional<Profile> profile;  ///< set for a profiled program; its rows are launch signatures
};

/// The GPU that a profiled row ran on; empty if unknown.
std::string_view device_name(const Report& report, const Point& point);

/// The machine whose roofs apply to the row: that of its GPU model, if the report has it.
const Machine& machine_of(const Report& report, const Point& point);

/// True if the row ran on a GPU of another model than the report's machine, which the report also contains.
bool ran_on_other_model(const Report& report, const Point& point);

}  // namespace roofline
