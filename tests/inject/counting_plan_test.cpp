// Which launches are counted: programs of launches, against a plan that knows neither CUPTI nor a clock.
#include "inject/counting_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace roofline::inject {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t kOneMillisecond = 1'000'000;
constexpr GroupRange kGroups = {0, 4, 0b1000};  // the last one is instrumented

/// Runs launches through a plan, as the library does. Costs are those of an H200.
class Program {
 public:
  explicit Program(double budget_s = 30, std::uint32_t first_group = 0)
      : plan(static_cast<std::uint64_t>(budget_s * 1e9), first_group) {}

  /// Whether the launch was counted.
  bool launch(spool::Id kind, CountingPlan::Launch given = {}) {
    given.kind = kind;
    if (given.groups.count == 0) given.groups = kGroups;
    given.number = ++numbers[{kind, given.layer}];
    given.time = time += 10'000;
    const auto chosen = plan.choose(given);
    if (!chosen) return false;
    if (chosen != plan.current()) {
      plan.began(*chosen, 250 * kOneMillisecond);
      time += 250 * kOneMillisecond;
      ++changes;
    }
    if (endless.contains(kind)) {
      plan.failed(kind, "endless", 200 * kOneMillisecond);
      time += 200 * kOneMillisecond;
      return false;
    }
    if (disturbed.contains(kind)) {
      plan.overlapped(kind, kOneMillisecond);
      return false;
    }
    time += kOneMillisecond;
    plan.counted(kind, 50'000, kOneMillisecond, time);
    groups[kind].push_back(chosen->group);
    contexts[kind].insert(chosen->context);
    return true;
  }

  /// Steps of a training loop: each kind once a step, all of them `length` ms long.
  void steps(int count, int kinds, int length = 4, spool::Id first = 1) {
    for (int step = 0; step < count; ++step) {
      for (int kind = 0; kind < kinds; ++kind) launch(first + static_cast<spool::Id>(kind));
      time += static_cast<std::uint64_t>(length) * kOneMillisecond;
    }
  }

  std::set<std::uint32_t> have(spool::Id kind) { return {groups[kind].begin(), groups[kind].end()}; }

  CountingPlan plan;
  std::uint64_t time = 0;
  int changes = 0;
  std::map<std::pair<spool::Id, spool::Id>, std::uint64_t> numbers;  ///< by kind and layer
  std::map<spool::Id, std::vector<std::uint32_t>> groups;
  std::map<spool::Id, std::set<std::uint64_t>> contexts;
  std::set<spool::Id> endless, disturbed;
};

const std::set<std::uint32_t> kAll = {0, 1, 2, 3};

TEST(CountingPlan, RestsWhenNothingAsksForCounters) {
  Program program;
  constexpr std::uint64_t kOneSecond = 1000 * kOneMillisecond;
  EXPECT_FALSE(program.plan.rests(3600 * kOneSecond)) << "nothing was launched yet";
  program.launch(1);
  EXPECT_FALSE(program.plan.rests(program.time + kOneSecond / 2));
  program.steps(3, 5);
  EXPECT_FALSE(program.plan.rests(program.time)) << "counts are missing, and launches come";
  program.steps(2000, 5);
  EXPECT_TRUE(program.plan.rests(program.time)) << "all have their counts for long";
  program.launch(6);
  program.launch(6);
  EXPECT_FALSE(program.plan.rests(program.time)) << "something new";
  EXPECT_TRUE(program.plan.rests(program.time + 2 * kOneSecond));
  program.plan.resumed(program.time + 10 * kOneSecond);
  EXPECT_FALSE(program.plan.rests(program.time + 10 * kOneSecond)) << "it could not be asked until then";
}

TEST(CountingPlan, CountsAreMissingAfterAFirstStepAndNotForWhatComesOnce) {
  Program program;
  EXPECT_FALSE(program.plan.summary().missing());
  program.steps(1, 5);
  EXPECT_EQ(program.plan.summary().once, 5U);
  EXPECT_TRUE(program.plan.summary().missing()) << "nothing is counted";
  program.steps(1000, 5);
  EXPECT_FALSE(program.plan.summary().missing());
  program.launch(7);
  EXPECT_EQ(program.plan.summary().once, 1U);
  EXPECT_FALSE(program.plan.summary().missing());
}

TEST(CountingPlan, TheFirstLaunchOfAKindIsNeverCounted) {
  Program program;
  for (spool::Id kind = 1; kind <= 50; ++kind) EXPECT_FALSE(program.launch(kind));
  EXPECT_TRUE(program.launch(1));
  EXPECT_EQ(program.plan.missing().size(), 50U);
}

TEST(CountingPlan, EveryKindOfALoopGetsEveryGroupOnceInAsManyPhasesAsGroups) {
  Program program;
  program.steps(400, 40);
  for (spool::Id kind = 1; kind <= 40; ++kind) {
    EXPECT_EQ(program.have(kind), kAll) << kind;
    EXPECT_THAT(program.groups[kind], SizeIs(4)) << kind;
  }
  EXPECT_EQ(program.changes, 4);
  EXPECT_THAT(program.plan.missing(), IsEmpty());
  EXPECT_EQ(program.plan.summary().complete, 40U);
}

/// A model of twelve layers, in steps of a time in which CUPTI could change between groups.
TEST(CountingPlan, OneOfAllLayersIsCounted) {
  Program program;
  for (int step = 0; step < 30; ++step) {
    for (const spool::Id first : {1, 21}) {  // forward, backward
      for (spool::Id layer = 1; layer <= 12; ++layer) {
        for (spool::Id kind = first; kind < first + 20; ++kind) program.launch(kind, {.layer = layer});
        program.time += 30 * kOneMillisecond;
      }
    }
  }
  for (spool::Id kind = 1; kind <= 40; ++kind) {
    EXPECT_EQ(program.have(kind), kAll) << kind;
    EXPECT_THAT(program.groups[kind], SizeIs(4)) << kind;
  }
  EXPECT_LE(program.changes, 5);
}

TEST(CountingPlan, ABurstDoesNotEndAPhase) {
  Program program;  // a layer's norm is launched again and again before anything else comes
  for (int step = 0; step < 300; ++step) {
    for (int i = 0; i < 100; ++i) program.launch(1);
    program.steps(1, 20, 4, 2);
  }
  EXPECT_LE(program.changes, 8);  // one cycle for the burst, one for the rest
  for (spool::Id kind = 1; kind <= 21; ++kind) EXPECT_EQ(program.have(kind), kAll) << kind;
}

// A loop that is enqueued in a millisecond: no time passes between its launches.
TEST(CountingPlan, AQueueThatIsSoonFullIsCounted) {
  Program program;
  for (int step = 0; step < 40; ++step) program.steps(1, 3, 0);
  for (spool::Id kind = 1; kind <= 3; ++kind) EXPECT_EQ(program.have(kind), kAll) << kind;
}

// What was launched once or twice while the program started is not waited for.
TEST(CountingPlan, AShortQueueAfterAStartIsCounted) {
  Program program;
  program.steps(1, 2, 0, 100);
  program.steps(2, 2, 0, 200);
  program.steps(20, 3, 0);
  for (spool::Id kind = 1; kind <= 3; ++kind) EXPECT_EQ(program.have(kind), kAll) << kind;
}

TEST(CountingPlan, RunsOfAShortProgramCompleteEachOther) {
  std::set<std::uint32_t> have;
  for (std::uint32_t run = 0; run < 3; ++run) {
    Program program(30, run);
    program.steps(2, 5);
    for (spool::Id kind = 1; kind <= 5; ++kind) EXPECT_EQ(program.have(kind), program.have(1)) << run;
    have.merge(program.have(1));
  }
  EXPECT_EQ(have, (std::set<std::uint32_t>{0, 1, 2}));
  Program program(30, 6);  // more runs than groups: from the beginning again
  program.steps(2, 1);
  EXPECT_EQ(program.have(1), std::set<std::uint32_t>{2});
}

TEST(CountingPlan, AGraphAloneIsCounted) {
  Program program;
  for (int replay = 0; replay < 100; ++replay) program.launch(1);
  EXPECT_EQ(program.have(1), kAll);
}

// Scalars that differ from step to step make kinds of their own, which come twice and never again.
TEST(CountingPlan, KindsOfOneStepKeepNobodyWaiting) {
  Program program;
  auto step = [&, next = spool::Id{1000}]() mutable {
    program.steps(1, 40, 0);
    for (int i = 0; i < 3; ++i) program.steps(1, 8, 0, next);
    next += 8;
    program.time += 4 * kOneMillisecond;
  };
  for (int i = 0; i < 12; ++i) step();
  for (spool::Id kind = 1; kind <= 40; ++kind) EXPECT_EQ(program.have(kind), kAll) << kind;
  const int short_run = program.changes;
  EXPECT_LE(short_run, 8);
  for (int i = 0; i < 1000; ++i) step();
  EXPECT_LE(program.changes, 2 * short_run) << "a phase for what never comes again";
}

TEST(CountingPlan, WhatComesEverySecondStepIsWaitedFor) {
  Program program;
  for (int step = 0; step < 40; ++step) {
    program.steps(1, 10, 400);
    if (step % 2 == 1) program.steps(1, 10, 400, 11);
  }
  EXPECT_LE(program.changes, 6);  // those of every second step are not known from the beginning
  for (spool::Id kind = 1; kind <= 20; ++kind) EXPECT_EQ(program.have(kind), kAll) << kind;
}

TEST(CountingPlan, KindsThatCeaseToComeHoldNobodyUp) {
  Program program;
  program.steps(1, 30, 4, 100);  // once, while the program starts
  program.steps(2, 30, 4, 200);  // twice: each gets the first group
  program.steps(300, 10);
  for (spool::Id kind = 1; kind <= 10; ++kind) EXPECT_EQ(program.have(kind), kAll) << kind;
  EXPECT_EQ(program.have(200), std::set<std::uint32_t>{0});
  std::map<spool::Id, std::string> reasons;
  for (const auto& missing : program.plan.missing()) reasons[missing.kind] = missing.reason;
  EXPECT_EQ(reasons.size(), 60U);
  EXPECT_THAT(reasons[100], HasSubstr("once"));
  EXPECT_THAT(reasons[200], HasSubstr("often"));
  EXPECT_THAT(program.plan.missing(), IsEmpty()) << "told twice";
}

TEST(CountingPlan, NewKindsGetTheirTurns) {
  Program program;
  program.steps(300, 10);
  const int before = program.changes;
  EXPECT_TRUE(program.plan.idle(program.time + 2000 * kOneMillisecond));
  program.plan.released();
  program.time += 5000 * kOneMillisecond;
  program.steps(300, 20);
  EXPECT_LE(program.changes, before + 4);
  for (spool::Id kind = 1; kind <= 20; ++kind) {
    EXPECT_EQ(program.have(kind), kAll) << kind;
    EXPECT_THAT(program.groups[kind], SizeIs(4)) << kind;
  }
}

TEST(CountingPlan, InstrumentedCountsComeOnlyAfterTheLaunchWasSeenToEnd) {
  Program program;
  program.steps(300, 10);
  for (int i = 0; i < 300; ++i) program.launch(1000 + static_cast<spool::Id>(i % 7));  // in the instrumented phase
  for (const auto& [kind, groups] : program.groups) {
    ASSERT_THAT(groups, testing::Not(IsEmpty()));
    EXPECT_NE(groups.front(), 3U) << kind;
  }
}

TEST(CountingPlan, WhatCannotBeInstrumentedIsCompleteWithoutIt) {
  Program program;
  CountingPlan::Launch graph;
  graph.instrumentable = false;
  for (int i = 0; i < 400; ++i) {
    program.launch(1, graph);
    program.time += 4 * kOneMillisecond;
  }
  EXPECT_EQ(program.have(1), (std::set<std::uint32_t>{0, 1, 2}));
  EXPECT_THAT(program.plan.missing(), IsEmpty());
}

TEST(CountingPlan, KindsThatMustNotBeRunAloneAreNot) {
  Program program;
  CountingPlan::Launch collective;
  collective.uncountable = true;
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(program.launch(1, collective));
    program.launch(2);
    program.time += 4 * kOneMillisecond;
  }
  EXPECT_EQ(program.plan.missing().front().reason, "it can't run alone");
}

