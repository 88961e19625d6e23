// What a report says: true, and the alarming first.
#include "report/findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/mentions.hpp"
#include "tests/support/sample_report.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

using ::testing::ElementsAre;
using ::testing::Not;

/// The first finding of that kind; an empty text where there is none.
std::string text_of(const Report& report, FindingKind kind) {
  for (const Finding& one : findings(report))
    if (one.kind == kind) return one.text;
  return {};
}

/// The row of the second point, where the first alarm is of the sample's failed row.
auto second_alarm(FindingKind kind) { return finding(kind, "relu fp16"); }

TEST(Findings, OfTheSample) {
  EXPECT_THAT(findings(example::sample_report()),
              ElementsAre(finding(FindingKind::rows_failed, "attention fp64 4x16x2048x128 (cuda)"),
                          finding(FindingKind::row_counts, "22 of 24", "1 skipped", "1 failed"),
                          finding(FindingKind::bound_counts, "12 of 22", "memory-bound", "10 compute-bound"),
                          finding(FindingKind::largest_saving, "attention fp32 4x16x2048x128 (cuda)",
                                  "2.32 ms of 4.43 ms", "FP32 pipe", "--counters"),
                          finding(FindingKind::next_savings, "gemm fp32 4096x4096x4096 (cuda) (1.46 ms of 3.58 ms)",
                                  "gemm fp32 4096x4096x4096 (cublas) (591 µs of 2.71 ms)",
                                  "attention bf16 4x16x2048x128 (cuda) (233 µs of 405 µs)"),
                          finding(FindingKind::rows_at_roof, "8 of 22")));
}

TEST(Findings, AUnitForProductsThatNoRowUsesIsNamed) {
  const auto unused = [](double value, std::string_view limit) {
    Report report = example::cpu_sample_report();
    report.machine.ceilings.push_back(example::compute(Pipe::tensor_bf16, value, 2 * value, "a product in 16 cycles"));
    for (Point& point : report.points)
      if (point.workload.op == "gemm") point.bound.limiting_ceiling = limit;
    return text_of(report, FindingKind::unused_unit);
  };
  EXPECT_THAT(unused(3.1e12, "fp32"), mentions("tensor.bf16", "3.1 TFLOP/s", "15 times the fp32 roof"));
  EXPECT_EQ(unused(3.1e12, "tensor.bf16"), "") << "a row uses it";
  EXPECT_EQ(unused(0.25e12, "fp32"), "") << "hardly faster";
  EXPECT_EQ(text_of(example::cpu_sample_report(), FindingKind::unused_unit), "") << "the machine has none";
  Report half = example::cpu_sample_report();
  half.machine.ceilings.push_back(example::compute(Pipe::tensor_bf16, 3.1e12, 6e12, "a product in 16 cycles"));
  for (Point& point : half.points) {
    point.workload.dtype = DType::fp16;
    if (point.workload.op == "gemm") point.bound.limiting_ceiling = "fp32";
  }
  EXPECT_THAT(text_of(half, FindingKind::unused_unit), mentions("tensor.bf16", "Run them in bf16"))
      << "a suite in fp16, of which these tiles know nothing";
  Report streams = example::cpu_sample_report();
  streams.machine.ceilings.push_back(example::compute(Pipe::tensor_bf16, 3.1e12, 6e12, "a product in 16 cycles"));
  streams.points.resize(4);
  EXPECT_EQ(text_of(streams, FindingKind::unused_unit), "") << "no products";
}

TEST(Findings, TheUnitOfPointsFollowsFromTheirPipes) {
  Report report = example::sample_report();
  EXPECT_EQ(operation_unit(report.points), "FLOP/s");
  report.points[0].work.flops = {{Pipe::tensor_int8, 1e9}};
  EXPECT_EQ(operation_unit(report.points), "FLOP/s, OP/s");
  EXPECT_EQ(performance_text(report.points[0]), si(1e9 / report.points[0].time->median, "OP/s"));
  report.points.resize(1);
  EXPECT_EQ(operation_unit(report.points), "OP/s");
  EXPECT_EQ(operation_unit({}), "FLOP/s");
}

TEST(Findings, OfOneKernel) {
  Report report = example::sample_report();
  report.points.resize(1);
  report.machine.ceilings[4].audit = example::passed("fine");
  EXPECT_THAT(findings(report), ElementsAre(finding(FindingKind::row_counts, "1 kernel "),
                                            finding(FindingKind::bound_counts, "1 of 1 kernel ", "memory-bound"),
                                            finding(FindingKind::rows_at_roof, "1 of 1 ")));
}

