// Counts of a part of a run: where it ended, and what its native time makes of its counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "profile/cpu/counted_part.hpp"
#include "tests/support/cpu_program.hpp"

namespace roofline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

CountedInstructions counted(const std::string& records) {
  CountedInstructions counted;
  std::istringstream in("roofline-counts\t1\npid\t10\t1\nmodule\t1\t0x0\t/bin/solver\nmodule\t2\t0x0\t/lib/other.so\n" +
                        records);
  read_counts(in, "10.counts", counted);
  return counted;
}

TEST(CountedPart, EndsAtTheInstructionThatIsExecutedMostInTheLastTenth) {
  const CountedInstructions all = counted(
      "i\t1\t0x10\t1500\tlate=10\ni\t1\t0x20\t1000\tlate=90\ni\t1\t0x130\t900000\tlate=90000\ni\t1\t0x13f\t1900\tlate="
      "190\ni\t1\t0x40\t2000\n"
      "i\t2\t0x50\t1900\tlate=190\nend\tlimit\n");
  const auto place = last_place(all, "/bin/solver", PlaceKind::cold);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->address, 0x20U);
  EXPECT_EQ(place->executions, 1000);
  EXPECT_EQ(last_place(all, "/bin/solver", PlaceKind::any)->address, 0x13fU) << "beside a hot instruction";
  EXPECT_FALSE(last_place(all, "/bin/another", PlaceKind::any));
}

TEST(CountedPart, EndsAtTheRarestOfFrequentInstructionsIfAllAreFrequent) {
  const auto place = last_place(counted("i\t1\t0x10\t90000\tlate=9000\ni\t1\t0x20\t30000\tlate=3000\nend\tlimit\n"),
                                "/bin/solver", PlaceKind::any);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->address, 0x20U);
  EXPECT_FALSE(last_place(counted("i\t1\t0x10\t900000\tlate=90000\nend\tlimit\n"), "/bin/solver", PlaceKind::any));
}

/// 1,000 samples per second: 100 in the first loop, then by turns 300 in each of two.
CodeSamples samples_in_turn() {
  CodeSamples samples;
  samples.period_s = 1e-3;
  samples.code.resize(3);
  const auto add = [&](std::int32_t code) { samples.samples.push_back({samples.samples.size(), 0, code}); };
  for (int i = 0; i < 100; ++i) add(0);
  for (int i = 0; i < 300; ++i) {
    add(1);
    add(2);
  }
  return samples;
}

TEST(CountedPart, IsScaledLoopByLoopByNativeTime) {
  const CodeSamples samples = samples_in_turn();
  const std::vector<bool> working(3, false);
  // The first loop is in the part as a whole, and a third of the others.
  EXPECT_THAT(scales_of_part(samples, {0, 1, 2}, working, 0.3), ElementsAre(1, 3, 3));
  // Too few samples of the second and third: as all of the run.
  EXPECT_THAT(scales_of_part(samples, {0, 1, 2}, working, 0.14), ElementsAre(1, 5, 5));
  EXPECT_THAT(scales_of_part(samples, {0, 1, 2}, working, 0.7), ElementsAre(1, 1, 1));
  EXPECT_THAT(scales_of_part(samples, {0, 1, 2}, working, 0), IsEmpty());
  // Samples of threads that wait take no time of the part.
  EXPECT_THAT(scales_of_part(samples, {0, 1, 2}, {false, true, false}, 0.2), ElementsAre(1, 3, 3));
}

Report report_of_part(const std::string& native) {
  ProgramFacts facts = {.program = {"solver"}, .folder = "/planted", .run = {}, .untraced_s = {}};
  const example::PlantedLoop loop = {
      .counts = "flops.fp64.scalar=1000 loads=1000 load.bytes=8000", .milliseconds = {500}, .iterations = 1000};
  facts.host = example::samples_of({loop});
  facts.counted = example::counts_of({loop}, "limit\n" + native);
  facts.gpu = false;
  return report_of({}, facts, example::four_cores());
}

TEST(CountedPart, BecomesTheWorkOfTheWholeRun) {
  const Report report = report_of_part("native\t0.1\t");
  EXPECT_TRUE(report.profile->emulated->complete);
  EXPECT_EQ(report.profile->emulated->counted_s, 0.1);
  ASSERT_FALSE(report.points.empty());
  const Point& point = report.points.front();
  EXPECT_EQ(point.work.flops.at(Pipe::fp64), 5000);
  EXPECT_EQ(point.work.bytes.at(Level::l1).read, 40000);
  EXPECT_EQ(point.profiled->loop->iterations + point.profiled->loop->entries, 5000);
}

TEST(CountedPart, OfUnknownNativeTimeIsNoWork) {
  const Report report = report_of_part("native\t0\tno breakpoints");
  EXPECT_FALSE(report.profile->emulated->complete);
  EXPECT_THAT(report.profile->emulated->ended, testing::HasSubstr("no breakpoints"));
  EXPECT_TRUE(report.points.front().work.flops.empty());
}

}  // namespace
}  // namespace roofline
