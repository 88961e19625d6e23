// The regression gate on simulated machines: how often it is wrong when nothing has changed, and how often it finds a
// real slowdown. Pure functions with a simulated clock; every series is seeded.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "measure/pairs.hpp"
#include "measure/repeated_ratio.hpp"
#include "measure/statistics.hpp"

namespace roofline {
namespace {

class GateDraws {
 public:
  explicit GateDraws(std::uint64_t seed) : random_(seed) {}
  double uniform() { return (static_cast<double>(random_() >> 11) + 1) * 0x1p-53; }  // in (0, 1]
  double gaussian() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform()); }

 private:
  std::mt19937_64 random_;
};

struct GateConditions {
  double placement = 0;       ///< scatter of a side's speed between rounds: each has new buffers
  double bad_placement = 0;   ///< slowdown of a placement that half of all rounds of a side have
  double block_noise = 0.01;  ///< of each timed block
  double slow_state = 1;      ///< speed of the machine in its second state, which comes and goes at random
  double state_s = 2;         ///< mean duration of a state
  double drift = 0;           ///< relative change of speed per minute
  /// Buffers per side that rounds deal anew to both sides, each with a placement of its own; 0: new memory in each
  /// round.
  std::size_t dealt = 0;
};

/// Two kernels on a machine whose speed changes while they run.
class SimulatedRow {
 public:
  SimulatedRow(const GateConditions& conditions, double true_ratio, std::uint64_t seed)
      : conditions_(conditions), true_ratio_(true_ratio), draws_(seed) {}

  /// A round as `roofline ab` takes it: new buffers, blocks in alternation, a random side first.
  Repetition round() {
    if (conditions_.dealt > 0) deal();
    const double old_s = side_s(0), new_s = side_s(1) * true_ratio_;
    const bool old_first = draws_.uniform() < 0.5;
    const PairedSide before = side(old_s), after = side(new_s);
    const PairedRatio pairs = sample_pairs(
                                  old_first ? before : after, old_first ? after : before, [&] { return now_s_; },
                                  [] { return false; }, {.min_time_s = 0.1, .max_time_s = 0.4, .patience_s = 0.4})
                                  .value();
    now_s_ += 1;  // preparing the next round
    const PairedRatio ratio = old_first ? pairs : pairs.inverted();
    return repetition_of(ratio.ratio, ratio.ci95);
  }

  Change compare(const GateRule& rule) {
    std::vector<Repetition> first, fresh;
    for (int i = 0; i < kFirstRounds; ++i) first.push_back(round());
    if (cleared_by_first_rounds(first, rule)) return Change::same;
    pool_.clear();  // fresh rounds run in a process of their own
    for (int i = 0; i < kFreshRounds; ++i) fresh.push_back(round());
    return decide_rounds(first, fresh, rule);
  }

 private:
  /// As BufferPool: every buffer is as likely to be either side's.
  void deal() {
    while (pool_.size() < 2 * conditions_.dealt) pool_.push_back(placed());
    for (std::size_t i = pool_.size(); i-- > 1;) {
      const auto other = static_cast<std::size_t>(draws_.uniform() * static_cast<double>(i + 1));
      std::swap(pool_[i], pool_[std::min(other, i)]);
    }
  }

  /// Seconds per launch of a side in this round: launches rotate over its buffers.
  double side_s(std::size_t side) {
    if (conditions_.dealt == 0) return placed();
    double sum = 0;
    for (std::size_t i = 0; i < conditions_.dealt; ++i) sum += pool_[side * conditions_.dealt + i];
    return sum / static_cast<double>(conditions_.dealt);
  }

  /// Seconds per launch of a side with new buffers.
  double placed() {
    const double bad = draws_.uniform() < 0.5 ? 1 + conditions_.bad_placement : 1;
    return 4e-3 * bad * std::exp(conditions_.placement * draws_.gaussian());
  }

  PairedSide side(double launch_s) {
    return {.batch =
                [this, launch_s](std::int64_t launches) {
                  const double seconds = launch_s * static_cast<double>(launches) / speed() *
                                         (1 + conditions_.block_noise * draws_.gaussian());
                  now_s_ += seconds;
                  return Reading{seconds, {}};
                },
            .launch_s = 4e-3};
  }

