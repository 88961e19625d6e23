// The timeline of a typical step: programs with known activities, calls and samples → known lanes.
#include "profile/timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "profile/timeline_lanes.hpp"
#include "simulated_program.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMs = SimulatedProgram::kMs;

FoundSteps found_steps(const std::vector<Span>& spans) {
  FoundSteps found;
  found.process = 0;
  for (const Span& span : spans) found.all.push_back({.span = span, .counted = false, .launches = 1});
  return found;
}

TEST(TypicalStep, IsTheUncountedOneNearestToTheMedian) {
  FoundSteps found = found_steps({{0, 10}, {10, 30}, {30, 42}, {42, 55}, {55, 80}});
  EXPECT_EQ(typical_step(found), 3U) << "13 is the median of 10, 12, 13, 20, 25";
  found.all[3].counted = true;
  found.all[1].counted = true;
  EXPECT_EQ(typical_step(found), 2U) << "12 is the median of 10, 12, 25";
  EXPECT_FALSE(typical_step({}));
}

TEST(TypicalStep, IsOneInWhichTheHostWasSampledWhereSeveralAreNear) {
  const FoundSteps found = found_steps({{0, 1000}, {1000, 2005}, {2005, 3015}, {3015, 4500}});
  HostSamplesBuilder samples;
  const int thread = samples.thread(1, 1, "python");
  samples.sample(thread, 500, ThreadState::running, -1);
  samples.sample(thread, 2100, ThreadState::running, -1);
  samples.sample(thread, 2600, ThreadState::running, -1);
  for (std::uint64_t time = 3100; time < 4400; time += 100) samples.sample(thread, time, ThreadState::running, -1);
  EXPECT_EQ(typical_step(found, samples.take()), 2U) << "the last one is not near";
}

/// Steps of four kernels, a value that is read back, and Python.
class TimelineTest : public testing::Test {
 protected:
  TimelineTest() {
    fs::create_directories(folder_);
    kernel_ = program_.spool().kind("work", program_.place("train.py", 10, "step"));
    read_ = program_.place("train.py", 11, "step");
    load_ = program_.samples().stack({HostSamplesBuilder::own("train.py", 9, "load")});
  }
  ~TimelineTest() override { fs::remove_all(folder_); }

  void step(std::uint64_t python = 5 * kMs, bool reads = true) {
    program_.step();
    for (int k = 0; k < 4; ++k) program_.launch(kernel_, kMs);
    if (reads) program_.item(read_);
    program_.host(python, ThreadState::running, load_);
  }

  Timeline timeline(bool sampled = true) {
    step();
    program_.spool().end(program_.now() + kMs);
    traces_ = {read_spool(program_.spool().write(folder_ / "100.1.spool"))};
    const Recording recording(traces_);
    const HostSamples samples = sampled ? program_.take_samples(kMs) : HostSamples();
    return timeline_of(recording, found_steps(program_.steps()), samples).value();
  }

  static const Lane& lane(const Timeline& timeline, LaneKind kind) {
    return *std::ranges::find(timeline.lanes, kind, &Lane::kind);
  }
  static Slice longest(const Lane& lane) {
    return *std::ranges::max_element(lane.slices, {}, [](const Slice& slice) { return slice.end_s - slice.start_s; });
  }
  static double seconds_in(const Lane& lane) {
    return std::accumulate(lane.slices.begin(), lane.slices.end(), 0.0,
                           [](double sum, const Slice& slice) { return sum + slice.end_s - slice.start_s; });
  }

