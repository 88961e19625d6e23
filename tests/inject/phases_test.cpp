// Sampled recordings of programs that use a fake driver: what is recorded, and the marks that time the other steps.
#include <gtest/gtest.h>

#include <set>

#include "injected.hpp"

namespace roofline::inject {
namespace {

class Sampled : public Injected {
 protected:
  Spool sampled(const std::string& name, Environment more = {}) {
    more.emplace("ROOFLINE_RECORD", "sample");
    return spool_of(name, more);
  }
};

std::vector<std::uint64_t> times(const Spool& spool, spool::NoteCode code) {
  std::vector<std::uint64_t> found;
  for (const auto& [note, text] : spool.notes) {
    if (note.code == code) found.push_back(note.time);
  }
  return found;
}

/// Every launch has its kernel, and every kernel its launch.
void expect_nothing_lost(const Spool& spool) {
  std::set<std::uint32_t> launched, ran;
  for (const spool::Launch& launch : spool.launches) {
    if ((launch.flags & spool::kCaptured) == 0) launched.insert(launch.correlation);
  }
  for (const spool::Kernel& kernel : spool.kernels) ran.insert(kernel.correlation);
  EXPECT_EQ(launched, ran);
  EXPECT_EQ(spool.tallies.back().launches, launched.size());
  EXPECT_EQ(spool.tallies.back().last, 1U);
}

TEST_F(Sampled, StepsAreRecordedAndThenTimedByAMark) {
  const Spool spool = sampled("repeats");
  expect_nothing_lost(spool);
  const std::vector<std::uint64_t> ended = times(spool, spool::NoteCode::recording_ended);
  ASSERT_EQ(ended.size(), 1U);
  // Twenty launches a step; some repetitions are needed at least.
  EXPECT_GT(spool.launches.size(), 5U * 20);
  for (const spool::Launch& launch : spool.launches) EXPECT_LE(launch.start, ended[0]);
  for (const spool::Call& call : spool.calls) EXPECT_LE(call.start, ended[0]);

  ASSERT_EQ(spool.markers.size(), 1U);
  EXPECT_EQ(spool.texts.at(spool.markers.begin()->second.call), "cuMemcpyHtoDAsync");
  EXPECT_EQ(spool.markers.begin()->second.kind, 0U);
  std::uint64_t marks = 0, before = ended[0];
  for (const spool::Marks& one : spool.marks) {
    EXPECT_GE(one.start, before);
    before = one.end;
    EXPECT_EQ(one.callbacks, one.marks);
    EXPECT_GE(one.end - one.start, one.marks * 1'000'000U) << "a step sleeps for a millisecond";
    marks += one.marks;
  }
  EXPECT_EQ(marks, 199U) << "of 200 steps";
}

TEST_F(Sampled, AllIsRecordedWhereThatIsWanted) {
  for (const Environment& how : {Environment{{"ROOFLINE_RECORD", "all"}}, Environment{{"ROOFLINE_RECORD", ""}},
                                 Environment{{"ROOFLINE_RECORD", "sample"}, {"ROOFLINE_WINDOW_S", "10"}}}) {
    const Spool spool = spool_of("never_repeats", how);
    EXPECT_FALSE(spool.has_note(spool::NoteCode::recording_ended));
    EXPECT_EQ(spool.launches.size(), 3000U);
    EXPECT_TRUE(spool.marks.empty());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
}

TEST_F(Sampled, WhatNeverRepeatsIsRecordedWhole) {
  const Spool spool = sampled("never_repeats");
  expect_nothing_lost(spool);
  EXPECT_EQ(spool.launches.size(), 3000U);
  EXPECT_FALSE(spool.has_note(spool::NoteCode::recording_ended));
}

TEST_F(Sampled, AShortProgramIsRecordedWhole) {
  const Spool spool = sampled("kinds");
  expect_nothing_lost(spool);
  EXPECT_FALSE(spool.has_note(spool::NoteCode::recording_ended));
}

TEST_F(Sampled, ManyLaunchesAreLookedAtNowAndThen) {
  const Spool spool = sampled("launches_much");
  expect_nothing_lost(spool);
  ASSERT_EQ(spool.markers.size(), 1U);
  EXPECT_NE(spool.markers.begin()->second.kind, 0U);
  ASSERT_FALSE(spool.marks.empty());
  std::size_t untouched = 0;
  for (const spool::Marks& one : spool.marks) {
    EXPECT_EQ(one.marks, 1U);
    EXPECT_GE(one.end - one.start, 5'000'000U) << "a step sleeps for 5 ms";
    EXPECT_LE(one.callbacks, 100U) << "a step has 100 launches: these were two";
    untouched += one.callbacks < 100 ? 1 : 0;
  }
  EXPECT_GT(untouched, 0U) << "steps with most callbacks disabled";
}

TEST_F(Sampled, ACaptureWhileNothingIsRecordedIsFollowed) {
  const Spool spool = sampled("captures_while_quiet");
  expect_nothing_lost(spool);
  const std::vector<std::uint64_t> began = times(spool, spool::NoteCode::recording_began);
  const std::vector<std::uint64_t> ended = times(spool, spool::NoteCode::recording_ended);
  ASSERT_EQ(ended.size(), 2U);
  ASSERT_EQ(began.size(), 1U);
  EXPECT_LT(ended[0], began[0]);
  EXPECT_LT(began[0], ended[1]);
  int graphs = 0;
  for (const spool::Launch& launch : spool.launches) {
    EXPECT_TRUE(launch.start <= ended[0] || (launch.end >= began[0] && launch.start <= ended[1]));
    graphs += (spool.kinds.at(launch.kind).flags & spool::kGraph) != 0 ? 1 : 0;
  }
  EXPECT_GT(graphs, 0);
  for (const spool::Kernel& kernel : spool.kernels) {
    if (kernel.graph == 0) continue;
    const spool::Kind& kind = spool.kinds.at(kernel.kind);
    EXPECT_EQ(spool.texts.at(kind.name), "timeless");
    EXPECT_EQ(spool.range_path(spool.places.at(kind.place).range), "capture") << "it was made unrecorded";
  }
  for (const spool::Marks& one : spool.marks) EXPECT_TRUE(one.end <= began[0] || one.start >= ended[1]);
}

TEST_F(Sampled, AForkWhileNothingIsRecordedLeavesTheParentAlone) {
  const Spool spool = sampled("forks_while_quiet");
  expect_nothing_lost(spool);
  std::uint64_t marks = 0;
  for (const spool::Marks& one : spool.marks) marks += one.marks;
  EXPECT_EQ(marks, 39U) << "of the parent's 40 steps";
}

TEST_F(Sampled, TheParentMayEndItWhileNothingIsRecorded) {
  const Spool spool = sampled("is_stopped_while_quiet");
  expect_nothing_lost(spool);
  EXPECT_TRUE(spool.has_note(spool::NoteCode::recording_ended));
  EXPECT_TRUE(spool.has_note(spool::NoteCode::window_ended));
}

}  // namespace
}  // namespace roofline::inject