  double speed() {
    while (now_s_ >= until_s_) {
      slow_ = !slow_;
      until_s_ -= conditions_.state_s * std::log(draws_.uniform());
    }
    return (slow_ ? conditions_.slow_state : 1) * (1 + conditions_.drift * now_s_ / 60);
  }

  GateConditions conditions_;
  double true_ratio_;
  GateDraws draws_;
  std::vector<double> pool_ = {};  ///< seconds per launch in each buffer
  double now_s_ = 0, until_s_ = 0;
  bool slow_ = false;
};

constexpr int kGateComparisons = 1000;

struct GateDecisions {
  int slower = 0, faster = 0, same = 0, undecided = 0;
  void add(Change change) {
    slower += change == Change::slower ? 1 : 0;
    faster += change == Change::faster ? 1 : 0;
    same += change == Change::same ? 1 : 0;
    undecided += change == Change::undecided ? 1 : 0;
  }
};

GateDecisions simulate_gate(const GateConditions& conditions, double true_ratio) {
  GateDecisions decisions;
  for (int seed = 1; seed <= kGateComparisons; ++seed) {
    SimulatedRow row(conditions, true_ratio, static_cast<std::uint64_t>(seed));
    decisions.add(row.compare({.threshold = 0.03}));
  }
  return decisions;
}

const GateConditions kQuiet = {.placement = 0.002, .block_noise = 0.005};
const GateConditions kModerate = {.placement = 0.008};
const GateConditions kRestless = {.placement = 0.03, .block_noise = 0.05};
const GateConditions kDrifting = {.placement = 0.008, .drift = 0.3};
const GateConditions kTwoSpeeds = {.placement = 0.008, .slow_state = 0.6, .state_s = 1};
const GateConditions kTwoPlacements = {.placement = 0.003, .bad_placement = 0.05};
// One buffer per side is the least that can be dealt: two placements, which the sides exchange or keep.
const GateConditions kDealt = {.placement = 0.008, .dealt = 1};
const GateConditions kDealtSets = {.placement = 0.03, .dealt = 8};
const GateConditions kDealtBadly = {.placement = 0.003, .bad_placement = 0.05, .dealt = 1};

TEST(RegressionGate, AtMostOneInAHundredIdenticalComparisonsIsAnAlarm) {
  for (const auto& [name, conditions] :
       {std::pair{"quiet", kQuiet}, std::pair{"moderate", kModerate}, std::pair{"restless", kRestless},
        std::pair{"drifting", kDrifting}, std::pair{"two speeds", kTwoSpeeds},
        std::pair{"two placements", kTwoPlacements}, std::pair{"dealt", kDealt}, std::pair{"dealt sets", kDealtSets},
        std::pair{"dealt badly", kDealtBadly}}) {
    const GateDecisions decisions = simulate_gate(conditions, 1);
    EXPECT_LE(decisions.slower, kGateComparisons / 100) << name;
    EXPECT_LE(decisions.faster, kGateComparisons / 100) << name;
    RecordProperty(name, decisions.undecided);
  }
}

TEST(RegressionGate, ASlowdownOfThreePerCentIsFoundInModerateNoise) {
  for (const auto& [name, conditions] :
       {std::pair{"quiet", kQuiet}, std::pair{"moderate", kModerate}, std::pair{"drifting", kDrifting},
        std::pair{"two speeds", kTwoSpeeds}, std::pair{"dealt", kDealt}, std::pair{"dealt sets", kDealtSets}}) {
    EXPECT_GE(simulate_gate(conditions, 1.03).slower, 95 * kGateComparisons / 100) << name;
    EXPECT_GE(simulate_gate(conditions, 1 / 1.03).faster, 95 * kGateComparisons / 100) << name;
  }
}

TEST(RegressionGate, EqualKernelsOfAQuietMachineAreNotLeftUndecided) {
  EXPECT_EQ(simulate_gate(kQuiet, 1).same, kGateComparisons);
  EXPECT_GE(simulate_gate(kModerate, 1).same, 99 * kGateComparisons / 100);
}

TEST(RegressionGate, ASlowdownFarBelowTheThresholdIsNone) {
  EXPECT_LE(simulate_gate(kQuiet, 1.01).slower, kGateComparisons / 100);
}

