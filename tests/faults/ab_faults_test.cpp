// A side that fails costs its own row of `roofline ab` and no other. The op is that of analyze_faults_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyze/ab.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

constexpr const char* kGoodRows = R"(
name: ab
workloads:
  - {op: fault, impl: good, shape: {n: 4096}}
  - {op: fault, impl: good, shape: {n: 5000}}
  - {op: fault, impl: good, shape: {n: 6000}}
)";

Suite ab_suite() { return parse_suite(kGoodRows, "ab.yaml", DeviceKind::cpu); }

/// The row runs another implementation under its old name, as a kernel that was changed does.
Suite with_change(std::size_t row, const char* implementation) {
  Suite suite = ab_suite();
  suite.entries[row].implementation = *find_implementation(*find_op("fault"), DeviceKind::cpu, implementation);
  return suite;
}

AbOptions fast_ab_options() {
  AbOptions options;
  options.device.options.threads = 1;
  options.max_time_s = 0.05;
  options.threshold = 10;  // no noise is a difference
  return options;
}

AbResult compare_with_change(const Suite& before, const Suite& now, const AbOptions& options = fast_ab_options()) {
  DeviceInfo device;
  device.kind = DeviceKind::cpu;
  return compare_suites(before, now, device, options);
}

void expect_other_rows_timed(const AbResult& result, std::size_t failed) {
  for (std::size_t row = 0; row < result.changes.size(); ++row) {
    if (row == failed) continue;
    const PointChange& change = result.changes[row];
    EXPECT_EQ(change.change, Change::same) << row;
    EXPECT_EQ(change.basis, RatioBasis::rounds);
    EXPECT_GT(change.time_ratio, 0);
    EXPECT_TRUE(result.now.points[row].time);
    EXPECT_TRUE(result.now.points[row].verification && result.now.points[row].verification->passed);
  }
}

TEST(AbFaults, EqualSidesAreTheSame) {
  const Suite suite = ab_suite();
  const AbResult result = compare_with_change(suite, suite);
  ASSERT_EQ(result.changes.size(), 3U);
  expect_other_rows_timed(result, 3);
  EXPECT_EQ(regression_line(result.comparison()), "");
  EXPECT_FALSE(result.cancelled);
}

TEST(AbFaults, ALaterSideThatFailsIsARegressionOfItsRow) {
  const std::vector<std::pair<const char*, const char*>> faults = {{"crashes", "signal 9"},
                                                                   {"exits", "exit code 3"},
                                                                   {"wrong", "wrong"},
                                                                   {"poisons", "illegal"},
                                                                   {"throws", "no luck"}};
  for (const auto& [implementation, reason] : faults) {
    const AbResult result = compare_with_change(ab_suite(), with_change(1, implementation));
    ASSERT_EQ(result.changes.size(), 3U);
    EXPECT_EQ(result.now.points[1].status, PointStatus::failed) << implementation;
    EXPECT_THAT(result.now.points[1].reason, testing::HasSubstr(reason));
    EXPECT_EQ(result.base.points[1].status, PointStatus::ok) << implementation;
    EXPECT_EQ(result.changes[1].change, Change::only_before);
    EXPECT_TRUE(result.comparison().is_regression(result.changes[1])) << implementation;
    expect_other_rows_timed(result, 1);
  }
}

TEST(AbFaults, AnEarlierSideThatFailsIsNoRegression) {
  const AbResult result = compare_with_change(with_change(0, "crashes"), ab_suite());
  EXPECT_EQ(result.base.points[0].status, PointStatus::failed);
  EXPECT_EQ(result.now.points[0].status, PointStatus::ok) << result.now.points[0].reason;
  EXPECT_EQ(result.changes[0].change, Change::only_now);
  EXPECT_EQ(regression_line(result.comparison()), "");
  expect_other_rows_timed(result, 0);
}

TEST(AbFaults, ASideThatHangsFailsAtTheLimit) {
  AbOptions options = fast_ab_options();
  options.round_limit_s = 2;
  const AbResult result = compare_with_change(ab_suite(), with_change(2, "hangs"), options);
  EXPECT_EQ(result.now.points[2].status, PointStatus::failed);
  EXPECT_EQ(result.base.points[2].status, PointStatus::ok);
  expect_other_rows_timed(result, 2);
}

TEST(AbFaults, RowsOfOneSideAreNamedAndNotTimed) {
  Suite now = ab_suite();
  now.entries.pop_back();
  now.entries[0].skip_reason = "not here";
  const AbResult result = compare_with_change(ab_suite(), now);
  ASSERT_EQ(result.changes.size(), 3U);
  EXPECT_EQ(result.changes[0].change, Change::only_before);
  EXPECT_EQ(result.now.points[0].reason, "not here");
  EXPECT_EQ(result.changes[2].change, Change::only_before);
  EXPECT_FALSE(result.changes[2].now);
  EXPECT_FALSE(result.base.points[2].time);
  EXPECT_EQ(regression_line(result.comparison()), "");
}

}  // namespace
}  // namespace roofline
