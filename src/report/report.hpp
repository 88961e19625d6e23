// The one value that every output is a function of: what was run, on what, and what came out.
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
#include "model/work.hpp"
#include "op/verification.hpp"
#include "op/workload.hpp"
#include "report/profile.hpp"

namespace roofline {

/// ok: timed, and verified unless the suite says otherwise. skipped: can't run here. failed: wrong output, an error, or
/// a crash.
enum class PointStatus : std::uint8_t { ok, skipped, failed };
std::string_view to_string(PointStatus status);
std::optional<PointStatus> parse_point_status(std::string_view text);

/// The fraction of its limiting roof from a row and the roof's probe timed in alternation: both ran while the machine
/// had the same speed, which cancels out.
struct PairedFraction {
  std::string ceiling;     ///< whose probe it was
  double fraction = 0;     ///< the probe's time for the row's work over the row's time: the median of all pairs
  Interval ci95;           ///< of the median; always known
  std::int64_t pairs = 0;  ///< kFewestForInterval at least
};

/// What is known only after running a workload. Times only when ok.
struct Outcome {
  PointStatus status = PointStatus::ok;
  std::string reason;                        ///< why it was skipped or failed; empty when ok
  std::optional<Verification> verification;  ///< absent when nothing was run
  std::optional<Summary> time;               ///< present only when ok
  std::vector<double> raw_samples;           ///< seconds per launch; only on request
  std::int64_t buffer_sets = 1;
  double resident_bytes = 0;
  std::optional<Contention> contention;           ///< what else ran while it was timed, where that was too much
  std::optional<ReferenceRates> reference_rates;  ///< of the machine beside it, where that was measured
  std::optional<PairedFraction> paired;  ///< absent on GPUs, and where the roof's probe could not run beside it
  int attempts = 1;                      ///< 2 where it was timed again because of these, or was badly measured
};

/// A configuration of a suite's own kernel (`choose: fastest`), and its median time.
struct TriedConfiguration {
  std::string configuration;
  double time_s = 0;
};

/// One workload's row: its outcome, what was known before (the names, and the work by the op's model), and its bound.
struct Point : Outcome {
  Workload workload;
  std::string family;                  ///< the op's family, for colour and legend
  std::string implementation_summary;  ///< the implementation's one line; empty of a program's rows
  bool non_temporal_stores = false;    ///< of the implementation; false in files before version 0.10
  Work work;
  Bound bound;
  std::optional<Counters> counters;       ///< what the hardware counted, in a run of its own; only on request
  std::vector<Experiment> experiments;    ///< on a CPU without counters: what its re-runs showed
  std::vector<TriedConfiguration> tried;  ///< where the fastest was to be chosen: all that were timed, this row's first
  std::optional<ProfiledKind> profiled;   ///< of a program's rows: the kind of launch that it is

  /// Counted FLOPs over the median time, FLOP/s; 0 when not timed.
  double performance() const;
  /// Main-memory compulsory bytes over the median time, byte/s; 0 when not timed.
  double bandwidth(Level level) const;
  /// The paired fraction, if it is that of the limiting roof; null otherwise.
  const PairedFraction* paired_with_roof() const;
  /// The paired fraction, otherwise attainable over measured time; never clamped. NaN when not timed or no ceiling
  /// applies.
  double fraction_of_roof() const;
  /// Above its roof by more than the interval of the paired fraction, or those of roof and time, explain.
  bool above_roof() const;
  /// The same where the roof is suspect or provisional and its probe was not timed beside the row: the roof is in
  /// doubt before the work.
  bool above_unconfirmed_roof() const;
};

/// Whether a row that was to be cold moved its bytes faster than main memory can by its own description: a cache served
/// some of them, whatever is wrong, it is not the kernel. False for hot rows and where no limit is known.
bool not_cold(const Point& point, const Machine& machine);

/// Whether a hot row is above main memory's roof with a working set that is less than 16 times the caches: they serve a
/// part of it at every launch.
bool partly_cached(const Point& point, const Machine& machine);

struct Invocation {
  std::vector<std::string> command;  ///< argv
  std::string run_name;              ///< of the suite, else of the program or of the first imported file
  std::string suite_path;
  std::string suite_text;  ///< the suite's YAML, for reproducing
  std::string tool_version;
  std::string started_at;  ///< UTC, ISO 8601
  double duration_s = 0;
  double counting_s = 0;  ///< of `duration_s`, for hardware counters; 0 without them
};

struct Report {
  Invocation invocation;
  Machine machine;
  std::vector<Machine> other_machines;  ///< GPUs of other models that rows ran on, each with roofs of its own
  std::vector<Point> points;
  std::vector<std::string> notes;  ///< what a reader must know: a stale calibration, a clock that drifted
  bool cancelled = false;
  bool complete = true;            ///< false while the run goes on, and for ever in the file of one that was killed
  std::int64_t rows_planned = 0;   ///< of a run that is not complete: how many it was to have
  std::optional<Profile> profile;  ///< of a program that was profiled; its rows are kinds of launches
};

/// The GPU that a program's row ran on; empty if not known.
std::string_view device_name(const Report& report, const Point& point);

/// The machine whose roofs the row is under: that of its own GPU model, if the report has it.
const Machine& machine_of(const Report& report, const Point& point);

/// Whether the row ran on a GPU of another model than the report's machine, which is in the report as well.
bool ran_on_other_model(const Report& report, const Point& point);

}  // namespace roofline
