// The comparison of two runs: rows, sentences for every renderer, and the one line of the gate.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/comparison/compare_runs.hpp"
#include "report/comparison/pooled_runs.hpp"
#include "report/comparison/program_change.hpp"
#include "report/runs.hpp"

namespace roofline {

inline constexpr const char* kComparisonSchema = "roofline.comparison/1";

/// Every row of two runs, the cost of a program's step, and the verdict of the gate. A view: the reports must outlive
/// it.
struct Comparison {
  const Report* base = nullptr;
  const Report* now = nullptr;
  double max_slowdown = kMaxSlowdown;
  std::vector<PointChange> changes;
  bool gate = false;                          ///< the user set a limit: the outcome is "Pass" or "Fail"
  std::size_t base_runs = 1, now_runs = 1;    ///< number of runs per side
  std::optional<ProgramChange> program = {};  ///< set for two profiles

  /// The row in each run; null if that run lacks it.
  const Point* before(const PointChange& change) const;
  const Point* after(const PointChange& change) const;
  /// The later run's row if it exists, else the earlier one's.
  const Point& row(const PointChange& change) const;
  /// True if both runs are profiles: rows then also have a total over all launches.
  bool of_programs() const;
  /// True if steps are compared.
  bool of_steps() const { return program && program->unit == CostUnit::step; }
  /// True if the step time or the wall time decides, and no single row is a regression.
  bool program_decides() const { return program && program->decides(); }
  /// True if what decides is not known on both sides: no row was timed in both, or no time of the programs is known.
  /// Two programs are compared by their parts without a gate.
  bool compared_nothing() const;
  /// True if there can be regressions: both runs are of one machine, or the user set a limit. Without a limit, another
  /// machine may be slower.
  bool is_judged() const { return gate || base->machine.device.name == now->machine.device.name; }
  /// True if the program decides and is a regression.
  bool program_regressed() const { return is_judged() && program_decides() && program->is_regression(); }
  /// Total seconds of all launches now minus before; a missing row counts as 0.
  double total_change(const PointChange& change) const;
  /// Timed before and failed now.
  bool is_broken(const PointChange& change) const;
  /// Slower beyond the limit and the intervals, or broken. False if one time is of a launch
  /// replayed in isolation and the other is not, or if the comparison is not judged.
  bool is_regression(const PointChange& change) const;
};

Comparison comparison_of(const Report& base, const Report& now, double max_slowdown = kMaxSlowdown);
/// Compares several runs per side, using the scatter between them.
Comparison comparison_of(const PooledRuns& base, const PooledRuns& now, double max_slowdown = kMaxSlowdown);
/// Compares the last run with the first.
Comparison comparison_of(const Runs& runs);

/// "no difference", "slower", "slower > 3 %", "faster", "undecided", "failed now" or "only before".
std::string verdict(const Comparison& comparison, const PointChange& change);

/// "fail" for a regression, "pass" for every other row.
std::string_view pass_or_fail(const Comparison& comparison, const PointChange& change);

/// Names of the sides: "H100" and "H200", or "before" and "now" if the machine is the same.
std::pair<std::string, std::string> comparison_names(const Comparison& comparison);

/// "H100 → H200: 12 of 29 faster, up to 1.44×", "2 of 20 slower, up to 1.25×; 1 faster, 2×"; for programs with steps,
/// the change of the step. Names the machines if they differ.
std::string comparison_headline(const Comparison& comparison);

/// The verdict, as the exit status has it: "2 of 22 kernels got slower …", with a gate "Fail: 2 of 22 kernels …" or
/// "Pass: no kernel got slower by more than 3 %."; no verdict if the later run is incomplete or nothing was compared.
/// Without a gate and a regression the headline.
std::string outcome_line(const Comparison& comparison);

/// Regressions first, then slower, missing, faster, new and unchanged rows; worst first within each group.
std::vector<const PointChange*> worst_first(const Comparison& comparison);

/// "−0.8 s": the change of a row's total time.
std::string total_change_text(const Comparison& comparison, const PointChange& change);

/// "1.050", and its interval "1.041–1.059".
std::string ratio_text(const PointChange& change);
std::string ratio_interval(const PointChange& change);

/// Reasons why two runs are hard to compare: different devices, drivers, clocks, versions or calibrations; an early
/// end.
std::vector<std::string> comparison_notes(const Report& base, const Report& now);

/// "2 of 22 kernels got slower by more than 3 % …: a, b"; for programs with steps, the verdict on the step time. Empty
/// without a regression.
std::string regression_line(const Comparison& comparison);

/// What changed: the step for programs with steps, otherwise counts and names ("3 of 22 kernels got slower, the most
/// softmax fp32: 1.05×"); rows measured under other conditions; what the intervals cover.
std::vector<std::string> comparison_findings(const Comparison& comparison);

/// The findings below outcome_line() and the table of rows: without what these say.
std::vector<std::string> comparison_details(const Comparison& comparison);

}  // namespace roofline
