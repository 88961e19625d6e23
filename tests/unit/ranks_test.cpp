// Profiles of jobs of several ranks, from their spools and samples: what is found first, and what is not found.
#include "profile/ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "job_of_ranks.hpp"
#include "model/collective.hpp"
#include "profile/profile.hpp"
#include "render/render.hpp"
#include "report/budget.hpp"
#include "report/json/json.hpp"
#include "spool_builder.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(RanksOfAJob, ASlowHostIsNamedWithItsLine) {
  for (const bool with_calls : {true, false}) {
    JobOfRanks job(2, with_calls);
    job.all[1]->prepare = 20 * kJobMillisecond;
    job.run();
    const Report report = job.report();
    ASSERT_TRUE(report.profile->steps);
    ASSERT_TRUE(report.profile->ranks);
    const Saving& first = report.profile->savings.at(0);
    EXPECT_EQ(first.cause, SavingCause::late_rank);
    EXPECT_EQ(first.kind, SavingKind::communication);
    EXPECT_THAT(first.line, HasSubstr("train.py:19"));
    EXPECT_THAT(first.what, HasSubstr("Rank 1 "));
    EXPECT_LE(first.seconds, waiting_of(report) * 1.0001);
    EXPECT_GT(first.seconds, 0.9 * waiting_of(report));
    // The same time is in no other finding: what is left at that line is what both ranks do.
    double at_line = 0;
    for (const Saving& saving : report.profile->savings) {
      if (saving.cause != SavingCause::late_rank && saving.line == first.line) at_line += saving.seconds;
    }
    const auto steps = static_cast<double>(report.profile->steps->count);
    EXPECT_NEAR(at_line, steps * 2 * 2e-3, steps * 0.5e-3);
    EXPECT_EQ(report.profile->ranks->matching, with_calls ? RankMatching::calls : RankMatching::times);
    EXPECT_GT(report.profile->ranks->matched_share, 0.99);
  }
}

TEST(RanksOfAJob, ALoopOfTheHostIsOnePlaceAtAnyOfItsLines) {
  JobOfRanks job;
  JobOfRanks::Rank& late = *job.all[1];
  late.prepare = 20 * kJobMillisecond;
  const auto at = [&](int line) { return HostSamplesBuilder::own("train.py", line, "prepare_batch"); };
  late.loop = {job.samples.stack({at(18)}), job.samples.stack({HostSamplesBuilder::native("[vdso]", "clock"), at(19)}),
               job.samples.stack({HostSamplesBuilder::native("/lib/libfoo.so", "crunch"), at(19)})};
  job.run();
  const Report report = job.report();
  const Saving& first = report.profile->savings.at(0);
  EXPECT_EQ(first.cause, SavingCause::late_rank);
  EXPECT_THAT(first.line, HasSubstr("prepare_batch"));
  double others = 0;  // of the late rank's loop nothing is left but what both ranks do
  for (const Saving& saving : report.profile->savings) {
    if (saving.kind == SavingKind::idle) others += saving.seconds;
  }
  EXPECT_LT(others, static_cast<double>(report.profile->steps->count) * 2 * 2.5e-3);
}

TEST(RanksOfAJob, WhatAFewStepsDoIsToBeDoneLessOften) {
  JobOfRanks job;
  int step = 0;
  job.before_step = [&step](JobOfRanks& of) { of.all[0]->prepare = (step++ % 10 == 9 ? 150 : 2) * kJobMillisecond; };
  job.run(60);
  const Report seldom = job.report();
  ASSERT_EQ(seldom.profile->savings.at(0).cause, SavingCause::late_rank);
  EXPECT_THAT(seldom.profile->savings[0].action, HasSubstr("less often"));
  EXPECT_THAT(seldom.profile->savings[0].line, HasSubstr("train.py:19"));
  JobOfRanks always;
  always.all[0]->prepare = 20 * kJobMillisecond;
  always.run(60);
  EXPECT_THAT(always.report().profile->savings.at(0).action, testing::Not(HasSubstr("less often")));
}

/// A sampled recording may contain one round only, such as a validation on one rank.
TEST(RanksOfAJob, ALongWaitForOneRankNeedsNoSecond) {
  for (const std::uint64_t late : {300, 6}) {
    JobOfRanks job;
    int step = 0;
    job.before_step = [&](JobOfRanks& of) { of.all[0]->prepare = (step++ == 5 ? late : 2) * kJobMillisecond; };
    job.run(9);
    const Report report = job.report();
    const bool found = std::ranges::any_of(report.profile->savings,
                                           [](const Saving& saving) { return saving.cause == SavingCause::late_rank; });
    EXPECT_EQ(found, late == 300);
  }
}