  SimulatedProgram program_;
  spool::Id kernel_ = 0, read_ = 0;
  int load_ = 0;
  std::vector<ProcessTrace> traces_;
  fs::path folder_ = fs::path(testing::TempDir()) /
                     (std::string("timeline_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(TimelineTest, HasTheTypicalStepAndNotASlowOne) {
  for (int i = 0; i < 9; ++i) step(i == 4 ? 50 * kMs : 5 * kMs);
  const Timeline found = timeline();
  const Span window = program_.steps().at(static_cast<std::size_t>(found.step.value()));
  EXPECT_NE(*found.step, 4);
  EXPECT_NEAR(found.length_s, seconds(window.length()), 1e-12);
  EXPECT_LT(found.length_s, 0.012);
  EXPECT_EQ(found.hidden_threads, 0);
}

TEST_F(TimelineTest, StreamAndIdleTimesFillTheStep) {
  for (int i = 0; i < 6; ++i) step();
  const Timeline found = timeline();
  const Span window = program_.steps().at(static_cast<std::size_t>(*found.step));
  const Lane &stream = lane(found, LaneKind::stream), &idle = lane(found, LaneKind::idle);
  ASSERT_EQ(stream.slices.size(), 5U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(stream.slices[i].point, 0);
    EXPECT_NEAR(stream.slices[i].end_s - stream.slices[i].start_s, 1e-3, 1e-9);
  }
  EXPECT_EQ(stream.slices[4].point, -1);
  EXPECT_FALSE(stream.slices[4].text.empty());
  EXPECT_EQ(stream.slices[4].line, "train.py:11 step");
  EXPECT_NEAR(seconds_in(idle), program_.gpu_idle_s({window}), 1e-9);
  EXPECT_NEAR(seconds_in(idle) + seconds_in(stream), found.length_s, 1e-9);
}

TEST_F(TimelineTest, ATimeAfterAWaitIsTheWaits) {
  for (int i = 0; i < 6; ++i) step();
  const Slice idle = longest(lane(timeline(), LaneKind::idle));
  EXPECT_NEAR(idle.end_s - idle.start_s, 5e-3, 0.5e-3);
  EXPECT_EQ(idle.cause, SavingCause::item_sync) << "without it most of the Python would have run beside the kernels";
  EXPECT_EQ(idle.line, "train.py:11 step");
  EXPECT_FALSE(idle.text.empty());
}

TEST_F(TimelineTest, SamplesNameTheCauseThatCallsDoNot) {
  for (int i = 0; i < 6; ++i) step(15 * kMs, false);
  const Slice idle = longest(lane(timeline(), LaneKind::idle));
  EXPECT_NEAR(idle.end_s - idle.start_s, 11e-3, 0.5e-3);
  EXPECT_EQ(idle.cause, SavingCause::host_python);
  EXPECT_EQ(idle.line, "train.py:9 load");
}

TEST_F(TimelineTest, SamplesOfOtherStepsNameItWhereTheStepHasNone) {
  for (int i = 0; i < 7; ++i) step((i < 2 ? 20 : 15) * kMs, false);
  step();
  program_.spool().end(program_.now() + kMs);
  traces_ = {read_spool(program_.spool().write(folder_ / "100.1.spool"))};
  const Recording recording(traces_);
  HostSamples samples = program_.take_samples(kMs);
  const Span slow = {program_.steps().front().start, program_.steps()[1].end};
  std::erase_if(samples.samples, [&](const HostSample& sample) { return sample.time >= slow.end; });
  const Timeline found = timeline_of(recording, found_steps(program_.steps()), samples).value();
  EXPECT_GE(*found.step, 2);
  const Slice idle = longest(lane(found, LaneKind::idle));
  EXPECT_EQ(idle.cause, SavingCause::host_python);
  EXPECT_EQ(idle.line, "train.py:9 load");
}

TEST_F(TimelineTest, WithoutSamplesItIsUnknownAndThereIsNoLaneOfThem) {
  for (int i = 0; i < 6; ++i) step(15 * kMs, false);
  const Timeline found = timeline(false);
  EXPECT_EQ(longest(lane(found, LaneKind::idle)).cause, SavingCause::unknown_idle);
  EXPECT_EQ(std::ranges::count(found.lanes, LaneKind::samples, &Lane::kind), 0);
  EXPECT_EQ(found.lanes.size(), 3U);
}

TEST_F(TimelineTest, CallsNameWhatTheyLaunchAndWhetherTheyWait) {
  for (int i = 0; i < 6; ++i) step();
  const Lane calls = lane(timeline(), LaneKind::calls);
  EXPECT_TRUE(calls.host());
  const auto launches = std::ranges::count(calls.slices, 0, &Slice::point);
  EXPECT_GE(launches, 3);
  EXPECT_LE(launches, 5);
  const auto wait = std::ranges::find(calls.slices, "cuStreamSynchronize", &Slice::text);
  ASSERT_NE(wait, calls.slices.end());
  EXPECT_EQ(wait->state, ThreadState::gpu);
  EXPECT_EQ(wait->line, "train.py:11 step");
  EXPECT_EQ(wait->point, -1);
  EXPECT_TRUE(std::ranges::is_sorted(calls.slices, {}, &Slice::start_s));
}

TEST_F(TimelineTest, SamplesOfOneStateAndLineAreOneBar) {
  for (int i = 0; i < 6; ++i) step();
  const Lane samples = lane(timeline(), LaneKind::samples);
  const auto load = std::ranges::find(samples.slices, "train.py:9 load", &Slice::line);
  ASSERT_NE(load, samples.slices.end());
  EXPECT_EQ(load->state, ThreadState::running);
  EXPECT_NEAR(load->end_s - load->start_s, 5e-3, 1.5e-3);
  EXPECT_EQ(std::ranges::count(samples.slices, "train.py:9 load", &Slice::line), 1);
}

TEST_F(TimelineTest, ThreadsThatOnlyWaitHaveNoLane) {
  const int worker = program_.samples().thread(SimulatedProgram::kPid, 2, "worker");
  const int pool = program_.samples().thread(SimulatedProgram::kPid, 3, "pool");
  program_.other(worker, ThreadState::running, load_);
  program_.other(pool, ThreadState::lock, -1);
  for (int i = 0; i < 6; ++i) step();
  const Timeline found = timeline();
  EXPECT_EQ(std::ranges::count(found.lanes, LaneKind::samples, &Lane::kind), 2);
  EXPECT_EQ(found.hidden_threads, 1);
  EXPECT_NE(found.lanes.back().name.find("worker"), std::string::npos);
}

TEST_F(TimelineTest, WithoutStepsItIsOfTheBusiestMoments) {
  SpoolBuilder spool;
  const spool::Id kind = spool.kind("work");
  for (std::uint64_t i = 0; i < 50; ++i) {
    const std::uint64_t at = i * 20 * kMs;
    const std::uint64_t length = i == 30 ? 15 * kMs : SimulatedProgram::kUs;
    spool.launch(kind, at, at + 1000, at + 2000, at + 2000 + length);
  }
  spool.end(1000 * kMs);
  traces_ = {read_spool(spool.write(folder_ / "100.1.spool"))};
  const Recording recording(traces_);
  const Timeline found = timeline_of(recording, {}, {}, 0.1).value();
  EXPECT_FALSE(found.step);
  EXPECT_LE(found.length_s, 0.1);
  EXPECT_LE(found.start_s, 0.6001);
  EXPECT_GE(found.start_s + found.length_s, 0.615);
  EXPECT_EQ(found.lanes.size(), 3U);
  const Lane stream = lane(found, LaneKind::stream);
  EXPECT_EQ(std::ranges::count(stream.slices, 0, &Slice::point), static_cast<std::ptrdiff_t>(stream.slices.size()));
  for (const Slice& slice : stream.slices) {
    EXPECT_GE(slice.start_s, 0);
    EXPECT_LE(slice.end_s, found.length_s + 1e-12);
  }
}

TEST_F(TimelineTest, WithoutActivitiesThereIsNone) {
  const Recording recording(traces_);
  EXPECT_FALSE(timeline_of(recording, {}, {}));
}

TEST(TimelineLanes, BarsAreCutAtTheWindow) {
  const Span window = {1'000'000'000, 2'000'000'000};
  const Slice whole = slice_within(window, 0, 3'000'000'000);
  EXPECT_DOUBLE_EQ(whole.start_s, 0);
  EXPECT_DOUBLE_EQ(whole.end_s, 1);
  const Slice outside = slice_within(window, 2'500'000'000, 2'600'000'000);
  EXPECT_DOUBLE_EQ(outside.start_s, outside.end_s);
}

}  // namespace
}  // namespace roofline
