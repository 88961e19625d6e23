// Rows of an emulated run that ended early: what its counts tell about each other is kept, and nothing of all of the
// run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report/diagnosis/verdict.hpp"
#include "tests/support/cpu_program.hpp"

namespace roofline {
namespace {

using example::cpu_program_report;
using example::PlantedLoop;

Report ended_early(const PlantedLoop& loop) { return cpu_program_report({loop}, example::four_cores(), "limit"); }

std::string rule_of_first(const Report& report) {
  const std::vector<Verdict> all = verdicts(report);
  const auto first = std::ranges::find(all, 0U, &Verdict::row);
  return first == all.end() ? "" : first->rule;
}

TEST(PartialCounts, HaveACauseOnlyWithTheFault) {
  const std::string strided =
      "loads=40000000 load.bytes=320000000 l1.fills=20000000 l1.used=320000000 stride.other=40000000 "
      "stride.bytes=24000";
  const std::string adjacent =
      "loads=40000000 load.bytes=320000000 l1.fills=5000000 l1.used=320000000 stride.line=35000000 "
      "stride.next=5000000 stride.bytes=8";
  EXPECT_EQ(rule_of_first(ended_early({.counts = strided, .milliseconds = {500}})), "partly-counted-strided-loop");
  EXPECT_EQ(rule_of_first(ended_early({.counts = adjacent, .milliseconds = {500}})), "roofless");
  const PlantedLoop divides = {
      .counts = "flops.fp64.scalar=1000000 divides=1000000 loads=100", .milliseconds = {500}, .iterations = 1e6};
  EXPECT_EQ(rule_of_first(ended_early(divides)), "partly-counted-dividing-loop");
  PlantedLoop divides_little = divides;
  divides_little.iterations = 1e8;
  EXPECT_EQ(rule_of_first(ended_early(divides_little)), "roofless");
}

TEST(PartialCounts, AreNoFiguresOfAllOfTheRun) {
  const Report report = ended_early(
      {.counts = "flops.fp64.256=1000000 loads=100 load.bytes=3200 l1.fills=50 l3.fills=5", .milliseconds = {500}});
  const Point& point = report.points.at(0);
  EXPECT_FALSE(point.profiled->complete);
  EXPECT_TRUE(point.work.bytes.empty());
  EXPECT_TRUE(point.work.flops.empty());
  ASSERT_TRUE(point.counters.has_value());
  EXPECT_FALSE(point.counters->find("flops.fp64.256"));
  EXPECT_FALSE(point.counters->find("dram.read_bytes"));
  EXPECT_EQ(point.counters->find("l1.fills"), 50);
}

}  // namespace
}  // namespace roofline
