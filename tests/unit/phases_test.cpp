// Which parts of a run a sampled recording has, and the steps that its marks time in the others.
#include "profile/phases.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "spool_builder.hpp"

namespace roofline {
namespace {

constexpr std::uint64_t kMicro = 1'000, kMilli = 1'000'000;

/// Tests run in processes beside each other: each has a file of its own.
std::vector<ProcessTrace> traces_of(const SpoolBuilder& spool) {
  const auto file = std::filesystem::temp_directory_path() / ("roofline-phases-" + std::to_string(::getpid()));
  std::vector<ProcessTrace> traces = {read_spool(spool.write(file))};
  std::filesystem::remove(file);
  return traces;
}

/// Steps of 10 ms with a copy at their beginning and four kernels, recorded from 0 to 100 ms and from 500 to 600 ms.
/// Kernels run 1 ms after their launch.
class SampledSpool {
 public:
  SampledSpool() {
    kernel_ = spool_.kind("kernel");
    other_ = spool_.kind("other");
    for (std::uint64_t at : {0U, 500U}) {
      if (at > 0) spool_.note(spool::NoteCode::recording_began, at * kMilli, "");
      for (std::uint64_t step = 0; step < 10; ++step) add_step((at + 10 * step) * kMilli);
      spool_.note(spool::NoteCode::recording_ended, (at + 100) * kMilli, "");
    }
  }

  void marker(spool::Id id, const std::string& call) {
    spool_.add(spool::Type::marker, spool::Marker{id, 0, spool_.text(call), 0});
  }
  void launch_marker(spool::Id id) { spool_.add(spool::Type::marker, spool::Marker{id, other_, 0, 0}); }
  void marks(std::uint64_t start, std::uint64_t end, std::uint32_t marks = 1, std::uint32_t callbacks = 1) {
    spool_.add(spool::Type::marks, spool::Marks{start, end, 1, marks, callbacks, 0});
  }
  SpoolBuilder& spool() { return spool_; }

  std::vector<ProcessTrace> traces(std::uint64_t end) {
    spool_.end(end);
    return traces_of(spool_);
  }

  static std::vector<Span> steps() {
    std::vector<Span> steps;
    for (std::uint64_t at : {0U, 500U}) {
      for (std::uint64_t step = 0; step < 9; ++step) {
        steps.push_back({(at + 10 * step) * kMilli, (at + 10 * step + 10) * kMilli});
      }
    }
    return steps;
  }

 private:
  void add_step(std::uint64_t time) {
    spool_.call("cuMemcpyHtoDAsync", spool::CallKind::copy, time, time + kMicro);
    for (std::uint64_t i = 1; i <= 4; ++i) {
      const std::uint64_t call = time + i * 100 * kMicro;
      spool_.launch(i == 4 ? other_ : kernel_, call, call + kMicro, call + kMilli, call + kMilli + 50 * kMicro);
    }
  }