TEST(Findings, AlarmsComeFirst) {
  Report report = example::sample_report();
  report.cancelled = true;
  report.points[0].verification.reset();
  report.points[1].time = example::timed(report.points[1].bound.attainable_time_s / 1.03);
  const Findings found = findings(report);
  EXPECT_EQ(found[0].kind, FindingKind::cancelled);
  EXPECT_THAT(found[1], finding(FindingKind::rows_failed, "attention fp64"));
  EXPECT_THAT(found[2], finding(FindingKind::rows_unverified, "relu fp32 268435456 (cuda)"));
  EXPECT_THAT(found[3], finding(FindingKind::above_roof, "relu fp16"));
}

TEST(Findings, ARunWithoutAnEndSaysSoFirst) {
  Report report = example::sample_report();
  EXPECT_EQ(unfinished(report), "");
  report.complete = false;
  report.rows_planned = static_cast<std::int64_t>(report.points.size()) + 7;
  const std::string rows = std::to_string(report.points.size());
  const std::string some = rows + " of " + std::to_string(report.rows_planned);
  EXPECT_THAT(findings(report)[0], finding(FindingKind::incomplete, some));
  report.rows_planned -= 7;
  EXPECT_EQ(findings(report)[0].kind, FindingKind::incomplete);
  EXPECT_THAT(findings(report)[0].text, Not(mentions(rows))) << "no row is missing";
}

TEST(Findings, FasterThanMemoryCanBeIsNotAboveItsRoofButNotCold) {
  Report report = example::sample_report();
  Point& point = report.points[1];
  point.time = example::timed(point.bound.attainable_time_s / 1.3);
  EXPECT_THAT(findings(report)[1], second_alarm(FindingKind::partly_cached));
  point.workload.cache = CacheMode::hot;
  EXPECT_THAT(findings(report)[1], second_alarm(FindingKind::above_roof));
}

/// The calibration's own copy beside the row was above its roof, too: then the roof is old, and no count is wrong.
TEST(Findings, AboveTheRoofOfAMachineThatIsFasterNow) {
  Report report = example::sample_report();
  Point& point = report.points[1];
  point.workload.cache = CacheMode::hot;
  point.time = example::timed(point.bound.attainable_time_s / 1.1);
  const auto with_pace = [&](double copy) {
    point.reference_rates = ReferenceRates{.copy = copy, .arithmetic = 1};
    return findings(report)[1];
  };
  EXPECT_THAT(with_pace(1.15), second_alarm(FindingKind::faster_now));
  EXPECT_THAT(with_pace(1.05), second_alarm(FindingKind::above_roof));
  // Both ran at the same speed: the work model or the probe is wrong.
  point.paired =
      PairedFraction{.ceiling = point.bound.limiting_ceiling, .fraction = 1.1, .ci95 = {1.09, 1.11}, .pairs = 40};
  EXPECT_THAT(with_pace(1.15), second_alarm(FindingKind::above_roof));
  // Where others use half of the memory's bandwidth, two loops get different shares of it; but not twice as much.
  EXPECT_NE(with_pace(0.5).kind, FindingKind::above_roof);
  point.paired->ci95 = {1.3, 1.5};
  EXPECT_THAT(with_pace(0.5), second_alarm(FindingKind::above_roof));
}

/// The roof may be at fault then, but not the work model of the row.
TEST(Findings, AboveARoofThatFailedItsAudit) {
  Report report = example::sample_report();
  Point& point = report.points[1];
  point.workload.cache = CacheMode::hot;
  point.time = example::timed(point.bound.attainable_time_s / 1.1);
  point.bound.suspect = true;
  EXPECT_THAT(findings(report)[1], second_alarm(FindingKind::above_suspect));
  point.paired =
      PairedFraction{.ceiling = point.bound.limiting_ceiling, .fraction = 1.1, .ci95 = {1.09, 1.11}, .pairs = 40};
  EXPECT_THAT(findings(report)[1], second_alarm(FindingKind::above_roof)) << "its pairs do not use the calibrated roof";
}

TEST(Findings, AProvisionalRoofIsInDoubtBeforeTheWork) {
  Report report = example::sample_report();
  Point& point = report.points[1];
  point.workload.cache = CacheMode::hot;
  point.time = example::timed(point.bound.attainable_time_s / 1.1);
  EXPECT_FALSE(point.above_unconfirmed_roof());
  point.bound.provisional = true;
  EXPECT_TRUE(point.above_unconfirmed_roof());
  EXPECT_THAT(findings(report)[1], second_alarm(FindingKind::above_suspect));
  point.time = example::timed(point.bound.attainable_time_s / 0.9);
  EXPECT_FALSE(point.above_unconfirmed_roof()) << "it is below it";
}

