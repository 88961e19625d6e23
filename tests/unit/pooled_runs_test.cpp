// Several runs per side: their scatter decides, and what differed beside the kernels is said with its figures.
#include "report/comparison/pooled_runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "render/render.hpp"
#include "report/comparison/comparison.hpp"
#include "report/comparison/row_conditions.hpp"
#include "tests/support/mentions.hpp"
#include "tests/support/profile_report.hpp"
#include "tests/support/sample_report.hpp"

namespace roofline {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// A run whose every time is that factor of the sample's.
Report run_at(double factor) {
  Report report = example::sample_report();
  for (Point& point : report.points) {
    if (point.time) point.time = example::timed(point.time->median * factor);
  }
  return report;
}

PooledRuns pool_at(const std::vector<double>& factors) {
  std::vector<Report> runs;
  for (const double factor : factors) runs.push_back(run_at(factor));
  return pool_runs(std::move(runs));
}

const PointChange& change_of(const Comparison& comparison, std::size_t row) {
  for (const PointChange& change : comparison.changes) {
    if (change.now == row) return change;
  }
  ADD_FAILURE() << "no row " << row;
  return comparison.changes.front();
}

TEST(PooledRuns, OneRunIsThatRun) {
  const PooledRuns pool = pool_at({1});
  const Report run = run_at(1);
  ASSERT_EQ(pool.report.points.size(), run.points.size());
  EXPECT_EQ(pool.runs, 1U);
  EXPECT_EQ(pool.report.points[0].time->median, run.points[0].time->median);
  EXPECT_EQ(pool.report.points[0].time->ci95.low, run.points[0].time->ci95.low);
  const Comparison pooled = comparison_of(pool, pool_at({1.05}));
  const Report later = run_at(1.05);
  const Comparison single = comparison_of(run, later);
  ASSERT_EQ(pooled.changes.size(), single.changes.size());
  for (std::size_t i = 0; i < single.changes.size(); ++i) {
    EXPECT_EQ(pooled.changes[i].change, single.changes[i].change);
    EXPECT_EQ(pooled.changes[i].basis, RatioBasis::one_run);
  }
}

TEST(PooledRuns, TimesAreGeometricMeansOfTheRuns) {
  const PooledRuns pool = pool_at({0.98, 1.0, 1.02});
  const double median = run_at(1).points[0].time->median;
  EXPECT_NEAR(pool.report.points[0].time->median, median * std::cbrt(0.98 * 1.02), 1e-12);
  EXPECT_EQ(pool.times[0].size(), 3U);
  // Three runs: t is 4.303, and runs that differ by 2 % give an interval of 5 % on each side.
  EXPECT_NEAR(pool.report.points[0].time->ci95.high / pool.report.points[0].time->median, 1.051, 2e-3);
}

TEST(PooledRuns, ScatterBetweenRunsIsNoRegressionAlthoughEachRunIsPrecise) {
  // Every single run of one side against one of the other is a regression of 5 %, with an interval of 0.2 %.
  const PooledRuns before = pool_at({1.00, 1.06, 0.97}), now = pool_at({1.05, 1.01, 1.08});
  EXPECT_FALSE(regression_line(comparison_of(run_at(1), run_at(1.05))).empty());
  const Comparison comparison = comparison_of(before, now);
  EXPECT_EQ(regression_line(comparison), "");
  const PointChange& change = change_of(comparison, 0);
  EXPECT_EQ(change.change, Change::undecided);
  EXPECT_EQ(change.basis, RatioBasis::runs);
  EXPECT_EQ(change.repetitions_before, 3);
  EXPECT_EQ(change.repetitions_now, 3);
  EXPECT_LT(change.ratio_ci95.low, 1);
  EXPECT_THAT(comparison_headline(comparison), testing::StartsWith("undecided in"));
  EXPECT_THAT(comparison_headline(comparison_of(run_at(1), run_at(1))), testing::StartsWith("no difference in"));
}

TEST(PooledRuns, ASlowdownBeyondTheScatterIsARegression) {
  const PooledRuns before = pool_at({1.000, 1.004, 0.996, 1.002, 0.998}),
                   now = pool_at({1.05, 1.054, 1.046, 1.052, 1.048});
  const Comparison comparison = comparison_of(before, now);
  EXPECT_EQ(change_of(comparison, 0).change, Change::slower);
  EXPECT_TRUE(comparison.is_regression(change_of(comparison, 0)));
  EXPECT_EQ(change_of(comparison_of(now, before), 0).change, Change::faster);
  EXPECT_EQ(change_of(comparison_of(before, before), 0).change, Change::same);
}

TEST(PooledRuns, SeveralBaselinesAndOneRunNow) {
  const PooledRuns before = pool_at({1.00, 1.06, 0.97, 1.02});
  EXPECT_EQ(change_of(comparison_of(before, pool_at({1.05})), 0).change, Change::undecided);
  EXPECT_EQ(change_of(comparison_of(before, pool_at({2})), 0).change, Change::slower);
}

TEST(PooledRuns, ARowThatFailedInOneRunHasFailed) {
  std::vector<Report> runs = {run_at(1), run_at(1)};
  runs[1].points[0] = example::without_time(runs[1].points[0], PointStatus::failed, "wrong");
  const PooledRuns now = pool_runs(runs);
  EXPECT_EQ(now.report.points[0].status, PointStatus::failed);
  EXPECT_FALSE(now.report.points[0].time);
  EXPECT_TRUE(now.times[0].empty());
  EXPECT_THAT(now.report.points[0].reason, mentions("2", "wrong"));
  const PooledRuns before = pool_at({1, 1});
  const Comparison comparison = comparison_of(before, now);
  EXPECT_TRUE(comparison.is_regression(change_of(comparison, 0)));
}

TEST(PooledRuns, RowsOfOneRunOnlyAreKept) {
  std::vector<Report> runs = {run_at(1), run_at(1.01)};
  runs[0].points.erase(runs[0].points.begin());
  const PooledRuns pool = pool_runs(runs);
  ASSERT_EQ(pool.report.points.size(), run_at(1).points.size());
  EXPECT_EQ(pool.report.points.back().workload.label, run_at(1).points[0].workload.label);
  EXPECT_EQ(pool.times.back().size(), 1U);
}

TEST(PooledRuns, TotalsOfProgramsAreMeans) {
  std::vector<Report> runs = {example::profile_report(), example::profile_report()};
  const double wall_s = runs[0].profile->wall_s, total_s = runs[0].points[0].profiled->total_s;
  runs[1].profile->wall_s = wall_s + 1;
  runs[1].points[0].profiled->total_s = total_s + 0.5;
  const PooledRuns pool = pool_runs(runs);
  EXPECT_DOUBLE_EQ(pool.report.profile->wall_s, wall_s + 0.5);
  EXPECT_DOUBLE_EQ(pool.report.points[0].profiled->total_s, total_s + 0.25);
}

TEST(PooledRuns, TheOutputSaysWhatTheIntervalsCover) {
  const PooledRuns one = pool_at({1}), three = pool_at({0.98, 1.0, 1.02});
  EXPECT_THAT(comparison_findings(comparison_of(one, one)), Contains(HasSubstr("one run")));
  EXPECT_THAT(comparison_findings(comparison_of(three, three)), Contains(mentions("3 before", "3 now")));
  EXPECT_THAT(comparison_findings(comparison_of(three, three)), Not(Contains(HasSubstr("one run"))));
  const auto json = nlohmann::json::parse(render_comparison_json(comparison_of(three, one)));
  EXPECT_EQ(json["base"]["runs"], 3);
  EXPECT_EQ(json["now"]["runs"], 1);
  EXPECT_EQ(json["rows"][0]["interval_covers"], "runs");
  EXPECT_EQ(json["rows"][0]["repetitions"]["before"], 3);
}

TEST(RowConditions, ClocksThatDifferByMoreThanAFewPerCentAreStated) {
  Report before = run_at(1), now = run_at(1);
  before.points[0].time->clock_hz = 3.1e9;
  now.points[0].time->clock_hz = 2.6e9;
  before.points[2].time->clock_hz = 3.10e9;
  now.points[2].time->clock_hz = 3.05e9;
  const RowConditions slower = conditions_of(&before.points[0], &now.points[0]);
  EXPECT_EQ(slower.clock_before_hz, 3.1e9);
  EXPECT_EQ(slower.clock_now_hz, 2.6e9);
  EXPECT_TRUE(conditions_of(&before.points[2], &now.points[2]).empty());
  EXPECT_TRUE(conditions_of(nullptr, &now.points[0]).empty());
  const Comparison comparison = comparison_of(before, now);
  EXPECT_THAT(comparison_findings(comparison), Contains(mentions("3.1 GHz before", "2.6 GHz now")));
  EXPECT_THAT(render_comparison_terminal(comparison, {.columns = 200}), HasSubstr("2.6 GHz now"));
  const auto json = nlohmann::json::parse(render_comparison_json(comparison));
  EXPECT_EQ(json["rows"][0]["now"]["clock_hz"], 2.6e9);
  EXPECT_TRUE(json["rows"][0].contains("conditions"));
  EXPECT_FALSE(json["rows"][2].contains("conditions"));
}

TEST(RowConditions, ContentionOfASideIsStated) {
  std::vector<Report> runs = {run_at(1), run_at(1)};
  runs[1].points[0].contention = Contention{.wall_s = 10, .cpus = 2, .cores = 2, .others_s = 11};
  const PooledRuns now = pool_runs(runs), before = pool_at({1, 1});
  const Comparison comparison = comparison_of(before, now);
  const RowConditions conditions =
      conditions_of(comparison.before(change_of(comparison, 0)), comparison.after(change_of(comparison, 0)));
  EXPECT_FALSE(conditions.contention_before);
  ASSERT_TRUE(conditions.contention_now);
  EXPECT_THAT(conditions_text(conditions), mentions("now", "1.1 of 2 cores"));
  EXPECT_THAT(conditions_text(conditions_of(&before.report.points[0], &before.report.points[0])), "");
}

}  // namespace
}  // namespace roofline