  SpoolBuilder spool_;
  spool::Id kernel_ = 0, other_ = 0;
};

TEST(Phases, RecordedIsWhatWasNotLeftOut) {
  SampledSpool sampled;
  const std::vector<ProcessTrace> traces = sampled.traces(1000 * kMilli);
  const Recording recording(traces);
  // What was queued before a part began ran unrecorded: it counts from its first kernel on.
  const std::vector<Span> expected = {{0, 100 * kMilli}, {501 * kMilli + 100 * kMicro, 600 * kMilli}};
  EXPECT_EQ(recorded(recording), expected);
  EXPECT_EQ(recorded(recording, 0), expected);
  EXPECT_NEAR(recorded_share(recording), 0.1989, 1e-4);
}

TEST(Phases, AWholeRecordingIsAll) {
  SpoolBuilder spool;
  spool.launch(spool.kind("kernel"), 10, 20, 30, 40);
  spool.end(kMilli);
  const std::vector<ProcessTrace> traces = traces_of(spool);
  const Recording recording(traces);
  EXPECT_EQ(recorded(recording), (std::vector<Span>{{0, kMilli}}));
  EXPECT_EQ(recorded_share(recording), 1);
  EXPECT_TRUE(untouched_steps(recording, {{0, kMilli}}).empty());
}

TEST(Phases, APartWithoutActivityIsNone) {
  SampledSpool sampled;
  sampled.spool().note(spool::NoteCode::recording_began, 700 * kMilli, "");
  sampled.spool().note(spool::NoteCode::recording_ended, 800 * kMilli, "");
  // A lost mark began a part in which nothing was launched.
  sampled.spool().note(spool::NoteCode::recording_ended, 900 * kMilli, "");
  const std::vector<ProcessTrace> traces = sampled.traces(1000 * kMilli);
  const std::vector<Span> spans = recorded(Recording(traces));
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans.back().end, 600 * kMilli);
}

TEST(Phases, UntouchedStepsAreThoseOfTheMark) {
  SampledSpool sampled;
  sampled.marker(1, "cuMemcpyHtoDAsync");
  for (std::uint64_t step = 0; step < 30; ++step) sampled.marks((110 + 8 * step) * kMilli, (118 + 8 * step) * kMilli);
  sampled.marks(350 * kMilli, 430 * kMilli, 10, 10);
  const std::vector<ProcessTrace> traces = sampled.traces(1000 * kMilli);
  const std::vector<double> steps = untouched_steps(Recording(traces), SampledSpool::steps());
  ASSERT_EQ(steps.size(), 31U);
  for (const double step : steps) EXPECT_NEAR(step, 8e-3, 1e-9);
  EXPECT_TRUE(untouched_steps(Recording(traces), {}).empty()) << "a mark's share of a step is not known without steps";
}

TEST(Phases, AMarkMayComeSeveralTimesInAStep) {
  SampledSpool sampled;
  sampled.marker(1, "cuEventRecord");
  for (const Span& step : SampledSpool::steps()) {
    sampled.spool().call("cuEventRecord", spool::CallKind::event, step.start + kMilli, step.start + kMilli + kMicro);
    sampled.spool().call("cuEventRecord", spool::CallKind::event, step.start + 3 * kMilli,
                         step.start + 3 * kMilli + kMicro);
  }
  std::uint64_t time = 110 * kMilli;
  for (std::uint64_t mark = 0; mark < 40; ++mark) {
    const std::uint64_t length = (mark % 2 == 0 ? 2 : 6) * kMilli;
    sampled.marks(time, time + length);
    time += length;
  }
  const std::vector<ProcessTrace> traces = sampled.traces(1000 * kMilli);
  const std::vector<double> steps = untouched_steps(Recording(traces), SampledSpool::steps());
  ASSERT_EQ(steps.size(), 20U);
  for (const double step : steps) EXPECT_NEAR(step, 8e-3, 1e-9);
}

TEST(Phases, AMarkMayComeOnceInSeveralSteps) {
  SampledSpool sampled;
  sampled.marker(1, "cuCtxSynchronize");
  for (std::uint64_t time : {5U, 55U, 505U, 555U}) {
    sampled.spool().call("cuCtxSynchronize", spool::CallKind::synchronise, time * kMilli, time * kMilli + kMicro);
  }
  for (std::uint64_t mark = 0; mark < 6; ++mark) sampled.marks((110 + 40 * mark) * kMilli, (150 + 40 * mark) * kMilli);
  const std::vector<ProcessTrace> traces = sampled.traces(1000 * kMilli);
  const std::vector<double> steps = untouched_steps(Recording(traces), SampledSpool::steps());
  ASSERT_EQ(steps.size(), 6U);
  for (const double step : steps) EXPECT_NEAR(step, 8e-3, 1e-9) << "five steps of 8 ms from mark to mark";
}

TEST(Phases, WhatCallbacksAddIsTakenOut) {
  SampledSpool sampled;
  sampled.launch_marker(1);
  // 1 us a callback: 1000 of them where each launch is looked at, 300 where most are not.
  for (std::uint64_t step = 0; step < 10; ++step) {
    sampled.marks((110 + 20 * step) * kMilli, (119 + 20 * step) * kMilli, 1, 1000);
  }
  for (std::uint64_t step = 0; step < 8; ++step) {
    const std::uint64_t start = (320 + 20 * step) * kMilli;
    sampled.marks(start, start + 8 * kMilli + 300 * kMicro, 1, 300);
  }
  const std::vector<ProcessTrace> traces = sampled.traces(1000 * kMilli);
  const std::vector<double> steps = untouched_steps(Recording(traces), SampledSpool::steps());
  ASSERT_EQ(steps.size(), 8U);
  for (const double step : steps) EXPECT_NEAR(step, 8e-3, 1e-9);
}

}  // namespace
}  // namespace roofline
