// The ratio of two times that were measured repeatedly, with an interval that covers the scatter between repetitions:
// rounds with new buffers (`roofline ab`) or whole runs (`roofline compare`). And the rule that decides from it.
// docs/method.md gives the reasons, tests/unit/regression_gate_test.cpp the rates of wrong decisions.
#pragma once

#include <cstdint>
#include <span>

#include "measure/pairs.hpp"
#include "model/ceiling.hpp"
#include "model/compare_machines.hpp"
#include "model/nan.hpp"

namespace roofline {

/// The value that the absolute value of Student's t exceeds with probability 1 - `confidence`. `degrees` >= 1.
double student_t(double confidence, std::int64_t degrees);

/// One repetition: a time or a ratio, and the precision that it knows of itself.
struct Repetition {
  double log_value = 0;
  double log_error = 0;  ///< standard error of `log_value` from its own 95 % interval; 0 without one
};
Repetition repetition_of(double value, const Interval& ci95);

/// A ratio of new to old time, as the logarithm's mean over repetitions.
struct RepeatedRatio {
  double log_mean = kNaN;
  double standard_error = kNaN;
  std::int64_t degrees = 0;  ///< of freedom of the standard error; 0: one repetition, which shows no scatter

  double ratio() const;
  /// 95 % interval of the ratio, by Student's t; NaN bounds without degrees of freedom.
  Interval interval(double confidence) const;
};

/// Combines the ratios of rounds.
RepeatedRatio ratio_of_rounds(std::span<const Repetition> rounds);

/// Combines the times of runs before and now. Assumes equal scatter on both sides, so that a single run on one side is
/// compared using the scatter of the other.
RepeatedRatio ratio_of_runs(std::span<const Repetition> before, std::span<const Repetition> now);

/// Probability that a comparison calls a row slower when nothing has changed, over all of its rows: half of the 1 %
/// that docs/method.md promises, because the scatter of a real machine is not exactly normal.
inline constexpr double kGateFalseAlarms = 0.005;

/// Parameters of the decision.
struct GateRule {
  double threshold = 0.03;  ///< as a fraction: 0.03 is 3 %
  std::int64_t rows = 1;    ///< that are compared; they share kGateFalseAlarms equally
  /// Median standard error of all rows, for repetitions that are too few for a row's own share: whole runs. 0: rows
  /// have enough repetitions of their own.
  double typical_error = 0;
};

/// The interval that decides whether a ratio differs from 1. By default Student's t at the row's share of the false
/// alarms. With a typical error it is the wider of two: Student's t at all of them, as if there were one row, and the
/// share of a row at the larger of its own and the typical error, whose degrees of freedom are those of all rows.
Interval gate_interval(const RepeatedRatio& ratio, const GateRule& rule);

/// `slower`: gate_interval() is above 1, and the 95 % interval reaches the threshold.
/// `faster`: the same on the other side. `same`: the 95 % interval is within the threshold on both sides. `undecided`:
/// none of these, or no interval.
Change decide(const RepeatedRatio& ratio, const GateRule& rule);

/// Rounds of `roofline ab`.
inline constexpr std::int64_t kFirstRounds = 5;   ///< number of rounds of every row
inline constexpr std::int64_t kFreshRounds = 10;  ///< additional rounds of rows that the first ones did not clear

/// True if the first rounds show with 99 % confidence that a row is within the threshold. All other rows need fresh
/// rounds: no row is called slower or faster from its first rounds.
bool cleared_by_first_rounds(std::span<const Repetition> first, const GateRule& rule);

/// The decision over all rounds. `slower` and `faster` must also follow from the fresh rounds alone, at 95 %.
Change decide_rounds(std::span<const Repetition> first, std::span<const Repetition> fresh, const GateRule& rule);

}  // namespace roofline
