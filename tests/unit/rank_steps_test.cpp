// Which rank the others wait for, and why: jobs in simulated time, with a known fault or none.
#include "profile/rank_steps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "simulated_job.hpp"

namespace roofline {
namespace {

using testing::ElementsAre;

struct JobResult {
  RankSteps steps;
  std::optional<LateRanks> late;
  std::optional<LateCause> cause;
};

JobResult result_of(SimulatedJob& job) {
  job.run();
  JobResult result;
  result.steps = rank_steps(job.timelines, match_collectives(job.timelines), job.spans);
  result.late = find_late_ranks(result.steps);
  if (result.late) result.cause = cause_of_late_rank(result.steps, *result.late, job.work);
  return result;
}

/// A job like no other, of that seed.
SimulatedJob drawn(JobFault fault, int ranks, unsigned seed) {
  std::mt19937 random(seed);
  SimulatedJob job;
  job.ranks = ranks;
  job.fault = fault;
  job.faulty = std::uniform_int_distribution<int>(0, ranks - 1)(random);
  job.amount = std::uniform_real_distribution<double>(0.1, 0.6)(random);
  job.noise = std::uniform_real_distribution<double>(0.002, 0.02)(random);
  job.calls_known = seed % 2 == 0;
  job.seed = seed;
  return job;
}

LateReason reason_of(JobFault fault) {
  return fault == JobFault::slow_gpu       ? LateReason::slow_gpu
         : fault == JobFault::unequal_work ? LateReason::unequal_work
                                           : LateReason::host;
}

int right_of(JobFault fault, int ranks, int draws) {
  int right = 0;
  for (int draw = 0; draw < draws; ++draw) {
    SimulatedJob job = drawn(fault, ranks, static_cast<unsigned>(1000 * ranks + draw));
    const JobResult result = result_of(job);
    right +=
        result.late && result.late->ranks == std::vector<int>{job.faulty} && result.cause->reason == reason_of(fault)
            ? 1
            : 0;
  }
  return right;
}

TEST(RankSteps, NamesTheLateRankAndWhy) {
  for (const int ranks : {2, 8}) {
    for (const JobFault fault :
         {JobFault::slow_host, JobFault::slow_gpu, JobFault::unequal_work, JobFault::rare_host}) {
      EXPECT_GE(right_of(fault, ranks, 30), 29) << ranks << " ranks, fault " << static_cast<int>(fault);
    }
  }
}

TEST(RankSteps, NamesNoRankOfAHealthyJobOrOneInTurns) {
  for (const int ranks : {2, 8}) {
    for (int draw = 0; draw < 40; ++draw) {
      SimulatedJob healthy = drawn(JobFault::none, ranks, static_cast<unsigned>(7000 * ranks + draw));
      EXPECT_FALSE(result_of(healthy).late) << ranks << " ranks, draw " << draw;
    }
    int named = 0;
    for (int draw = 0; draw < 30; ++draw) {
      SimulatedJob turns = drawn(JobFault::turns, ranks, static_cast<unsigned>(9000 * ranks + draw));
      turns.steps = 60;
      named += result_of(turns).late ? 1 : 0;
    }
    EXPECT_LE(named, 1) << ranks;
  }
}

/// A rank of a late host that launches more: so many more that this takes the time, or a few beside what makes it late.
TEST(RankSteps, MoreLaunchesAreACauseIfTheyTakeTheTime) {
  SimulatedJob job = drawn(JobFault::slow_host, 2, 7);
  job.run();
  const RankSteps steps = rank_steps(job.timelines, match_collectives(job.timelines), job.spans);
  const std::optional<LateRanks> late = find_late_ranks(steps);
  ASSERT_TRUE(late);
  const auto rank = static_cast<std::size_t>(late->ranks.front());
  const double late_s = std::accumulate(steps.late[rank].begin(), steps.late[rank].end(), 0.0);
  for (const bool enough : {true, false}) {
    std::vector<RankWork> work(2);
    work[1 - rank][0] = {.launches = 100, .seconds = 1};
    const double more = enough ? late_s / 100e-6 : 20;
    work[rank][0] = {.launches = 100 + more, .seconds = 1};
    const LateCause cause = cause_of_late_rank(steps, *late, work);
    EXPECT_EQ(cause.reason, enough ? LateReason::more_launches : LateReason::host);
  }
}

/// A rank is late in all steps but four, in which another one compiles for far longer.
TEST(RankSteps, FewLongStepsHideNoRankThatIsLateInTheOthers) {
  constexpr std::size_t kSteps = 34, kLong = 4;
  for (const bool always : {true, false}) {
    RankSteps steps;
    steps.late.assign(2, std::vector<float>(kSteps, 0));
    steps.parts.resize(2);
    for (std::size_t step = 0; step < kSteps; ++step) {
      const bool is_long = step < kLong;
      steps.step_s.push_back(is_long ? 0.2 : 0.04);
      const std::size_t rank = is_long ? 0 : always ? 1 : step % 2;
      steps.late[rank][step] = is_long ? 0.16F : 0.015F;
    }
    steps.waited = steps.late;
    const std::optional<LateRanks> found = find_late_ranks(steps);
    ASSERT_EQ(found.has_value(), always);
    if (!found) continue;
    EXPECT_THAT(found->ranks, ElementsAre(1));
    EXPECT_NEAR(found->late_s, (kSteps - kLong) * 0.015, 1e-6);
  }
}

TEST(RankSteps, OfAThousandRanks) {
  for (const JobFault fault : {JobFault::slow_host, JobFault::slow_gpu, JobFault::unequal_work, JobFault::none}) {
    for (const unsigned seed : {4U, 5U}) {
      SimulatedJob job = drawn(fault, 1024, seed);
      job.steps = 12;
      const JobResult result = result_of(job);
      EXPECT_EQ(result.late.has_value(), fault != JobFault::none);
      if (!result.late) continue;
      EXPECT_THAT(result.late->ranks, ElementsAre(job.faulty));
      EXPECT_EQ(result.cause->reason, reason_of(fault));
    }
  }
}

TEST(RankSteps, PartsAddUpToTheStepsAndWaitingIsWhatIsCaused) {
  SimulatedJob job = drawn(JobFault::slow_host, 8, 3);
  const JobResult result = result_of(job);
  const double total = result.steps.total_s();
  double waited = 0, parts_waited = 0;
  for (std::size_t rank = 0; rank < 8; ++rank) {
    const RankParts& parts = result.steps.parts[rank];
    EXPECT_NEAR(parts.compute_s + parts.waiting_s + parts.transfer_s + parts.copies_s + parts.idle_s, total, 1e-9);
    EXPECT_GT(parts.overlapped_s, 0);
    parts_waited += parts.waiting_s;
    for (const float of : result.steps.waited[rank]) waited += of;
  }
  EXPECT_NEAR(waited, parts_waited, 0.01 * parts_waited);
  EXPECT_LE(result.late->waited_s, parts_waited * 1.01);
  EXPECT_NEAR(result.steps.matched_s, result.steps.collectives_s, 1e-9);
}

CollectiveKernel collective_at(std::uint64_t start, std::uint64_t end, std::uint64_t communicator = 0,
                               std::uint64_t sequence = 0, std::uint32_t ranks = 0) {
  CollectiveKernel made;
  made.span = {start, end};
  made.kind = spool::CollectiveKind::all_reduce;
  made.communicator = communicator;
  made.sequence = sequence;
  made.ranks = ranks;
  return made;
}

TEST(MatchCollectives, ByCallsWhateverTheTimes) {
  std::vector<RankTimeline> ranks(4);
  // Two pairs and all four, whose clocks and recorded parts differ.
  for (std::uint64_t rank = 0; rank < 4; ++rank) {
    const std::uint64_t clock = rank * 1'000'000;
    for (std::uint64_t i = rank; i < 6; ++i) {
      ranks[rank].collectives.push_back(collective_at(clock + 100 * i, clock + 100 * i + 50, 5, i, 4));
      ranks[rank].collectives.push_back(collective_at(clock + 100 * i + 60, clock + 100 * i + 90, 10 + rank / 2, i, 2));
    }
  }
  const std::vector<MatchedCollective> matched = match_collectives(ranks);
  std::size_t of_four = 0, of_two = 0;
  for (const MatchedCollective& collective : matched) {
    (collective.arrivals.size() == 4 ? of_four : of_two) += 1;
    EXPECT_EQ(collective.last, collective.arrivals.back().rank);
  }
  EXPECT_EQ(of_four, 3U);  // those that all recorded
  EXPECT_EQ(of_two, 5U + 3U);
}

TEST(MatchCollectives, ByTimesWhereCallsAreNotKnown) {
  std::vector<RankTimeline> ranks(2);
  // The first rank recorded one more, and arrives early at each.
  ranks[0].collectives = {collective_at(0, 1000), collective_at(2000, 5000), collective_at(5100, 6000),
                          collective_at(7000, 9000)};
  ranks[1].collectives = {collective_at(4000, 5010), collective_at(5200, 6005), collective_at(8000, 9010)};
  const std::vector<MatchedCollective> matched = match_collectives(ranks);
  ASSERT_EQ(matched.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(matched[i].arrivals[0].kernel, i + 1);
    EXPECT_EQ(matched[i].arrivals[1].kernel, i);
    EXPECT_EQ(matched[i].last, 1);
  }
}

/// Sends and receives with a number of their own.
CollectiveKernel exchange_at(std::uint64_t start, std::uint64_t end, std::uint64_t sequence, std::uint32_t ranks,
                             std::uint64_t communicator = 5) {
  CollectiveKernel made = collective_at(start, end, communicator, sequence, ranks);
  made.kind = spool::CollectiveKind::send_recv;
  made.exchange = true;
  return made;
}

TEST(MatchCollectives, ExchangesOfTwoRanksAreOfBoth) {
  std::vector<RankTimeline> ranks(3);
  for (std::uint64_t i = 0; i < 20; ++i) {
    const std::uint64_t at = 1000 * i;
    ranks[0].collectives.push_back(exchange_at(at, at + 500, i, 2));
    ranks[1].collectives.push_back(exchange_at(at + 400, at + 500, i, 2));
    ranks[1].collectives.push_back(exchange_at(at + 600, at + 900, i, 2, 6));  // with the third rank
    // A small message that was sent before the other rank came to receive it.
    ranks[2].collectives.push_back(exchange_at(at + 950, at + 960, i, 2, 6));
  }
  const std::vector<MatchedCollective> matched = match_collectives(ranks);
  ASSERT_EQ(matched.size(), 40U);
  EXPECT_EQ(matched[0].last, 1);
  EXPECT_EQ(matched[0].start, 400U);
  EXPECT_EQ(matched[1].last, 2);
  // A rank that recorded the first of them only.
  ranks[2].collectives.resize(8);
  EXPECT_EQ(match_collectives(ranks).size(), 28U);
}

/// One rank records twice as long, because its counters are read longer; or it exchanges twice as often.
TEST(MatchCollectives, ExchangesOfTwoRanksHaveOtherNumbersWhereOneRecordsLonger) {
  for (const bool longer : {true, false}) {
    std::vector<RankTimeline> ranks(2);
    for (std::uint64_t i = 0; i < 20; ++i) {
      ranks[0].collectives.push_back(exchange_at(1000 * i, 1000 * i + 500, i, 2));
      const std::uint64_t at = longer ? 1000 * i : 2000 * i;
      if (i < 10) ranks[1].collectives.push_back(exchange_at(at + 400, at + 500, i, 2));
    }
    EXPECT_EQ(match_collectives(ranks).size(), longer ? 10U : 0U);
  }
}

TEST(MatchCollectives, ExchangesOfMoreRanksAreMatchedIfAllMeet) {
  for (const bool meet : {true, false}) {
    std::vector<RankTimeline> ranks(4);
    for (std::uint64_t i = 0; i < 20; ++i) {
      for (std::uint64_t rank = 0; rank < 4; ++rank) {
        const std::uint64_t start = 1000 * i + 100 * rank;
        ranks[rank].collectives.push_back(exchange_at(start, meet ? 1000 * i + 500 : start + 90, i, 4));
      }
    }
    EXPECT_EQ(match_collectives(ranks).size(), meet ? 20U : 0U);
  }
  // The ends of a pipeline send and receive half as often.
  std::vector<RankTimeline> stages(3);
  for (std::uint64_t i = 0; i < 20; ++i) {
    stages[0].collectives.push_back(exchange_at(1000 * i, 1000 * i + 100, i, 3));
    stages[1].collectives.push_back(exchange_at(1000 * i, 1000 * i + 100, 2 * i, 3));
    stages[1].collectives.push_back(exchange_at(1000 * i + 500, 1000 * i + 600, 2 * i + 1, 3));
    stages[2].collectives.push_back(exchange_at(1000 * i + 500, 1000 * i + 600, i, 3));
  }
  EXPECT_TRUE(match_collectives(stages).empty());
}

TEST(MatchCollectives, FalseRecordsMatchNothing) {
  std::vector<RankTimeline> ranks(2);
  // Twice the same number on one rank, and more ranks than there are.
  ranks[0].collectives = {collective_at(0, 10, 5, 1, 2), collective_at(20, 30, 5, 1, 2)};
  ranks[1].collectives = {collective_at(0, 10, 6, 1, 4'000'000'000U)};
  EXPECT_TRUE(match_collectives(ranks).empty());
  EXPECT_TRUE(match_collectives({}).empty());
}

TEST(MatchCollectives, ClocksOfHostsAreComparedByTheEnds) {
  SimulatedJob job = drawn(JobFault::slow_host, 8, 6);
  job.calls_known = true;
  job.run();
  for (std::size_t rank = 4; rank < 8; ++rank) {
    for (CollectiveKernel& of : job.timelines[rank].collectives) {
      of.span.start += 5'000'000;
      of.span.end += 5'000'000;
    }
  }
  const auto offsets = clock_offsets(job.timelines, match_collectives(job.timelines), {0, 0, 0, 0, 1, 1, 1, 1});
  ASSERT_EQ(offsets.size(), 2U);
  EXPECT_EQ(offsets[0], 0);
  EXPECT_NEAR(static_cast<double>(offsets[1]), 5e6, 5e3);
}

}  // namespace
}  // namespace roofline