/// The rows of a suite share the false alarms. Round ratios are drawn directly.
TEST(RegressionGate, ASuiteOfManyRowsHasNoMoreFalseAlarmsThanOneRow) {
  constexpr int kRows = 20;
  int alarms = 0, found = 0;
  for (int seed = 1; seed <= kGateComparisons; ++seed) {
    GateDraws draws(static_cast<std::uint64_t>(seed));
    const GateRule rule{.threshold = 0.03, .rows = kRows};
    bool alarm = false;
    const auto is_slower = [&](double log_ratio) {
      std::vector<Repetition> first, fresh;
      for (int i = 0; i < kFirstRounds; ++i) first.push_back({log_ratio + 0.015 * draws.gaussian()});
      if (cleared_by_first_rounds(first, rule)) return false;
      for (int i = 0; i < kFreshRounds; ++i) fresh.push_back({log_ratio + 0.015 * draws.gaussian()});
      return decide_rounds(first, fresh, rule) == Change::slower;
    };
    for (int row = 0; row < kRows; ++row) alarm = is_slower(0) || alarm;
    alarms += alarm ? 1 : 0;
    found += is_slower(std::log(1.03)) ? 1 : 0;
  }
  EXPECT_LE(alarms, kGateComparisons / 100);
  EXPECT_GE(found, 95 * kGateComparisons / 100);
}

TEST(RegressionGate, FirstRoundsAloneCallNoRowSlower) {
  const std::vector<Repetition> slow(kFirstRounds, {.log_value = 0.1, .log_error = 0.001});
  const std::vector<Repetition> equal(kFreshRounds, {.log_value = 0.0, .log_error = 0.001});
  const std::vector<Repetition> slow_again(kFreshRounds, {.log_value = 0.1, .log_error = 0.001});
  EXPECT_EQ(decide_rounds(slow, {}, {}), Change::undecided);
  EXPECT_NE(decide_rounds(slow, equal, {}), Change::slower) << "fresh rounds do not confirm it";
  EXPECT_EQ(decide_rounds(slow, slow_again, {}), Change::slower);
}

TEST(RegressionGate, ScatterOfRunsIsTheNoiseThatARunDoesNotKnow) {
  const Interval narrow{0.999, 1.001};
  // Each run knows its time to 0.1 %, and runs differ by 5 %.
  const std::vector<Repetition> before = {repetition_of(1.00, narrow), repetition_of(1.05, narrow),
                                          repetition_of(0.97, narrow)};
  const std::vector<Repetition> now = {repetition_of(1.04, narrow), repetition_of(1.00, narrow),
                                       repetition_of(1.08, narrow)};
  EXPECT_EQ(decide(ratio_of_runs(before, now), {}), Change::undecided);
  const auto twice = [](std::vector<Repetition> runs) {
    for (Repetition& run : runs) run.log_value += std::log(2);
    return runs;
  };
  EXPECT_EQ(decide(ratio_of_runs(before, twice(now)), {}), Change::slower);
  EXPECT_EQ(decide(ratio_of_runs(twice(before), now), {}), Change::faster);
}

TEST(RegressionGate, RunsOfIdenticalCodeRaiseAtMostOneAlarmInAHundred) {
  for (const auto& [runs_before, runs_now] : {std::pair{3, 3}, std::pair{1, 5}, std::pair{5, 5}, std::pair{2, 1}}) {
    GateDecisions decisions;
    for (int seed = 1; seed <= kGateComparisons; ++seed) {
      GateDraws draws(static_cast<std::uint64_t>(seed));
      std::vector<Repetition> before, now;
      for (int i = 0; i < runs_before; ++i) before.push_back({0.03 * draws.gaussian(), 0.002});
      for (int i = 0; i < runs_now; ++i) now.push_back({0.03 * draws.gaussian(), 0.002});
      decisions.add(decide(ratio_of_runs(before, now), {}));
    }
    EXPECT_LE(decisions.slower, kGateComparisons / 100) << runs_before << " and " << runs_now << " runs";
  }
}

enum class RowNoise { alike, together, unlike };