TEST(RanksOfAJob, ALateRanksCopiesAreNamedOnce) {
  JobOfRanks job;
  job.all[1]->copied = 15 * kJobMillisecond;
  job.run();
  const Report report = job.report();
  const Saving& first = report.profile->savings.at(0);
  EXPECT_EQ(first.cause, SavingCause::late_rank);
  EXPECT_THAT(first.line, HasSubstr("train.py:20"));
  EXPECT_LE(first.seconds, waiting_of(report) * 1.0001);
  EXPECT_LT(seconds_in(report, SavingCause::pageable_copy), 0.2 * first.seconds);
  JobOfRanks equal;  // both ranks copy: none is late, and the copies are the finding
  for (auto& rank : equal.all) rank->copied = 15 * kJobMillisecond;
  equal.run();
  EXPECT_EQ(seconds_in(equal.report(), SavingCause::late_rank), 0);
}

TEST(RanksOfAJob, OneThatLaunchesMoreHasMoreWork) {
  JobOfRanks job;
  for (auto& rank : job.all) {
    rank->prepare = kJobMillisecond / 5;
    rank->kernel = 2 * kJobMicrosecond;
    rank->kernels = 400;
  }
  job.all[1]->kernels = 1200;  // tiny ones: its host is what takes longer
  job.run();
  const Report report = job.report();
  EXPECT_EQ(causes_in(report).at(0), SavingCause::unequal_work);
  EXPECT_THAT(report.profile->savings[0].what, HasSubstr("1,2"));
}

TEST(RanksOfAJob, UnequalWorkAndASlowGpuAreToldApart) {
  JobOfRanks slow;
  for (auto& rank : slow.all) rank->prepare = kJobMillisecond / 5;
  slow.all[0]->kernel = 1300 * kJobMicrosecond;
  slow.run();
  const Report of_slow = slow.report();
  EXPECT_EQ(causes_in(of_slow).at(0), SavingCause::slow_gpu);
  EXPECT_THAT(of_slow.profile->savings[0].what, HasSubstr("Rank 0 "));
  JobOfRanks more(8);
  for (auto& rank : more.all) rank->prepare = kJobMillisecond / 5;
  more.all[5]->kernels = 14;
  more.run();
  const Report of_more = more.report();
  EXPECT_EQ(causes_in(of_more).at(0), SavingCause::unequal_work);
  EXPECT_THAT(of_more.profile->savings[0].what, HasSubstr("Rank 5 "));
  EXPECT_LE(of_more.profile->savings[0].seconds, waiting_of(of_more) * 1.0001);
}

TEST(RanksOfAJob, AHealthyOneHasNoFinding) {
  JobOfRanks job(8);
  job.transfer = kJobMillisecond / 5;
  job.run();
  const Report report = job.report();
  for (const SavingCause cause :
       {SavingCause::late_rank, SavingCause::slow_gpu, SavingCause::unequal_work, SavingCause::uneven_ranks,
        SavingCause::exposed_communication, SavingCause::small_messages, SavingCause::barrier}) {
    EXPECT_EQ(seconds_in(report, cause), 0) << to_string(cause);
  }
  ASSERT_TRUE(report.profile->ranks);
  EXPECT_EQ(report.profile->ranks->size, 8);
  EXPECT_EQ(report.profile->ranks->launcher, "torchrun");
}

TEST(RanksOfAJob, RanksThatAreLateInTurnsAreNotNamed) {
  JobOfRanks job(4);
  std::mt19937 random(5);
  job.before_step = [&random](JobOfRanks& of) {
    for (auto& rank : of.all) rank->prepare = 2 * kJobMillisecond;
    of.all[std::uniform_int_distribution<std::size_t>(0, 3)(random)]->prepare = 12 * kJobMillisecond;
  };
  job.run(60);
  const Report report = job.report();
  EXPECT_EQ(seconds_in(report, SavingCause::late_rank), 0);
  EXPECT_GT(seconds_in(report, SavingCause::uneven_hosts), 0.9 * waiting_of(report));
  EXPECT_LE(seconds_in(report, SavingCause::uneven_hosts), waiting_of(report) * 1.0001);
}

