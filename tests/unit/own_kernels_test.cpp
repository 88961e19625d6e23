// The choice among configurations of a suite's own kernels: the fastest row stays, with the times of the others.
#include "analyze/own_kernels.hpp"

#include <gtest/gtest.h>

#include "tests/support/sample_report.hpp"
#include "user/kernel_spec.hpp"

namespace roofline {
namespace {

struct Rows {
  Suite suite;
  Report report;

  /// A row of `kernel`; no time: it failed.
  void add(const std::shared_ptr<const KernelSpec>& kernel, std::int64_t n, const std::string& configuration,
           double time_s) {
    SuiteEntry& entry = suite.entries.emplace_back();
    entry.kernel = kernel;
    entry.workload.shape = {{"n", n}};
    entry.workload.implementation = configuration;
    Point& point = report.points.emplace_back();
    point.workload = entry.workload;
    if (time_s > 0) point.time = example::timed(time_s);
    if (time_s <= 0) point.status = PointStatus::failed;
  }
};

std::shared_ptr<const KernelSpec> kernel(bool choose_fastest) {
  auto spec = std::make_shared<KernelSpec>();
  spec->choose_fastest = choose_fastest;
  return spec;
}

TEST(KeepFastest, HasTheTimesOfAllConfigurations) {
  Rows run;
  const auto chosen = kernel(true);
  run.add(chosen, 8, "A=1", 3);
  run.add(chosen, 8, "A=2", 1);
  run.add(chosen, 8, "A=3", 2);
  run.add(chosen, 8, "A=4", 0);
  run.add(chosen, 9, "A=1", 5);
  keep_fastest(run.suite, run.report);
  ASSERT_EQ(run.report.points.size(), 3U);
  const std::vector<TriedConfiguration>& tried = run.report.points[0].tried;
  ASSERT_EQ(tried.size(), 3U);
  EXPECT_EQ(run.report.points[0].workload.implementation, "A=2");
  EXPECT_EQ(tried[0].configuration, "A=2");
  EXPECT_EQ(tried[2].configuration, "A=1");
  EXPECT_EQ(tried[2].time_s, 3);
  EXPECT_EQ(run.report.points[1].status, PointStatus::failed);
  EXPECT_TRUE(run.report.points[1].tried.empty());
  EXPECT_EQ(run.report.points[2].tried.size(), 1U);
}

TEST(KeepFastest, TheLabelOfTheFastestDoesNotNameItsConfiguration) {
  Rows run;
  const auto chosen = kernel(true);
  for (const char* configuration : {"A=1", "A=2"}) {
    run.add(chosen, 8, configuration, configuration[2] == '1' ? 2 : 1);
    run.report.points.back().workload.label = std::string("own 8 ") + configuration;
    run.suite.entries.back().chosen_label = "own 8";
  }
  keep_fastest(run.suite, run.report);
  ASSERT_EQ(run.report.points.size(), 1U);
  EXPECT_EQ(run.report.points[0].workload.label, "own 8");
  EXPECT_EQ(run.report.points[0].workload.implementation, "A=2");
}

TEST(KeepFastest, KeepsEveryRowThatNobodyChoosesAmong) {
  Rows run;
  const auto all = kernel(false);
  run.add(all, 8, "A=1", 3);
  run.add(all, 8, "A=2", 1);
  keep_fastest(run.suite, run.report);
  ASSERT_EQ(run.report.points.size(), 2U);
  EXPECT_TRUE(run.report.points[0].tried.empty());
  EXPECT_TRUE(run.report.points[1].tried.empty());
}

}  // namespace
}  // namespace roofline