TEST(Findings, AHotRowLargerThanTheCachesIsPartlyCached) {
  Report report = example::cpu_sample_report();
  Point& point = report.points[0];
  point.workload.cache = CacheMode::hot;
  point.work.bytes[Level::dram] = {.read = 40e6, .write = 40e6};
  point.bound = bound_of(point.work, report.machine);
  point.time = example::timed(point.bound.attainable_time_s / 1.4);
  EXPECT_TRUE(partly_cached(point, report.machine));
  EXPECT_EQ(findings(report)[0].kind, FindingKind::partly_cached);
  // Far larger, or in a cache by its bound: the roof or the work is wrong.
  point.work.cache = Level::l3;
  EXPECT_FALSE(partly_cached(point, report.machine));
  point.work.cache.reset();
  point.work.bytes[Level::dram] = {.read = 4e9, .write = 4e9};
  point.bound = bound_of(point.work, report.machine);
  point.time = example::timed(point.bound.attainable_time_s / 1.4);
  EXPECT_FALSE(partly_cached(point, report.machine));
  EXPECT_EQ(findings(report)[0].kind, FindingKind::above_roof);
}

TEST(Findings, NameTheRowsThatTheChartCannotShow) {
  Report report = example::cpu_sample_report();
  const auto off_chart = [&] {
    Findings found = findings(report);
    std::erase_if(found, [](const Finding& one) { return one.kind != FindingKind::not_on_chart; });
    return found;
  };
  EXPECT_TRUE(off_chart().empty());
  report.points[0].work.flops.clear();
  EXPECT_TRUE(off_chart().empty()) << "its bandwidth has a place at the edge";
  report.points[0].bound.resources.clear();
  ASSERT_EQ(off_chart().size(), 1U);
  EXPECT_THAT(off_chart()[0], finding(FindingKind::not_on_chart, point_name(report.points[0]).c_str()));
  report.points[1].work.bytes.clear();
  report.points[1].bound = bound_of(report.points[1].work, report.machine);
  EXPECT_EQ(off_chart().size(), 2U);
}

TEST(Findings, LongListsAreCut) {
  Report report = example::sample_report();
  for (Point& point : report.points) {
    if (point.time) point = example::without_time(point, PointStatus::failed, "wrong");
  }
  EXPECT_THAT(findings(report)[0], finding(FindingKind::rows_failed, " and 15 more."));
  EXPECT_EQ(text_of(report, FindingKind::largest_saving), "");
}

/// The row that loses the most time comes first, not the one that is the least of its roof.
TEST(Findings, AreRankedByTime) {
  Report report = example::sample_report();
  Point& shortest = report.points[0];
  const double roof = shortest.bound.attainable_time_s;
  report.points.resize(2);
  report.points[0].time = example::timed(1.5 * roof);
  report.points[1].workload.cache = CacheMode::hot;
  report.points[1].bound.attainable_time_s = 0.1 * roof;
  report.points[1].time = example::timed(0.4 * roof);
  EXPECT_THAT(text_of(report, FindingKind::largest_saving), mentions("relu fp32"));
  EXPECT_THAT(text_of(report, FindingKind::next_savings), mentions("relu fp16"));
}

TEST(Findings, BadlyMeasuredRowsAreAnAlarm) {
  Report report = example::sample_report();
  example::scatter(*report.points[1].time);
  EXPECT_THAT(findings(report)[1], second_alarm(FindingKind::badly_measured));
}

TEST(Findings, NothingRun) {
  EXPECT_THAT(findings(Report{}), ElementsAre(finding(FindingKind::row_counts, "")));
  EXPECT_THAT(findings(Report{})[0].text, Not(mentions("0")));
}

TEST(PointName, NamesTheImplementationOnce) {
  Point point = example::sample_report().points[0];
  EXPECT_EQ(point_name(point), "relu fp32 268435456 (cuda)");
  point.workload.label = "relu fp32 268435456 cuda";
  EXPECT_EQ(point_name(point), "relu fp32 268435456 cuda");
  point.workload.label.clear();
  EXPECT_EQ(point_name(point), "relu (cuda)");
  point.workload.implementation.clear();
  EXPECT_EQ(point_name(point), "relu");
}

}  // namespace
}  // namespace roofline
