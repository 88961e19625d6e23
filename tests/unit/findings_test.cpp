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
  EXPECT_THAT(findings(sample::sample_report()),
              ElementsAre("Failed: attention fp64 4x16x2048x128 (cuda).",
                          "22 of 24 kernels verified and timed; 1 skipped and 1 failed, each with its reason below.",
                          "12 of 22 kernels are memory-bound and 10 compute-bound.",
                          "attention bf16 4x16x2048x128 (cuda) has the most head-room: 2.4× under tensor.bf16.",
                          HasSubstr("is nearest to its roof: ")));
}

TEST(Findings, OfOneKernel) {
  Report report = sample::sample_report();
  report.points.resize(1);
  report.machine.ceilings[4].audit = sample::passed("fine");
  EXPECT_THAT(findings(report), ElementsAre("1 kernel verified and timed.", "1 of 1 kernel is memory-bound.",
                                            "relu fp32 268435456 (cuda) is nearest to its roof: 99.4 % of hbm.copy."));
}

TEST(Findings, AlarmsComeFirst) {
  Report report = sample::sample_report();
  report.cancelled = true;
  report.points[0].verification.reset();
  report.points[1].time = sample::timed(report.points[1].bound.attainable_time_s / 1.03);
  const std::vector<std::string> sentences = findings(report);
  EXPECT_THAT(sentences[0], HasSubstr("cancelled"));
  EXPECT_THAT(sentences[1], HasSubstr("Failed: attention fp64"));
  EXPECT_EQ(sentences[2], "Timed without being verified: relu fp32 268435456 (cuda).");
  EXPECT_THAT(sentences[3], HasSubstr("Above the roof"));
  EXPECT_THAT(sentences[3], HasSubstr("relu fp16"));
}

TEST(Findings, FasterThanMemoryCanBeIsNotAboveItsRoofButNotCold) {
  Report report = sample::sample_report();
  Point& point = report.points[1];
  point.time = sample::timed(point.bound.attainable_time_s / 1.3);
  EXPECT_THAT(findings(report)[1], AllOf(StartsWith("Not cold"), HasSubstr("relu fp16")));
  point.workload.cache = CacheMode::hot;
  EXPECT_THAT(findings(report)[1], StartsWith("Above the roof"));
}

TEST(Findings, LongListsAreCut) {
  Report report = sample::sample_report();
  for (Point& point : report.points) {
    if (point.time) point = sample::without_time(point, PointStatus::failed, "wrong");
  }
  EXPECT_THAT(findings(report)[0], HasSubstr(" and 15 more."));
  EXPECT_THAT(findings(report), Not(Contains(HasSubstr("head-room"))));
}

TEST(Findings, NothingRun) { EXPECT_THAT(findings(Report{}), ElementsAre("No workload was run.")); }

TEST(PointName, NamesTheImplementationOnce) {
  Point point = sample::sample_report().points[0];
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