TEST(RanksOfAJob, ABarrierInTheLoopIsNamed) {
  JobOfRanks job;
  job.barrier = true;
  job.run();
  const Report with = job.report();
  EXPECT_GT(seconds_in(with, SavingCause::barrier), 0);
  EXPECT_EQ(seconds_in(with, SavingCause::synchronize), 0);
  JobOfRanks other;
  other.run();
  EXPECT_EQ(seconds_in(other.report(), SavingCause::barrier), 0);
}

TEST(RanksOfAJob, ExposedCommunicationIsAtMostWhatKernelsCouldHide) {
  JobOfRanks job;
  job.transfer = 4 * kJobMillisecond;
  job.run();
  const Report report = job.report();
  const auto steps = static_cast<double>(report.profile->steps->count);
  EXPECT_NEAR(seconds_in(report, SavingCause::exposed_communication), 2 * steps * 4e-3, 2 * steps * 0.1e-3);
  const CollectiveSum& sum = report.profile->ranks->collectives.at(0);
  EXPECT_EQ(sum.name, "all_reduce");
  EXPECT_NEAR(sum.transfer_s, 4e-3, 1e-5);
  EXPECT_NEAR(sum.bus_bytes_per_s(), (64 << 20) / 4e-3, 1e9);
  EXPECT_NEAR(sum.calls, 1, 0.01);
  JobOfRanks longer;  // more communication than compute: half of it stays
  longer.transfer = 20 * kJobMillisecond;
  longer.run();
  EXPECT_LE(seconds_in(longer.report(), SavingCause::exposed_communication), 2 * 40 * 10.1e-3);
}

TEST(RanksOfAJob, ManySmallMessagesAreNamed) {
  JobOfRanks job;
  job.collectives = 60;
  job.transfer = 40 * kJobMicrosecond;
  job.bytes = 8 << 10;
  job.run();
  const Report report = job.report();
  EXPECT_EQ(seconds_in(report, SavingCause::exposed_communication), 0);
  const auto steps = static_cast<double>(report.profile->steps->count);
  EXPECT_GT(seconds_in(report, SavingCause::small_messages), 2 * steps * 59 * 35e-6);
  EXPECT_LT(seconds_in(report, SavingCause::small_messages), 2 * steps * 59 * 40e-6);
}

TEST(RanksOfAJob, RanksThatDriftApartInSmallMessagesAreNotLate) {
  JobOfRanks job;
  job.collectives = 200;
  job.transfer = 10 * kJobMicrosecond;
  job.bytes = 64;
  job.all[1]->launch_time = 30 * kJobMicrosecond;
  for (auto& rank : job.all) rank->kernels = 1;  // hosts are not far ahead
  job.run();
  const Report report = job.report();
  EXPECT_GT(seconds_in(report, SavingCause::small_messages), 0.9 * waiting_of(report));
  EXPECT_EQ(seconds_in(report, SavingCause::late_rank), 0);
  EXPECT_EQ(seconds_in(report, SavingCause::uneven_ranks), 0);
  JobOfRanks late;  // as many messages, and a rank that is late before the first of them
  late.collectives = 200;
  late.transfer = 10 * kJobMicrosecond;
  late.bytes = 64;
  late.all[1]->prepare = 30 * kJobMillisecond;
  late.run();
  EXPECT_EQ(causes_in(late.report()).at(0), SavingCause::late_rank);
}

TEST(RanksOfAJob, ACollectivesRowHasTheRoofOfItsSize) {
  Machine machine;
  machine.device.kind = DeviceKind::cuda;
  machine.device.name = "NVIDIA Test";
  Ceiling ceiling;
  ceiling.name = "nccl.all_reduce";
  ceiling.kind = CeilingKind::bandwidth;
  ceiling.value = 100e9;
  machine.ceilings.push_back(ceiling);
  JobOfRanks job;
  job.all[1]->prepare = 20 * kJobMillisecond;
  job.run();
  const Report report = job.report(machine);
  const auto row = std::find_if(report.points.begin(), report.points.end(),
                                [](const Point& point) { return point.work.collective.has_value(); });
  ASSERT_NE(row, report.points.end());
  const double least = (64 << 20) / 100e9;
  EXPECT_NEAR(row->bound.attainable_time_s, least, 1e-6);
  EXPECT_NEAR(row->time->median, 1e-3, 1e-5);  // the transfer: waiting is no part of it
  EXPECT_EQ(row->bound.limiting_ceiling, "nccl.all_reduce");
  const CollectiveSum& sum = report.profile->ranks->collectives.at(0);
  EXPECT_EQ(sum.roof, "nccl.all_reduce");
  EXPECT_NEAR(sum.attainable_s, least, 1e-6);
  // The link is slower than its roof; waiting is no part of that.
  double below_roof = 0;
  for (const Saving& saving : report.profile->savings) {
    if (saving.point == row - report.points.begin()) below_roof += saving.seconds;
  }
  EXPECT_NEAR(below_roof, 2 * static_cast<double>(report.profile->steps->count) * (1e-3 - least), 1e-3);
}

