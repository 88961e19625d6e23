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

/// Every row of two runs, of programs what a step costs, and what a gate makes of it. A view; the reports have to
/// outlive it.
struct Comparison {
  const Report* base = nullptr;
  const Report* now = nullptr;
  double max_slowdown = kMaxSlowdown;
  std::vector<PointChange> changes;
  bool gate = false;                          ///< someone asked for the limit: the outcome is "Pass" or "Fail"
  std::size_t base_runs = 1, now_runs = 1;    ///< that each side was measured in
  std::optional<ProgramChange> program = {};  ///< of two profiles that used a GPU

  /// The row in each run; null where that run has none.
  const Point* before(const PointChange& change) const;
  const Point* after(const PointChange& change) const;
  /// Of the later run where it is there.
  const Point& row(const PointChange& change) const;
  /// Whether both are of programs: then rows have a total over all of their launches besides.
  bool of_programs() const;
  /// Whether the unit of comparison is a step: then the step's time decides, and no row is a regression.
  bool of_steps() const { return program && program->unit == CostUnit::step; }
  /// Seconds of all launches now, less those before; what one run lacks took none there.
  double total_change(const PointChange& change) const;
  /// Slower beyond the limit and the intervals, or timed before and failed now. Never where one time is of a launch
  /// that was replayed by itself and the other is not.
  bool is_regression(const PointChange& change) const;
};

Comparison comparison_of(const Report& base, const Report& now, double max_slowdown = kMaxSlowdown);
/// Of several runs on a side: by the scatter between them.
Comparison comparison_of(const PooledRuns& base, const PooledRuns& now, double max_slowdown = kMaxSlowdown);
/// The last run against the first.
Comparison comparison_of(const Runs& runs);

/// One word or a few: "no difference", "slower", "slower > 3 %", "faster", "undecided", "failed now", "only before".
std::string verdict(const Comparison& comparison, const PointChange& change);

/// "fail" for a regression, "pass" for every other row.
std::string_view pass_or_fail(const Comparison& comparison, const PointChange& change);

/// What the sides are called: "H100" and "H200", or "before" and "now" of one machine.
std::pair<std::string, std::string> comparison_names(const Comparison& comparison);

/// "H100 → H200: 12 of 29 faster, up to 1.44×", "2 of 20 slower, up to 1.25×; 1 faster, 2×"; of programs with steps the
/// step. Names the machines where they differ.
std::string comparison_headline(const Comparison& comparison);

/// With a gate "Fail: 2 of 22 kernels …", "Pass: no kernel got slower by more than 3 %."; no verdict over a run that
/// has no end. Without a gate the headline.
std::string outcome_line(const Comparison& comparison);

/// Regressions, then what got slower, went, got faster, came, and stayed as it was; of each the worst first.
std::vector<const PointChange*> worst_first(const Comparison& comparison);

/// "−0.8 s": how much more all launches of a row take.
std::string total_change_text(const Comparison& comparison, const PointChange& change);

/// "1.050", and its interval "1.041–1.059".
std::string ratio_text(const PointChange& change);
std::string ratio_interval(const PointChange& change);

/// What makes two runs hard to compare: other devices, drivers, clocks, versions or calibrations; an early end.
std::vector<std::string> comparison_notes(const Report& base, const Report& now);

/// "2 of 22 kernels got slower by more than 3 % …: a, b"; of programs with steps what the step's time says. Empty when
/// nothing is a regression.
std::string regression_line(const Comparison& comparison);

/// What changed. Of programs with steps: the step. Else counted and named: "3 of 22 kernels got slower, the most
/// softmax fp32: 1.05×"; rows measured under other conditions, with the figures; and what the intervals cover.
std::vector<std::string> comparison_findings(const Comparison& comparison);

}  // namespace roofline