/// Suites of 20 rows in three runs per side: rows that scatter alike and independently, that are slow together, or that
/// scatter by 1 to 5 %. Returns in how many suites a row is called slower.
int alarms_of_suites(RowNoise noise, double slowdown, int& found) {
  constexpr std::size_t kRows = 20;
  constexpr int kRuns = 3;
  int alarms = 0;
  for (int seed = 1; seed <= kGateComparisons; ++seed) {
    GateDraws draws(static_cast<std::uint64_t>(seed));
    std::vector<std::vector<Repetition>> before(kRows), now(kRows);
    for (int run = 0; run < 2 * kRuns; ++run) {
      const double shared = draws.gaussian();
      for (std::size_t row = 0; row < kRows; ++row) {
        const double own = noise == RowNoise::together ? 0.9 * shared + 0.1 * draws.gaussian() : draws.gaussian();
        const double scatter = noise == RowNoise::unlike ? 0.01 + 0.04 * static_cast<double>(row) / kRows : 0.02;
        const double slower = run >= kRuns && row == 0 ? slowdown : 0;
        (run < kRuns ? before : now)[row].push_back({scatter * own + slower, 0.001});
      }
    }
    std::vector<RepeatedRatio> ratios;
    std::vector<double> errors;
    for (std::size_t row = 0; row < kRows; ++row) {
      ratios.push_back(ratio_of_runs(before[row], now[row]));
      errors.push_back(ratios.back().standard_error);
    }
    const GateRule rule{.threshold = 0.03, .rows = kRows, .typical_error = median(errors)};
    bool alarm = false;
    for (std::size_t row = 1; row < kRows; ++row) alarm = alarm || decide(ratios[row], rule) == Change::slower;
    alarms += alarm ? 1 : 0;
    found += decide(ratios[0], rule) == Change::slower ? 1 : 0;
  }
  return alarms;
}

TEST(RegressionGate, ASuiteInAFewRunsHasFewFalseAlarmsAndFindsWhatIsLarge) {
  int found = 0;
  EXPECT_LE(alarms_of_suites(RowNoise::alike, std::log(1.3), found), kGateComparisons / 100);
  EXPECT_GE(found, 95 * kGateComparisons / 100) << "30 % are found beside a scatter of 2 %";
  found = 0;
  EXPECT_LE(alarms_of_suites(RowNoise::together, 0, found), kGateComparisons / 100);
  EXPECT_LE(alarms_of_suites(RowNoise::unlike, 0, found), 3 * kGateComparisons / 100);
}

TEST(RepeatedRatio, HasTheIntervalOfStudentsT) {
  EXPECT_NEAR(student_t(0.95, 1), 12.7062, 1e-3);
  EXPECT_NEAR(student_t(0.95, 2), 4.30265, 1e-4);
  EXPECT_NEAR(student_t(0.99, 4), 4.60409, 1e-4);
  EXPECT_NEAR(student_t(0.95, 9), 2.26216, 1e-4);
  EXPECT_NEAR(student_t(0.999, 14), 4.14045, 1e-4);
  EXPECT_NEAR(student_t(0.95, 1000), 1.96234, 1e-4);
  // ln ratios 0.01, 0.02, 0.03: mean 0.02, standard error 0.01 / sqrt(3).
  const std::vector<Repetition> rounds = {{0.01}, {0.02}, {0.03}};
  const RepeatedRatio found = ratio_of_rounds(rounds);
  EXPECT_NEAR(found.ratio(), std::exp(0.02), 1e-12);
  EXPECT_NEAR(std::log(found.interval(0.95).high), 0.02 + 4.30265 * 0.01 / std::sqrt(3), 1e-6);
}

TEST(RepeatedRatio, IsNeverMoreCertainThanItsRepetitions) {
  const std::vector<Repetition> equal(5, {.log_value = 0.02, .log_error = 0.01});
  EXPECT_NEAR(ratio_of_rounds(equal).standard_error, 0.01 / std::sqrt(5), 1e-12);
  EXPECT_NEAR(ratio_of_runs(equal, equal).standard_error, 0.01 * std::sqrt(0.4), 1e-12);
  EXPECT_NEAR(repetition_of(2, {1.96, 2.04}).log_error, std::log(2.04 / 1.96) / 3.919928, 1e-9);
  EXPECT_EQ(repetition_of(2, {}).log_error, 0);
}

TEST(RepeatedRatio, OfOneRepetitionHasNoInterval) {
  const std::vector<Repetition> one = {{.log_value = 0.1, .log_error = 0.001}};
  EXPECT_FALSE(ratio_of_rounds(one).interval(0.95).known());
  EXPECT_FALSE(ratio_of_runs(one, one).interval(0.95).known());
  EXPECT_EQ(decide(ratio_of_runs(one, one), {}), Change::undecided);
  EXPECT_EQ(decide({}, {}), Change::undecided);
}

}  // namespace
}  // namespace roofline
