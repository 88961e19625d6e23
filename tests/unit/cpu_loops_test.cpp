// Loops of machine code from backward jumps, and the time of each from samples of instructions.
#include <gmock/gmock.h>

#include "profile/cpu/loops.hpp"
#include "profile/cpu/region_times.hpp"

namespace roofline {
namespace {

using testing::ElementsAre;
using testing::Field;

TEST(CodeLoops, NestByContainment) {
  const CodeLoops loops({{0x140, 0x120, 1000}, {0x180, 0x110, 10}, {0x300, 0x300, 7}});
  ASSERT_THAT(loops.all(), ElementsAre(CodeLoop{0x110, 0x180, 10, -1}, CodeLoop{0x120, 0x140, 1000, 0},
                                       CodeLoop{0x300, 0x300, 7, -1}));
  EXPECT_EQ(loops.innermost(0x10f), -1);
  EXPECT_EQ(loops.innermost(0x110), 0);
  EXPECT_EQ(loops.innermost(0x120), 1);
  EXPECT_EQ(loops.innermost(0x140), 1);
  EXPECT_EQ(loops.innermost(0x141), 0);
  EXPECT_EQ(loops.innermost(0x180), 0);
  EXPECT_EQ(loops.innermost(0x181), -1);
  EXPECT_EQ(loops.innermost(0x300), 2);
}

TEST(CodeLoops, OfJumpsToOneHeadAreOne) {
  const CodeLoops loops({{0x140, 0x120, 90}, {0x160, 0x120, 10}});
  EXPECT_THAT(loops.all(), ElementsAre(CodeLoop{0x120, 0x160, 100, -1}));
}

TEST(CodeLoops, ThatOverlapAreTheMoreFrequentOne) {
  // A rare part behind the loop jumps back into it.
  EXPECT_THAT(CodeLoops({{0x140, 0x100, 1000}, {0x200, 0x120, 3}}).all(), ElementsAre(Field(&CodeLoop::head, 0x100)));
  EXPECT_THAT(CodeLoops({{0x140, 0x100, 3}, {0x200, 0x120, 1000}}).all(), ElementsAre(Field(&CodeLoop::head, 0x120)));
}

TEST(CodeLoops, LeaveOutWhatIsNoLoop) {
  EXPECT_TRUE(CodeLoops({{0x100, 0x140, 5}, {0x140, 0x100, 0}, {UINT64_MAX, 0, 9}}).all().empty());
  EXPECT_EQ(CodeLoops().innermost(0x100), -1);
}

TEST(CodeLoops, OfAHostileFileStayShallow) {
  std::vector<LoopJump> jumps;
  for (std::uint64_t i = 0; i < 20000; ++i) jumps.push_back({1'000'000 - i, i, 1});
  EXPECT_LE(CodeLoops(jumps).all().size(), 64U);
}

CodeSamples every_ms(const std::vector<CodeSample>& samples) {
  return {
      .modules = {"/solver"}, .code = {{0, 0x100}, {0, 0x200}}, .samples = samples, .period_s = 1e-3, .why_none = {}};
}

constexpr std::uint64_t kMillisecond = 1'000'000;

TEST(RegionTimes, OfOneThreadAreItsSamples) {
  std::vector<CodeSample> samples;
  for (int i = 0; i < 400; ++i) samples.push_back({static_cast<std::uint64_t>(i) * kMillisecond, 0, i < 300 ? 0 : 1});
  const std::vector<RegionTime> times = region_times(every_ms(samples), {0, 1}, 2);
  EXPECT_NEAR(times[0].thread_s, 0.3, 1e-9);
  EXPECT_NEAR(times[0].elapsed_s, 0.3, 1e-9);
  EXPECT_EQ(times[0].threads, 1);
  EXPECT_EQ(times[0].busiest, 0);
  // 300 of 400: a standard deviation of 8.7 samples.
  EXPECT_NEAR(times[0].thread_ci95.low, 0.3 - 1.96 * 8.72e-3, 1e-4);
  EXPECT_NEAR(times[0].thread_ci95.high, 0.3 + 1.96 * 8.72e-3, 1e-4);
}

TEST(RegionTimes, OfThreadsTogetherAreDividedByTheirNumber) {
  std::vector<CodeSample> samples;
  for (int i = 0; i < 200; ++i) {
    for (int thread = 0; thread < 4; ++thread) {
      const bool parallel = i < 100;
      if (parallel || thread == 0) {
        samples.push_back({static_cast<std::uint64_t>(i) * kMillisecond, thread, parallel ? 0 : 1});
      }
    }
  }
  const std::vector<RegionTime> times = region_times(every_ms(samples), {0, 1}, 2);
  EXPECT_NEAR(times[0].thread_s, 0.4, 1e-9);
  EXPECT_NEAR(times[0].elapsed_s, 0.1, 0.005);
  EXPECT_EQ(times[0].threads, 4);
  EXPECT_NEAR(times[0].busiest, 1, 1e-9);
  EXPECT_NEAR(times[1].elapsed_s, 0.1, 1e-9);
  EXPECT_EQ(threads_at_once(every_ms(samples)), 4);
}

TEST(RegionTimes, OfThreadsInTurnAreAdded) {
  std::vector<CodeSample> samples;
  for (int i = 0; i < 400; ++i) samples.push_back({static_cast<std::uint64_t>(i) * kMillisecond, i / 100, 0});
  const std::vector<RegionTime> times = region_times(every_ms(samples), {0, 0}, 1);
  EXPECT_NEAR(times[0].elapsed_s, 0.4, 0.02);
  EXPECT_EQ(threads_at_once(every_ms(samples)), 1);
}

TEST(RegionTimes, TellAnUnevenThread) {
  std::vector<CodeSample> samples;
  for (int i = 0; i < 300; ++i) {
    samples.push_back({static_cast<std::uint64_t>(i) * kMillisecond, 0, 0});
    if (i < 100) samples.push_back({static_cast<std::uint64_t>(i) * kMillisecond, 1, 0});
  }
  const std::vector<RegionTime> times = region_times(every_ms(samples), {0, 0}, 1);
  EXPECT_NEAR(times[0].busiest, 1.5, 1e-9);
  EXPECT_NEAR(times[0].elapsed_s, 0.3, 0.01);
}

}  // namespace
}  // namespace roofline