TEST(CountingPlan, TheBudgetIsKept) {
  Program program(1.0);
  program.steps(2000, 400);
  EXPECT_TRUE(program.plan.over());
  EXPECT_LE(program.plan.cost(), 1300 * kOneMillisecond);  // by a change of groups at most
  EXPECT_FALSE(program.launch(1));
  for (const auto& missing : program.plan.missing())
    EXPECT_EQ(missing.reason, "the time limit for counting was reached");
}

TEST(CountingPlan, NoBudgetCountsNothing) {
  Program program(0);
  program.steps(10, 10);
  EXPECT_THAT(program.groups, IsEmpty());
}

TEST(CountingPlan, AShortBudgetGoesToTheKindsThatCostMost) {
  Program program(1.4);  // four sessions, and a tenth of what 1000 kinds would need
  const auto often = [&] {
    for (int i = 0; i < 50; ++i) program.launch(1);
  };
  for (int step = 0; step < 20; ++step) often();
  for (int step = 0; step < 200; ++step) {
    program.steps(1, 1000, 4, 2);
    often();
  }
  EXPECT_EQ(program.have(1), kAll);
}

/// A program of more kinds than a short one has time for ends with all counts of those that it spends most in.
TEST(CountingPlan, TheKindsThatTakeMostTimeAreCompleteFirst) {
  constexpr spool::Id kKinds = 400, kEveryEighth = 8;
  Program program;
  const auto complete = [&](bool heavy) {
    int count = 0;
    for (spool::Id kind = 1; kind <= kKinds; ++kind) {
      count += (kind % kEveryEighth == 0) == heavy && program.have(kind) == kAll;
    }
    return count;
  };
  const auto counted = [&] {
    std::size_t launches = 0;
    for (const auto& [kind, groups] : program.groups) launches += groups.size();
    return launches;
  };
  while (counted() < 1200) {
    for (spool::Id kind = 1; kind <= kKinds; ++kind) {
      program.launch(kind, {.usual = kind % kEveryEighth == 0 ? 1'000'000U : 10'000U});
    }
    program.time += 4 * kOneMillisecond;
  }
  EXPECT_EQ(complete(true), 50);
  EXPECT_GE(complete(false), 50) << "what else the slice reaches";
  EXPECT_LE(program.changes, 6);
  program.steps(4000, kKinds);
  EXPECT_EQ(complete(false), 350) << "all have their turns";
  EXPECT_LE(program.changes, 12);
}

TEST(CountingPlan, WhatDoesNotEndIsGivenUpAfterThreeAttempts) {
  Program program;
  program.endless = {5};
  program.steps(400, 10);
  for (spool::Id kind = 1; kind <= 10; ++kind) {
    EXPECT_EQ(program.have(kind), kind == 5 ? std::set<std::uint32_t>{} : kAll) << kind;
  }
  const auto missing = program.plan.missing();
  ASSERT_THAT(missing, SizeIs(1));
  EXPECT_EQ(missing[0].kind, 5U);
  EXPECT_EQ(missing[0].reason, "endless");
  EXPECT_LE(program.plan.cost(), 2000 * kOneMillisecond);
}

TEST(CountingPlan, DisturbedSamplesAreTakenAgainButNotForEver) {
  Program program;
  program.disturbed = {3};
  program.steps(4, 5);
  program.disturbed.clear();
  program.steps(400, 5);
  EXPECT_EQ(program.have(3), kAll);

  Program hopeless;
  hopeless.disturbed = {3};
  hopeless.steps(400, 5);
  EXPECT_THAT(hopeless.groups[3], IsEmpty());
  EXPECT_EQ(hopeless.have(4), kAll);
  EXPECT_THAT(hopeless.plan.missing(), SizeIs(1));
}

TEST(CountingPlan, ContextsTakeTurnsAndOneIsEnough) {
  Program program;
  CountingPlan::Launch first, second;
  first.context = 1;
  second.context = 2;
  for (int step = 0; step < 1000; ++step) {
    program.launch(1, first);
    program.launch(1, second);  // the same on both
    program.launch(2, first);
    program.launch(3, second);
    program.time += 4 * kOneMillisecond;
  }
  for (spool::Id kind = 1; kind <= 3; ++kind) EXPECT_EQ(program.have(kind), kAll) << kind;
  EXPECT_THAT(program.groups[1], SizeIs(4));
  EXPECT_EQ(program.contexts[2], std::set<std::uint64_t>{1});
  EXPECT_EQ(program.contexts[3], std::set<std::uint64_t>{2});
  EXPECT_LE(program.changes, 9);
}

TEST(CountingPlan, ChipsHaveTheirOwnGroups) {
  Program program;
  CountingPlan::Launch first, second;
  first.context = 1;
  second.context = 2;
  second.groups = {4, 2, 0};
  for (int step = 0; step < 400; ++step) {
    program.launch(1, first);
    program.launch(1, second);
    program.time += 4 * kOneMillisecond;
  }
  EXPECT_EQ(program.have(1), (std::set<std::uint32_t>{0, 1, 2, 3, 4, 5}));
}

TEST(CountingPlan, ALostContextTakesItsSessionAlong) {
  Program program;
  CountingPlan::Launch in_context;
  in_context.context = 7;
  program.launch(1, in_context);
  program.launch(1, in_context);
  ASSERT_TRUE(program.plan.current());
  program.plan.lost(8);
  EXPECT_TRUE(program.plan.current());
  program.plan.lost(7);
  EXPECT_FALSE(program.plan.current());
}

}  // namespace
}  // namespace roofline::inject
