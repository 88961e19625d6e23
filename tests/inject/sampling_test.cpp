// When a sampled recording records, and what it finds in a program by itself: without CUPTI, driver and clock.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "inject/pacer.hpp"
#include "inject/peers.hpp"
#include "inject/phase_plan.hpp"
#include "inject/repetitions.hpp"

namespace roofline::inject {
namespace {

constexpr std::uint64_t kMs = 1'000'000, kS = 1'000 * kMs;

// --- phases

/// Asks a plan four times a second.
class Asked {
 public:
  /// Until the phase ends, at most for that long; the time that it took.
  std::uint64_t pass(PhasePlan::Progress progress, std::uint64_t repetitions_per_second, std::uint64_t most) {
    const RunPhase phase = plan.phase();
    const std::uint64_t begin = time;
    while (plan.phase() == phase && time - begin < most) {
      time += kS / 4;
      progress.time = time;
      progress.launched = true;
      progress.launches = launches += launches_per_look;
      progress.repetitions = repetitions_per_second * (time - begin) / kS;
      progress.repeated = progress.repetitions > 0 ? time - begin : 0;
      plan.next(progress);
    }
    return time - begin;
  }

  PhasePlan plan;
  std::uint64_t time = kS, launches = 0, launches_per_look = 10;
};

PhasePlan::Progress resting() {
  PhasePlan::Progress progress = {};
  progress.counting_rests = true;
  return progress;
}

TEST(PhasePlan, WaitsForTheFirstLaunch) {
  PhasePlan plan;
  PhasePlan::Progress progress = resting();
  progress.time = 100 * kS;
  EXPECT_EQ(plan.next(progress), RunPhase::start_up);
}

TEST(PhasePlan, ASampleIsAHundredRepetitionsOrSomeSeconds) {
  for (const auto& [rate, least, most] : {std::tuple{std::uint64_t{1000}, kS, 3 * kS / 2},
                                          {50, 2 * kS, 3 * kS},
                                          {2, 5 * kS, 6 * kS},
                                          {std::uint64_t{1}, 5 * kS, 6 * kS}}) {
    Asked asked;
    asked.pass(resting(), rate, kS);
    ASSERT_EQ(asked.plan.phase(), RunPhase::sample);
    const std::uint64_t length = asked.pass(resting(), rate, 100 * kS);
    EXPECT_EQ(asked.plan.phase(), RunPhase::quiet) << rate;
    EXPECT_GE(length, least) << rate;
    EXPECT_LE(length, most) << rate;
  }
}

/// A compiler tunes a kernel in 30 ms, 400 repetitions, every three seconds.
TEST(PhasePlan, ATunersShortLoopsAreNoSampleOfTheSteps) {
  Asked asked;
  asked.pass(resting(), 0, kS);
  ASSERT_EQ(asked.plan.phase(), RunPhase::sample);
  PhasePlan::Progress progress = resting();
  progress.launched = true;
  const std::uint64_t begin = asked.time;
  for (; asked.time < begin + 20 * kS; asked.time += kS / 4) {
    const std::uint64_t loops = (asked.time - begin) / (3 * kS) + 1;
    progress.time = asked.time;
    progress.repetitions = 400 * loops;
    progress.repeated = 30 * kMs * loops;
    ASSERT_EQ(asked.plan.next(progress), RunPhase::sample) << loops;
  }
  // The steps: 5 ms each.
  for (int quarter = 0; quarter < 5; ++quarter, asked.time += kS / 4) {
    progress.time = asked.time;
    progress.repetitions += 50;
    progress.repeated += kS / 4;
    asked.plan.next(progress);
  }
  EXPECT_EQ(asked.plan.phase(), RunPhase::quiet);
}

TEST(PhasePlan, AProgramOfShortLoopsAloneIsNotRecordedForEver) {
  Asked asked;
  asked.pass(resting(), 0, kS);
  PhasePlan::Progress progress = resting();
  progress.launched = true;
  progress.repetitions = 400;
  progress.repeated = 30 * kMs;
  const std::uint64_t begin = asked.time;
  while (asked.plan.phase() == RunPhase::sample && asked.time < begin + 3600 * kS) {
    asked.time += kS / 4;
    progress.time = asked.time;
    asked.plan.next(progress);
  }
  EXPECT_EQ(asked.plan.phase(), RunPhase::quiet);
  EXPECT_LE(asked.time, begin + 120 * kS);
}

TEST(PhasePlan, ASampleOfAJobBeginsWhenAllRanksAreInIt) {
  Asked asked;
  asked.pass(resting(), 1000, kS);
  ASSERT_EQ(asked.plan.phase(), RunPhase::sample);
  PhasePlan::Progress waits = resting();
  waits.in_job = waits.peers_missing = true;
  EXPECT_EQ(asked.pass(waits, 1000, 3 * kS), 3 * kS);
  waits.peers_missing = false;
  EXPECT_GE(asked.pass(waits, 1000, 100 * kS), kS / 2);
  EXPECT_EQ(asked.plan.phase(), RunPhase::quiet);
  // Later parts are long enough that those of all ranks overlap, and as far apart on each.
  std::uint64_t quiet = asked.pass(waits, 1000, 100 * kS);
  ASSERT_EQ(asked.plan.phase(), RunPhase::refresh);
  EXPECT_GE(asked.pass(waits, 1000, 100 * kS), kS);
  EXPECT_EQ(asked.pass(waits, 1000, 100 * kS), 2 * quiet);
}

/// A plan with instructions: a phase at the start, and one of steady steps.
PhasePlan::Progress sampling_instructions(bool on) {
  PhasePlan::Progress progress = {};
  progress.counts_missing = true;
  progress.instructions_on = progress.instructions_taken = on;
  return progress;
}

TEST(PhasePlan, InstructionsAreSampledFirstAndInSteadySteps) {
  Asked asked;
  asked.plan.begin(true, false);
  EXPECT_EQ(asked.plan.phase(), RunPhase::instructions);
  EXPECT_LT(asked.pass(sampling_instructions(true), 100, 10 * kS), kS);
  // A launch must have ended the sampling before counters are read.
  EXPECT_EQ(asked.plan.phase(), RunPhase::closing);
  EXPECT_GE(asked.pass(sampling_instructions(true), 100, 5 * kS), 5 * kS);
  EXPECT_FALSE(counts(asked.plan.phase()));
  asked.pass(sampling_instructions(false), 100, kS);
  ASSERT_EQ(asked.plan.phase(), RunPhase::start_up);

  PhasePlan::Progress counted = sampling_instructions(false);
  counted.counting_rests = true;
  asked.pass(counted, 100, kS);
  ASSERT_EQ(asked.plan.phase(), RunPhase::sample);
  asked.pass(sampling_instructions(false), 100, 10 * kS);
  ASSERT_EQ(asked.plan.phase(), RunPhase::counting) << "first what is missing";
  asked.pass(counted, 100, kS);
  ASSERT_EQ(asked.plan.phase(), RunPhase::instructions);
  const std::uint64_t steady = asked.pass(sampling_instructions(true), 100, 10 * kS);
  EXPECT_GE(steady, kS);
  EXPECT_LT(steady, 2 * kS);
  asked.pass(sampling_instructions(false), 100, kS);
  EXPECT_EQ(asked.plan.phase(), RunPhase::quiet) << "not once more";
}

/// Nothing repeats at first, and then steps come that need many counts.
TEST(PhasePlan, StepsThatBeginLateGetASampleDuringCounting) {
  for (const bool repeats : {true, false}) {
    Asked asked;
    PhasePlan::Progress counting = {};
    counting.counts_missing = true;
    counting.counting_rests = true;
    asked.pass(counting, 0, kS);
    ASSERT_EQ(asked.plan.phase(), RunPhase::sample);
    counting.counting_rests = false;
    counting.counting_cost = kS;
    asked.pass(counting, 0, 20 * kS);
    ASSERT_EQ(asked.plan.phase(), RunPhase::counting) << "in vain";
    asked.pass(counting, 0, kS / 4);
    counting.counting_cost = 4 * kS;
    asked.pass(counting, repeats ? 100 : 0, kS);
    EXPECT_EQ(asked.plan.phase(), repeats ? RunPhase::sample : RunPhase::counting);
    if (!repeats) continue;
    asked.pass(counting, 100, 10 * kS);
    EXPECT_EQ(asked.plan.phase(), RunPhase::counting) << "it goes on";
  }
}

TEST(PhasePlan, InstructionsThatAreRefusedTakeNoTime) {
  Asked asked;
  asked.plan.begin(true, false);
  PhasePlan::Progress refused = sampling_instructions(false);
  refused.no_instructions = true;
  EXPECT_LE(asked.pass(refused, 100, 10 * kS), kS / 4);
  EXPECT_LE(asked.pass(refused, 100, 10 * kS), kS / 4);
  EXPECT_EQ(asked.plan.phase(), RunPhase::start_up);
}

TEST(PhasePlan, AProgramThatNeverRepeatsIsSampledForShort) {
  Asked asked;
  asked.plan.begin(true, false);
  EXPECT_LE(asked.pass(sampling_instructions(true), 0, 10 * kS), 4 * kS);
  EXPECT_EQ(asked.plan.phase(), RunPhase::closing);
}

/// Imports and compilers launch little: the samples are to be of what comes after them.
TEST(PhasePlan, AStartUpWithoutLaunchesDoesNotUseUpTheTimeOfInstructions) {
  Asked asked;
  asked.plan.begin(true, false);
  asked.pass(sampling_instructions(true), 0, kS / 2);
  asked.launches_per_look = 0;
  EXPECT_GE(asked.pass(sampling_instructions(true), 0, 20 * kS), 20 * kS);
  EXPECT_EQ(asked.plan.phase(), RunPhase::instructions);
  asked.launches_per_look = 10;
  EXPECT_LT(asked.pass(sampling_instructions(true), 20, 10 * kS), kS) << "it repeats";
  EXPECT_EQ(asked.plan.phase(), RunPhase::closing);
}

TEST(Peers, AreReadyTogetherOrAreWaitedForInVain) {
  std::string folder = testing::TempDir() + "roofline-peers-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  Peers first(folder, 0, 2), second(folder, 1, 2), alone(folder, 0, 1);
  EXPECT_TRUE(alone.alone());
  EXPECT_TRUE(alone.ready(kS));
  EXPECT_FALSE(first.ready(kS));
  EXPECT_FALSE(first.ready(2 * kS));
  EXPECT_TRUE(second.ready(2 * kS));
  EXPECT_TRUE(first.ready(3 * kS));
  first.leave();
  second.leave();
  Peers lonely(folder, 0, 2);
  EXPECT_FALSE(lonely.ready(kS));
  EXPECT_FALSE(lonely.ready(11 * kS)) << "another rank may count that long";
  EXPECT_TRUE(lonely.ready(17 * kS));
  lonely.leave();
  EXPECT_EQ(rmdir(folder.c_str()), 0);  // nothing is left in it
}

TEST(PhasePlan, WhatDoesNotRepeatIsRecordedWhole) {
  Asked asked;
  asked.pass(resting(), 0, kS);
  asked.pass(resting(), 0, 3600 * kS);
  EXPECT_EQ(asked.plan.phase(), RunPhase::sample);
}

/// Counting in one rank delays all others: in a job of 60 steps none was without it.
TEST(PhasePlan, AJobHasStepsWithoutCountingFirst) {
  for (const bool instructions : {true, false}) {
    Asked asked;
    asked.plan.begin(instructions, true);
    PhasePlan::Progress progress = sampling_instructions(instructions);
    progress.in_job = true;
    if (instructions) {
      asked.pass(progress, 100, kS);
      ASSERT_EQ(asked.plan.phase(), RunPhase::closing);
      progress.instructions_on = progress.instructions_taken = false;
      asked.pass(progress, 100, kS);
    }
    ASSERT_EQ(asked.plan.phase(), RunPhase::glimpse);
    EXPECT_FALSE(counts(asked.plan.phase()));
    EXPECT_GE(asked.pass(progress, 30, 10 * kS), kS / 2);
    ASSERT_EQ(asked.plan.phase(), RunPhase::start_up);
    progress.counting_cost = 3 * kS / 2;
    asked.pass(progress, 30, kS);
    EXPECT_EQ(asked.plan.phase(), RunPhase::start_up) << "not once more";
  }
}

TEST(PhasePlan, AJobThatStartsSlowlyIsNotGivenUpBeforeItLaunches) {
  Asked asked;
  asked.plan.begin(false, true);
  asked.launches_per_look = 0;
  PhasePlan::Progress progress = {};
  progress.in_job = true;
  EXPECT_GE(asked.pass(progress, 0, 20 * kS), 20 * kS);
  asked.launches_per_look = 10;
  EXPECT_LE(asked.pass(progress, 0, 20 * kS), 4 * kS) << "nothing repeats";
  EXPECT_EQ(asked.plan.phase(), RunPhase::start_up);
}

TEST(PhasePlan, LongCountingIsInterruptedForUncountedSteps) {
  Asked asked;
  PhasePlan::Progress counting = {};
  counting.counts_missing = true;
  asked.pass(counting, 10, 60 * kS);
  EXPECT_EQ(asked.plan.phase(), RunPhase::start_up);
  counting.counting_cost = kS;
  asked.pass(counting, 10, 60 * kS);
  EXPECT_EQ(asked.plan.phase(), RunPhase::glimpse);
  EXPECT_LE(asked.pass(counting, 10, 60 * kS), kS);
  EXPECT_EQ(asked.plan.phase(), RunPhase::start_up) << "a few steps are enough";
  asked.pass(counting, 10, 60 * kS);
  EXPECT_EQ(asked.plan.phase(), RunPhase::start_up);
  counting.counting_cost = 5 * kS;
  asked.pass(counting, 10, 60 * kS);
  EXPECT_EQ(asked.plan.phase(), RunPhase::sample);
  counting.counting_rests = true;  // it is held
  asked.pass(counting, 50, 60 * kS);
  EXPECT_EQ(asked.plan.phase(), RunPhase::counting);
  counting.counting_rests = false;
  asked.pass(counting, 50, 60 * kS);
  EXPECT_EQ(asked.plan.phase(), RunPhase::counting) << "it is not through";
  counting.counting_rests = true;
  asked.pass(counting, 50, 60 * kS);
  EXPECT_EQ(asked.plan.phase(), RunPhase::quiet) << "what is still missing comes too seldom";
}

TEST(PhasePlan, CountsThatTakeTooLongGiveWayEarlier) {
  for (const std::uint64_t left : {10 * kS, kS}) {
    Asked asked;
    PhasePlan::Progress counting = {};
    counting.counts_missing = true;
    counting.counting_cost = kS;
    counting.counting_left = left;
    asked.pass(counting, 25, 60 * kS);
    asked.pass(counting, 25, 60 * kS);
    ASSERT_EQ(asked.plan.phase(), RunPhase::start_up) << "after the glimpse";
    counting.counting_cost = 5 * kS / 2;
    asked.pass(counting, 25, kS);
    EXPECT_EQ(asked.plan.phase(), left > kS ? RunPhase::sample : RunPhase::start_up);
  }
}

TEST(PhasePlan, TheSampleIsShorterWhileCountsAreMissing) {
  for (const bool missing : {true, false}) {
    Asked asked;
    PhasePlan::Progress counting = {};
    counting.counts_missing = missing;
    counting.counting_cost = 5 * kS;
    asked.pass(counting, 25, 60 * kS);
    ASSERT_EQ(asked.plan.phase(), RunPhase::glimpse);
    asked.pass(counting, 25, 60 * kS);
    asked.pass(counting, 25, 60 * kS);
    ASSERT_EQ(asked.plan.phase(), RunPhase::sample);
    const std::uint64_t length = asked.pass(counting, 25, 60 * kS);
    EXPECT_EQ(length < 2 * kS, missing) << "20 steps are enough, or 100 of them";
    EXPECT_EQ(asked.plan.phase(), missing ? RunPhase::counting : RunPhase::quiet);
  }
}

TEST(PhasePlan, AShortProgramWithSlowStepsHasUncountedOnes) {
  Asked asked;
  PhasePlan::Progress counting = {};
  counting.counts_missing = true;
  counting.counting_cost = kS;
  asked.pass(counting, 2, 60 * kS);
  ASSERT_EQ(asked.plan.phase(), RunPhase::glimpse);
  EXPECT_FALSE(counts(asked.plan.phase()));
  EXPECT_GE(asked.pass(counting, 2, 60 * kS), 2 * kS) << "four steps of half a second";
}

TEST(PhasePlan, CountingGoesOnWhereNothingRepeats) {
  Asked asked;
  PhasePlan::Progress counting = {};
  counting.counts_missing = true;
  counting.counting_cost = 5 * kS;
  asked.pass(counting, 0, 60 * kS);
  ASSERT_EQ(asked.plan.phase(), RunPhase::glimpse);
  asked.pass(counting, 0, 60 * kS);
  ASSERT_EQ(asked.plan.phase(), RunPhase::start_up);
  asked.pass(counting, 0, 60 * kS);
  ASSERT_EQ(asked.plan.phase(), RunPhase::sample);
  asked.pass(counting, 0, 60 * kS);
  EXPECT_EQ(asked.plan.phase(), RunPhase::counting);
  counting.counting_rests = true;
  asked.pass(counting, 0, 60 * kS);
  EXPECT_EQ(asked.plan.phase(), RunPhase::sample) << "there are no uncounted steps yet";
  asked.pass(counting, 0, 60 * kS);
  EXPECT_EQ(asked.plan.phase(), RunPhase::sample);
}

TEST(PhasePlan, RecordsASmallPartOfALongRun) {
  Asked asked;
  std::uint64_t recorded = 0, quiet = 0;
  while (asked.time < 3600 * kS) {
    const bool records = asked.plan.phase() != RunPhase::quiet;
    const std::uint64_t length = asked.pass(resting(), 200, 3600 * kS);
    (records ? recorded : quiet) += length;
  }
  EXPECT_LT(recorded, quiet / 100);
  EXPECT_GT(recorded, 2 * kS) << "a program changes: it is looked at again";
}

TEST(PhasePlan, ALostMarkIsLookedInto) {
  Asked asked;
  asked.pass(resting(), 200, kS);
  asked.pass(resting(), 200, kS);
  ASSERT_EQ(asked.plan.phase(), RunPhase::quiet);
  PhasePlan::Progress lost = resting();
  lost.marker_lost = true;
  EXPECT_LE(asked.pass(lost, 200, 60 * kS), 3 * kS);
  EXPECT_EQ(asked.plan.phase(), RunPhase::refresh);
  asked.pass(lost, 0, 60 * kS);
  EXPECT_EQ(asked.plan.phase(), RunPhase::quiet) << "nor does it repeat: not for ever";
  EXPECT_GT(asked.pass(lost, 0, 60 * kS), 3 * kS) << "and less often each time";
}

// --- kernels one after the other

/// Counting has cost what is enough for a glimpse and for the first slice.
PhasePlan::Progress counting_for_long() {
  PhasePlan::Progress progress = {};
  progress.counts_missing = progress.may_count = true;
  progress.counting_cost = 10 * kS;
  return progress;
}

TEST(PhasePlan, ASeriesOfKernelsIsCountedThroughout) {
  PhasePlan::Progress progress = counting_for_long();
  Asked steps;
  steps.pass(progress, 0, kS);
  EXPECT_EQ(steps.plan.phase(), RunPhase::glimpse);
  Asked series;
  progress.series = true;
  EXPECT_EQ(series.pass(progress, 0, 20 * kS), 20 * kS);
  EXPECT_EQ(series.plan.phase(), RunPhase::start_up);
}

TEST(PhasePlan, AKernelThatBeginsARowIsCountedInAnyPhase) {
  PhasePlan::Progress newcomer = counting_for_long();
  newcomer.newcomer = true;
  Asked glimpse;
  glimpse.pass(counting_for_long(), 0, kS);
  ASSERT_EQ(glimpse.plan.phase(), RunPhase::glimpse);
  glimpse.pass(newcomer, 0, kS);
  EXPECT_EQ(glimpse.plan.phase(), RunPhase::start_up);

  for (const bool may : {true, false}) {
    Asked asked;
    asked.pass(resting(), 0, kS);
    ASSERT_EQ(asked.plan.phase(), RunPhase::sample);
    PhasePlan::Progress progress = resting();
    progress.newcomer = true;
    progress.may_count = may;
    asked.pass(progress, 0, kS);
    EXPECT_EQ(asked.plan.phase(), may ? RunPhase::counting : RunPhase::sample);
  }
}

TEST(PhasePlan, InstructionsOfASeriesAreSampledThroughoutIfLaterRunsCount) {
  for (const bool later_runs : {true, false}) {
    Asked asked;
    asked.plan.begin(true, false, later_runs ? PhasePlan::Run::first : PhasePlan::Run::only);
    PhasePlan::Progress progress = {};
    progress.instructions_on = progress.instructions_taken = true;
    progress.series = progress.in_row = true;
    const std::uint64_t length = asked.pass(progress, 0, 60 * kS);
    if (later_runs) {
      EXPECT_EQ(length, 60 * kS);
    } else {
      EXPECT_LE(length, kS) << "the time is needed for counting";
    }
  }
}

TEST(PhasePlan, ALaterRunOnlyCounts) {
  for (const PhasePlan::Run run : {PhasePlan::Run::only, PhasePlan::Run::later}) {
    Asked asked;
    asked.plan.begin(false, false, run);
    asked.pass(counting_for_long(), 0, 20 * kS);
    EXPECT_EQ(asked.plan.phase(), run == PhasePlan::Run::later ? RunPhase::start_up : RunPhase::glimpse);
  }
}

// --- repetitions

Mark launch_of(spool::Id id) { return {Mark::What::launch, id}; }
Mark call_of(spool::Id id) { return {Mark::What::call, id}; }

/// 10 ms a step: a call, `layers` times the launches 1, 2 and 3, two other launches, a call.
void add_step(Repetitions& repetitions, std::uint64_t step, int layers = 30) {
  std::uint64_t time = (step + 1) * 10 * kMs;
  repetitions.add(call_of(1), time);
  for (int layer = 0; layer < layers; ++layer) {
    for (const spool::Id id : {1U, 2U, 3U}) repetitions.add(launch_of(id), time += 10'000);
  }
  for (const spool::Id id : {4U, 5U}) repetitions.add(launch_of(id), time += 10'000);
  repetitions.add(call_of(2), time);
}

const Candidate* find(const std::vector<Candidate>& candidates, const Mark& mark) {
  for (const Candidate& one : candidates) {
    if (one.mark == mark) return &one;
  }
  return nullptr;
}

TEST(Repetitions, AreStepsAndNotTheLayersInThem) {
  Repetitions repetitions;
  for (std::uint64_t step = 0; step < 101; ++step) add_step(repetitions, step);
  EXPECT_GE(repetitions.count(), 90U);
  EXPECT_NEAR(static_cast<double>(repetitions.length()), 1e9, 0.1e9) << "100 of 10 ms, also after a pause";
  EXPECT_LE(repetitions.count(), 101U);
  const std::vector<Candidate> candidates = repetitions.candidates();
  for (const Mark& mark : {launch_of(4), launch_of(5), call_of(1), call_of(2)}) {
    const Candidate* const found = find(candidates, mark);
    ASSERT_NE(found, nullptr) << mark.id;
    EXPECT_EQ(found->per_repetition, 1U);
    EXPECT_NEAR(found->per_second, 100, 5);
    EXPECT_EQ(found->interval, 10 * kMs);
  }
  EXPECT_EQ(find(candidates, launch_of(1)), nullptr) << "30 times in a step";
  EXPECT_NEAR(repetitions.launches_per_second(), 9200, 500);
}

TEST(Repetitions, ACallThatComesTwiceInAStepIsOne) {
  Repetitions repetitions;
  for (std::uint64_t step = 0; step < 100; ++step) {
    add_step(repetitions, step, 3);
    repetitions.add(call_of(1), (step + 1) * 10 * kMs + kMs);
  }
  const std::vector<Candidate> candidates = repetitions.candidates();
  const Candidate* const twice = find(candidates, call_of(1));
  ASSERT_NE(twice, nullptr);
  EXPECT_EQ(twice->per_repetition, 2U);
  EXPECT_NEAR(twice->per_second, 200, 10);
}

/// Each kernel 20 times in a row, with two others between the rows.
TEST(Repetitions, KernelsOneAfterTheOtherAreASeriesUntilOneComesBack) {
  Repetitions repetitions;
  std::uint64_t time = 0;
  const auto row = [&](spool::Id id) {
    for (int i = 0; i < 20; ++i) repetitions.add(launch_of(id), time += 10'000);
    for (const spool::Id between : {100U, 101U}) repetitions.add(launch_of(between), time += 10'000);
  };
  row(1);
  EXPECT_FALSE(repetitions.series());
  EXPECT_FALSE(repetitions.in_row());
  row(2);
  EXPECT_TRUE(repetitions.series());
  repetitions.restart();
  EXPECT_FALSE(repetitions.newcomer());
  row(3);
  EXPECT_TRUE(repetitions.newcomer());
  EXPECT_TRUE(repetitions.series());
  repetitions.restart();
  row(1);
  EXPECT_FALSE(repetitions.newcomer());
  EXPECT_FALSE(repetitions.series());
}

TEST(Repetitions, StepsAreNoSeries) {
  Repetitions repetitions;
  for (std::uint64_t step = 0; step < 20; ++step) {
    add_step(repetitions, step);
    EXPECT_FALSE(repetitions.series());
    EXPECT_FALSE(repetitions.in_row());
    EXPECT_FALSE(repetitions.newcomer());
  }
  for (spool::Id i = 0; i < 100; ++i) repetitions.add(launch_of(7), (1000 + i) * 10 * kMs);
  EXPECT_TRUE(repetitions.in_row());
  EXPECT_FALSE(repetitions.series()) << "one row is none";
}

TEST(Repetitions, AProgramWithoutStepsHasNone) {
  Repetitions repetitions;
  std::uint64_t random = 1;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    random = random * 6364136223846793005 + 1442695040888963407;
    repetitions.add(launch_of(static_cast<spool::Id>(random >> 40) % 50), i * 10'000);
  }
  EXPECT_EQ(repetitions.count(), 0U);
  EXPECT_TRUE(repetitions.candidates().empty());
  Repetitions fresh;
  for (spool::Id i = 0; i < 5'000; ++i) fresh.add(launch_of(i), i * 10'000);
  EXPECT_EQ(fresh.count(), 0U);
}

TEST(Repetitions, StartUpIsNone) {
  Repetitions repetitions;
  for (spool::Id i = 100; i < 600; ++i) repetitions.add(launch_of(i), i * 10'000);
  EXPECT_EQ(repetitions.count(), 0U);
  for (std::uint64_t step = 0; step < 100; ++step) add_step(repetitions, step);
  const std::uint64_t settled = repetitions.count();
  EXPECT_GT(settled, 20U);
  EXPECT_LT(settled, 100U);
}

/// A compiler tunes 500 kernels, each launched five times, and compiles for 20 ms between them.
std::uint64_t tune(Repetitions& repetitions) {
  std::uint64_t time = 0;
  for (spool::Id i = 100; i < 600; ++i) {
    time += 20 * kMs;
    for (int launch = 0; launch < 5; ++launch) repetitions.add(launch_of(i), time += 10'000);
  }
  return time;
}

/// A host that runs 16 steps ahead launches them in bursts.
TEST(Repetitions, StepsOfOneGraphAreFoundSoonAfterMuchTuning) {
  Repetitions repetitions;
  std::uint64_t time = tune(repetitions);
  EXPECT_EQ(repetitions.count(), 0U) << "tuning is none";
  repetitions.restart();
  for (int burst = 0; burst < 5; ++burst) {
    time += 1600 * kMs;
    for (int step = 0; step < 16; ++step) {
      repetitions.add({Mark::What::graph_launch, 0}, time += 500'000);
      repetitions.add(launch_of(1), time + 10'000);
    }
  }
  EXPECT_GE(repetitions.count(), 20U) << "of 80 steps";
  EXPECT_NEAR(static_cast<double>(repetitions.length()), static_cast<double>(repetitions.count()) * 1e8, 4e9)
      << "the pauses belong to it";
}

TEST(Repetitions, APauseForCompilingDoesNotEndTheStartUp) {
  Repetitions repetitions;
  std::uint64_t time = tune(repetitions);
  for (int kernel = 0; kernel < 20; ++kernel) {
    time += 3000 * kMs;
    for (int launch = 0; launch < 5; ++launch) {
      repetitions.add(launch_of(100), time += 10'000);
      repetitions.add(launch_of(1000 + kernel), time += 10'000);
    }
    EXPECT_EQ(repetitions.count(), 0U);
  }
}

TEST(Repetitions, AnEvaluationNowAndThenDoesNotHideThem) {
  Repetitions repetitions;
  for (std::uint64_t step = 0; step < 200; ++step) {
    add_step(repetitions, step);
    if (step % 50 == 49) {
      for (int i = 0; i < 40; ++i) repetitions.add(launch_of(1), (step + 2) * 10 * kMs - kMs);
    }
  }
  EXPECT_NE(find(repetitions.candidates(), call_of(1)), nullptr);
}

TEST(Repetitions, ANewPhaseCountsAnew) {
  Repetitions repetitions;
  for (std::uint64_t step = 0; step < 100; ++step) add_step(repetitions, step);
  repetitions.restart();
  EXPECT_EQ(repetitions.count(), 0U);
  for (std::uint64_t step = 100; step < 111; ++step) add_step(repetitions, step);
  EXPECT_EQ(repetitions.count(), 10U);
}

// --- the choice of the mark

TEST(MarkerChoice, PrefersARareCall) {
  const std::vector<Candidate> candidates = {
      {launch_of(4), 100, 1, 10 * kMs}, {call_of(1), 400, 4, 10 * kMs}, {call_of(2), 100, 1, 10 * kMs}};
  const std::optional<MarkerChoice> choice = choose_marker(candidates, 20'000);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->candidate.mark, call_of(2));
  EXPECT_FALSE(choice->paced);
}

TEST(MarkerChoice, FollowsLaunchesWhereThereAreFew) {
  const std::optional<MarkerChoice> few = choose_marker({{launch_of(4), 100, 1, 10 * kMs}}, 1'000);
  ASSERT_TRUE(few);
  EXPECT_FALSE(few->paced);
  const std::optional<MarkerChoice> many = choose_marker({{launch_of(4), 100, 1, 10 * kMs}}, 100'000);
  ASSERT_TRUE(many);
  EXPECT_TRUE(many->paced);
}

TEST(MarkerChoice, HasNoneWhereAllThatRepeatsIsFrequent) {
  EXPECT_FALSE(choose_marker({{call_of(1), 50'000, 4, kMs / 10}, {launch_of(1), 100'000, 8, kMs / 10}}, 1e6));
  EXPECT_FALSE(choose_marker({}, 100));
}

// --- the pace of a mark

/// The steps that a Pacer finds in a program. `length` gives the length of each step, in order, ns.
struct Paced {
  std::vector<std::uint64_t> steps;  ///< lengths that were found, ns
  std::size_t wrong = 0;             ///< of them, those that were several steps
  std::size_t watched = 0, all = 0;  ///< steps whose mark was seen; all
  std::uint64_t unseen_time = 0, time = 0;

  /// `late`: from the time that look_again gives until callbacks are enabled, ns.
  template <typename Length>
  Paced(std::size_t count, std::uint64_t late, const Length& length) {
    Pacer pacer;
    std::uint64_t now = kS, last = 0, again = 0;
    std::size_t between = 0;
    for (; all < count; ++all) {
      const std::uint64_t begin = now;
      now += length(all);
      ++between;
      const std::uint64_t from = again != 0 ? std::clamp(again + late, begin, now) : begin;
      unseen_time += from - begin;
      if (again != 0 && now < again + late) continue;
      ++watched;
      const Pacer::Seen seen = pacer.seen(now);
      if (seen.step) {
        steps.push_back(now - last);
        wrong += between != 1 ? 1 : 0;
      }
      between = 0;
      last = now;
      again = seen.look_again;
    }
    time = now - kS;
  }
};

TEST(Pacer, TimesStepsThatItDoesNotLookInto) {
  for (const std::uint64_t step : {kMs, 10 * kMs, 300 * kMs}) {
    const Paced paced(20'000, 50'000, [step](std::size_t) { return step; });
    EXPECT_EQ(paced.wrong, 0U) << step;
    EXPECT_GT(paced.steps.size(), 300U) << step;
    for (const std::uint64_t found : paced.steps) EXPECT_EQ(found, step);
    EXPECT_GT(paced.unseen_time, paced.time / 2) << step;
    if (step < 100 * kMs) {
      EXPECT_GT(paced.unseen_time, paced.time / 10 * 9) << step;
    }
  }
}

TEST(Pacer, StepsThatVaryAreNotMistaken) {
  std::uint64_t random = 1;
  const Paced paced(50'000, 50'000, [&random](std::size_t) {
    random = random * 6364136223846793005 + 1442695040888963407;
    return 10 * kMs + (random >> 33) % (3 * kMs);
  });
  EXPECT_EQ(paced.wrong, 0U);
  EXPECT_GT(paced.steps.size(), 1000U);
}

TEST(Pacer, AHostThatRunsAheadIsNotMistaken) {
  // A queue is filled at the host's pace; then steps take the GPU's, up to a synchronisation.
  const Paced paced(50'000, 50'000, [](std::size_t step) { return (step % 50 < 20 ? 7 : 9) * kMs; });
  EXPECT_LT(paced.wrong, paced.steps.size() / 50);
  EXPECT_GT(paced.steps.size(), 1000U);
}

TEST(Pacer, LearnsThatStepsHaveBecomeLonger) {
  const Paced paced(20'000, 50'000, [](std::size_t step) { return (step < 10'000 ? 2 : 7) * kMs; });
  EXPECT_LT(paced.wrong, 10U);
  ASSERT_FALSE(paced.steps.empty());
  EXPECT_EQ(paced.steps.back(), 7 * kMs);
}

TEST(Pacer, LooksInBurstsWhereNoThreadWakesUpInTime) {
  const Paced paced(200'000, 50'000, [](std::size_t) { return kMs / 20; });
  EXPECT_EQ(paced.wrong, 0U) << "how many went by unseen is not known";
  EXPECT_GT(paced.steps.size(), 8U);
  EXPECT_LT(paced.watched, paced.all / 100);
}

}  // namespace
}  // namespace roofline::inject