TEST(RanksOfAJob, AreInTheReportAndInEveryOutput) {
  JobOfRanks job(3);
  job.all[2]->prepare = 15 * kJobMillisecond;
  job.run();
  const Report report = job.report();
  const Ranks& ranks = *report.profile->ranks;
  const Report again = parse_report(report_to_json(report).dump(), "report.json");
  ASSERT_TRUE(again.profile->ranks);
  EXPECT_EQ(report_to_json(again), report_to_json(report));
  ASSERT_EQ(ranks.ranks.size(), 3U);
  for (const RankSum& rank : ranks.ranks) {
    EXPECT_EQ(rank.pid, 100 + rank.rank);
    EXPECT_NEAR(rank.compute_s + rank.waiting_s + rank.transfer_s + rank.copies_s + rank.idle_s, ranks.step_s, 1e-9);
  }
  EXPECT_GT(ranks.ranks[2].last_share, 0.9);
  EXPECT_NEAR(ranks.ranks[2].caused_wait_s, 13e-3, 0.5e-3);
  EXPECT_NEAR(ranks.efficiency(), 10e-3 / ranks.step_s, 0.01);
  for (const std::string& text : {render_html(report), render_markdown(report), render_terminal(report, {})}) {
    EXPECT_THAT(text, HasSubstr(duration(ranks.ranks[0].waiting_s)));
  }
}

TEST(RanksOfAJob, WaitingAndCommunicationArePartsOfTheBar) {
  JobOfRanks job;
  job.all[1]->prepare = 20 * kJobMillisecond;
  job.transfer = 3 * kJobMillisecond;
  job.run();
  const Report report = job.report();
  const std::vector<Budget> bars = budgets(report);
  ASSERT_EQ(bars.size(), 2U);
  EXPECT_NEAR(bars[0].seconds(WallPart::rank_wait), 18e-3, 0.5e-3);
  EXPECT_NEAR(bars[1].seconds(WallPart::rank_wait), 0, 0.1e-3);
  for (const Budget& bar : bars) {
    EXPECT_NEAR(bar.seconds(WallPart::communication), 3e-3, 0.1e-3);
    EXPECT_NEAR(bar.seconds(WallPart::no_roof), 10e-3, 0.1e-3);
    EXPECT_NEAR(bar.wall_s, report.profile->steps->total_s / static_cast<double>(report.profile->steps->count), 1e-6);
  }
}

TEST(RanksOfAJob, OneRankIsNoJob) {
  JobOfRanks job(1);
  job.run();
  const Report report = job.report();
  EXPECT_FALSE(report.profile->ranks);
}

TEST(RanksOfAJob, HostileRecordsAreLeftOut) {
  JobOfRanks job;
  SpoolBuilder& spool = job.all[1]->spool;
  spool.add(spool::Type::rank, spool::Rank{4'000'000'000U, 0, 2, 0, 0, 0});
  spool.add(spool::Type::communicator, spool::Communicator{1, 4'000'000'000U, 0, 2, 0});
  spool.add(spool::Type::communicator, spool::Communicator{1, 2, 9, 2, 0});
  spool.add(spool::Type::communicator, spool::Communicator{1, 3, 0, 4'000'000'000U, 0});
  spool::Collective call = {};
  call.start = 2;
  call.end = 1;
  spool.add(spool::Type::collective, call);
  call.end = 3;
  call.bytes = UINT64_MAX;
  call.communicator = 12345;
  call.kind = static_cast<spool::CollectiveKind>(77);
  call.correlation = 1;
  spool.add(spool::Type::collective, call);
  job.run();
  const Report report = job.report();
  ASSERT_TRUE(report.profile->ranks);
  EXPECT_EQ(report.profile->ranks->ranks.size(), 2U);
  EXPECT_EQ(report.profile->ranks->ranks[1].rank, 1);
}

}  // namespace
}  // namespace roofline
