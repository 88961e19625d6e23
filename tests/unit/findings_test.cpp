// What a report says in sentences: true, short, and the alarming first.
#include "report/findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/sample_report.hpp"

namespace roofline {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Findings, OfTheSample) {
  EXPECT_THAT(findings(example::sample_report()),
              ElementsAre("Failed: attention fp64 4x16x2048x128 (cuda).",
                          "22 of 24 kernels verified and timed; 1 skipped and 1 failed, each with its reason below.",
                          "12 of 22 kernels are memory-bound and 10 compute-bound.",
                          AllOf(StartsWith("attention fp32 4x16x2048x128 (cuda) has the most to win, 2.32 ms of 4.43 "
                                           "ms: By the model the FP32 pipe"),
                                HasSubstr("--counters")),
                          "Next: gemm fp32 4096x4096x4096 (cuda) (1.46 ms of 3.58 ms), gemm fp32 4096x4096x4096 "
                          "(cublas) (591 µs of 2.71 ms) and attention bf16 4x16x2048x128 (cuda) (233 µs of 405 µs).",
                          "8 of 22 are at their roof: only less work makes them faster."));
}

TEST(Findings, OfOneKernel) {
  Report report = example::sample_report();
  report.points.resize(1);
  report.machine.ceilings[4].audit = example::passed("fine");
  EXPECT_THAT(findings(report), ElementsAre("1 kernel verified and timed.", "1 of 1 kernel is memory-bound.",
                                            "1 of 1 is at its roof: only less work makes it faster."));
}

TEST(Findings, AlarmsComeFirst) {
  Report report = example::sample_report();
  report.cancelled = true;
  report.points[0].verification.reset();
  report.points[1].time = example::timed(report.points[1].bound.attainable_time_s / 1.03);
  const std::vector<std::string> sentences = findings(report);
  EXPECT_THAT(sentences[0], HasSubstr("cancelled"));
  EXPECT_THAT(sentences[1], HasSubstr("Failed: attention fp64"));
  EXPECT_EQ(sentences[2], "Timed without being verified: relu fp32 268435456 (cuda).");
  EXPECT_THAT(sentences[3], HasSubstr("Above the roof"));
  EXPECT_THAT(sentences[3], HasSubstr("relu fp16"));
}

TEST(Findings, ARunWithoutAnEndSaysSoFirst) {
  Report report = example::sample_report();
  EXPECT_EQ(unfinished(report), "");
  report.complete = false;
  report.rows_planned = static_cast<std::int64_t>(report.points.size()) + 7;
  const std::string rows = std::to_string(report.points.size());
  const std::string sentence =
      "The run did not come to its end: " + rows + " of " + std::to_string(report.rows_planned) + " rows are here.";
  EXPECT_EQ(findings(report)[0], sentence);
  report.rows_planned -= 7;
  EXPECT_THAT(findings(report)[0], HasSubstr("all rows are here, without what was to be counted"));
}

TEST(Findings, FasterThanMemoryCanBeIsNotAboveItsRoofButNotCold) {
  Report report = example::sample_report();
  Point& point = report.points[1];
  point.time = example::timed(point.bound.attainable_time_s / 1.3);
  EXPECT_THAT(findings(report)[1], AllOf(StartsWith("Not cold"), HasSubstr("relu fp16")));
  point.workload.cache = CacheMode::hot;
  EXPECT_THAT(findings(report)[1], StartsWith("Above the roof"));
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
  EXPECT_THAT(with_pace(1.15),
              AllOf(StartsWith("Above the roof, for the machine is faster now"), HasSubstr("relu fp16")));
  EXPECT_THAT(with_pace(1.05), StartsWith("Above the roof, which means that the ceiling or the work model is wrong"));
}

TEST(Findings, LongListsAreCut) {
  Report report = example::sample_report();
  for (Point& point : report.points) {
    if (point.time) point = example::without_time(point, PointStatus::failed, "wrong");
  }
  EXPECT_THAT(findings(report)[0], HasSubstr(" and 15 more."));
  EXPECT_THAT(findings(report), Not(Contains(HasSubstr("to win"))));
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
  const std::vector<std::string> sentences = findings(report);
  EXPECT_THAT(sentences, Contains(AllOf(StartsWith("relu fp32"), HasSubstr("has the most to win"))));
  EXPECT_THAT(sentences, Contains(StartsWith("Next: relu fp16")));
}

TEST(Findings, BadlyMeasuredRowsAreAnAlarm) {
  Report report = example::sample_report();
  example::scatter(*report.points[1].time);
  EXPECT_THAT(findings(report)[1], AllOf(StartsWith("Badly measured"), HasSubstr("relu fp16")));
}

TEST(Findings, NothingRun) { EXPECT_THAT(findings(Report{}), ElementsAre("No workload was run.")); }

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
