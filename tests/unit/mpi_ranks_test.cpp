// CPU ranks under MPI from what was recorded of their calls: who waits for whom, and what is found.
#include "profile/mpi/mpi_ranks.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <utility>

#include "model/error.hpp"
#include "mpi/calls.h"
#include "profile/mpi/mpi_lines.hpp"

namespace roofline {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kMilliseconds = 1'000'000;

/// Ranks that compute and then meet in an all-reduce, again and again.
struct MpiJob {
  std::vector<MpiProcess> ranks;

  explicit MpiJob(int size) {
    for (int rank = 0; rank < size; ++rank) {
      MpiProcess process;
      process.pid = 100 + rank;
      process.rank = rank;
      process.ranks = size;
      process.host = "node";
      process.start = process.end = kMilliseconds;
      process.sites.push_back({.function = "MPI_Allreduce", .kind = MpiKind::collective, .module = {}, .place = {}});
      process.sites[0].place = {.function = "reduce", .file = "solve.c", .line = 30, .python = false, .own = true};
      ranks.push_back(std::move(process));
    }
  }

  void compute(int rank, const char* function, double ms, ThreadState state = ThreadState::running) {
    MpiProcess& process = ranks[static_cast<std::size_t>(rank)];
    process.end += static_cast<std::uint64_t>(ms * static_cast<double>(kMilliseconds));
    for (MpiCompute& compute : process.compute) {
      if (compute.place.function != function) continue;
      compute.times.of(state) += ms * 1e-3;
      return;
    }
    MpiCompute compute;
    compute.place = {.function = function, .file = "solve.c", .line = 12, .python = false, .own = true};
    compute.times.of(state) = ms * 1e-3;
    process.compute.push_back(compute);
  }

  void meet(std::uint64_t transfer = kMilliseconds / 100) {
    std::uint64_t last = 0;
    for (const MpiProcess& process : ranks) last = std::max(last, process.end);
    for (MpiProcess& process : ranks) {
      const std::uint64_t time = last + transfer - process.end;
      process.collectives.push_back({7, number_, process.end, time, 0, static_cast<std::uint32_t>(ranks.size())});
      process.sites[0].seconds += static_cast<double>(time) * 1e-9;
      process.mpi_s += static_cast<double>(time) * 1e-9;
      ++process.sites[0].calls;
      ++process.sites[0].messages;
      ++process.sites[0].small;
      process.sites[0].bytes += 8;
      process.end = last + transfer;
    }
    ++number_;
  }

  std::vector<Saving> savings() const { return mpi_savings(ranks, mpi_waits(ranks)); }

 private:
  std::uint64_t number_ = 0;
};

std::vector<SavingCause> causes_of(const std::vector<Saving>& savings) {
  std::vector<SavingCause> causes;
  for (const Saving& saving : savings) causes.push_back(saving.cause);
  return causes;
}

TEST(MpiRanks, TheLastRankIsWaitedForAndThePartsAddUp) {
  MpiJob job(4);
  for (int step = 0; step < 50; ++step) {
    for (int rank = 0; rank < 4; ++rank) job.compute(rank, "solve", rank == 2 ? 9 : 3);
    job.meet();
  }
  const MpiWaits waits = mpi_waits(job.ranks);
  EXPECT_EQ(waits.matched, 50);
  EXPECT_DOUBLE_EQ(waits.matched_s, waits.collectives_s);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const MpiParts& parts = waits.parts[rank];
    EXPECT_NEAR(parts.compute_s + parts.waiting_s + parts.transfer_s, job.ranks[rank].seconds(), 1e-9);
    EXPECT_NEAR(parts.waiting_s, rank == 2 ? 0 : 0.3, 1e-6);
    EXPECT_EQ(parts.last, rank == 2 ? 50 : 0);
  }
  EXPECT_NEAR(waits.parts[2].caused_wait_s, 3 * 0.3, 1e-6);
  const std::vector<Saving> savings = job.savings();
  ASSERT_FALSE(savings.empty());
  EXPECT_EQ(savings[0].cause, SavingCause::unequal_work);
  EXPECT_THAT(savings[0].what, HasSubstr("rank 2"));
  EXPECT_EQ(savings[0].line, "solve.c:12 solve");
  EXPECT_NEAR(savings[0].seconds, 0.225, 1e-6);  // 9 ms become the mean of 4.5 ms
}

TEST(MpiRanks, WorkThatOneRankDoesAloneIsASerialPart) {
  MpiJob job(8);
  for (int step = 0; step < 50; ++step) {
    for (int rank = 0; rank < 8; ++rank) job.compute(rank, "solve", 3);
    job.compute(0, "write_output", 2);
    job.meet();
  }
  const std::vector<Saving> savings = job.savings();
  ASSERT_FALSE(savings.empty());
  EXPECT_EQ(savings[0].cause, SavingCause::serial_part);
  EXPECT_THAT(savings[0].what, HasSubstr("rank 0"));
  EXPECT_THAT(savings[0].line, HasSubstr("write_output"));
}

TEST(MpiRanks, MissingSamplesDoNotMakeWorkSerial) {
  MpiJob job(2);
  for (int step = 0; step < 50; ++step) {
    for (int rank = 0; rank < 2; ++rank) job.compute(rank, "solve", rank == 1 ? 9 : 3);
    job.meet();
  }
  job.ranks[0].compute.clear();
  const std::vector<Saving> savings = job.savings();
  ASSERT_FALSE(savings.empty());
  EXPECT_EQ(savings[0].cause, SavingCause::unequal_work);
  EXPECT_THAT(savings[0].what, HasSubstr("rank 1"));
  EXPECT_EQ(savings[0].line, "solve.c:12 solve");
}

TEST(MpiRanks, ARankThatDoesNotRunIsLateByItsState) {
  for (const auto& [state, words] : {std::pair(ThreadState::disk, "disk"),
                                     {ThreadState::sleep, "sleeps"},
                                     {ThreadState::runnable, "without a CPU"}}) {
    MpiJob job(4);
    for (int step = 0; step < 50; ++step) {
      for (int rank = 0; rank < 4; ++rank) job.compute(rank, "solve", 3);
      job.compute(1, "solve", 2, state);
      job.meet();
    }
    const std::vector<Saving> savings = job.savings();
    ASSERT_FALSE(savings.empty());
    EXPECT_EQ(savings[0].cause, SavingCause::late_rank);
    EXPECT_THAT(savings[0].what, HasSubstr(words));
  }
  // Other load slows each rank in proportion to its work: that is no reason for the one that has more.
  MpiJob loaded(4);
  for (int step = 0; step < 50; ++step) {
    for (int rank = 0; rank < 4; ++rank) {
      loaded.compute(rank, "solve", rank == 1 ? 6 : 3);
      loaded.compute(rank, "solve", rank == 1 ? 9 : 4.5, ThreadState::runnable);
    }
    loaded.meet();
  }
  EXPECT_EQ(causes_of(loaded.savings()).at(0), SavingCause::unequal_work);
}

TEST(MpiRanks, TurnsAreNoLateRank) {
  MpiJob job(4);
  for (int step = 0; step < 80; ++step) {
    for (int rank = 0; rank < 4; ++rank) job.compute(rank, "solve", step % 4 == rank ? 9 : 3);
    job.meet();
  }
  EXPECT_THAT(causes_of(job.savings()), testing::ElementsAre(SavingCause::uneven_ranks));
}

TEST(MpiRanks, ChanceAmongTurnsMakesNoRankLate) {
  // Equal work, of which one rank's last turns took longer: a neighbour had its core. With as much in each step it is
  // late.
  const auto causes = [](double in_some, double in_all) {
    MpiJob job(2);
    for (int step = 0; step < 60; ++step) {
      for (int rank = 0; rank < 2; ++rank) {
        const bool turn = step % 2 == rank;
        job.compute(rank, "solve",
                    (turn ? 30 : 10) + (rank == 1 ? in_all : 0) + (rank == 1 && step > 45 ? in_some : 0));
      }
      job.meet();
    }
    return causes_of(job.savings());
  };
  EXPECT_THAT(causes(15, 0), testing::ElementsAre(SavingCause::uneven_ranks));
  EXPECT_THAT(causes(0, 15), testing::Contains(SavingCause::unequal_work));
}

TEST(MpiRanks, MessagesAreSmallOnlyWhereTheyAreManyAndCost) {
  const auto with_messages = [](std::uint64_t each, double bytes, double ms) {
    MpiJob job(4);
    for (int step = 0; step < 50; ++step) {
      for (int rank = 0; rank < 4; ++rank) job.compute(rank, "solve", 3);
      job.meet();
    }
    for (MpiProcess& process : job.ranks) {
      MpiSite site = {.function = "MPI_Sendrecv", .kind = MpiKind::other, .module = {}, .place = {}};
      site.place = {.function = "exchange", .file = "solve.c", .line = 40, .python = false, .own = true};
      site.calls = site.messages = each;
      site.small = bytes <= 4096 ? each : 0;
      site.bytes = static_cast<double>(each) * bytes;
      site.seconds = ms * 1e-3;
      process.mpi_s += site.seconds;
      process.end += static_cast<std::uint64_t>(site.seconds * 1e9);
      process.sites.push_back(site);
    }
    return causes_of(job.savings());
  };
  EXPECT_THAT(with_messages(50'000, 64, 100), testing::ElementsAre(SavingCause::small_messages));
  EXPECT_THAT(with_messages(50'000, 64, 2), testing::IsEmpty());
  EXPECT_THAT(with_messages(200, 1e6, 100), testing::ElementsAre(SavingCause::exposed_communication));
}

TEST(MpiRanks, RightRankAmongManyAndNoFalseAlarms) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(1, 0.05);
  int found = 0, alarms = 0;
  for (int draw = 0; draw < 30; ++draw) {
    for (const bool faulty : {false, true}) {
      MpiJob job(64);
      const int late = static_cast<int>(random() % 64);
      for (int step = 0; step < 60; ++step) {
        for (int rank = 0; rank < 64; ++rank) {
          job.compute(rank, "solve", std::max(0.1, noise(random)) * (faulty && rank == late ? 1.4 : 1));
        }
        job.meet();
      }
      const std::vector<Saving> savings = job.savings();
      const bool named = !savings.empty() && savings[0].cause == SavingCause::unequal_work;
      if (!faulty) alarms += named ? 1 : 0;
      if (faulty) found += named && savings[0].what.find(fmt::format("rank {},", late)) != std::string::npos ? 1 : 0;
    }
  }
  EXPECT_GE(found, 29);
  EXPECT_EQ(alarms, 0);
}

TEST(MpiRanks, ClocksOfNodesAreAlignedByTheEndsOfCollectives) {
  MpiJob job(4);
  for (int step = 0; step < 50; ++step) {
    for (int rank = 0; rank < 4; ++rank) job.compute(rank, "solve", rank == 3 ? 9 : 3);
    job.meet();
  }
  const MpiWaits aligned = mpi_waits(job.ranks);
  for (const std::size_t rank : {2U, 3U}) {
    job.ranks[rank].host = "other";
    job.ranks[rank].start += 12345 * kMilliseconds;
    job.ranks[rank].end += 12345 * kMilliseconds;
    for (MpiCollective& collective : job.ranks[rank].collectives) collective.start += 12345 * kMilliseconds;
  }
  const MpiWaits apart = mpi_waits(job.ranks);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    EXPECT_NEAR(apart.parts[rank].waiting_s, aligned.parts[rank].waiting_s, 1e-9);
    EXPECT_EQ(apart.parts[rank].last, aligned.parts[rank].last);
  }
}

TEST(MpiRanks, AThinnedRankIsMatchedByWhatBothHave) {
  MpiJob job(2);
  for (int step = 0; step < 64; ++step) {
    job.compute(0, "solve", 3);
    job.compute(1, "solve", 9);
    job.meet();
  }
  job.ranks[0].stride = 4;
  std::erase_if(job.ranks[0].collectives, [](const MpiCollective& collective) { return collective.number % 4 != 0; });
  const MpiWaits waits = mpi_waits(job.ranks);
  EXPECT_EQ(waits.matched, 16);
  EXPECT_NEAR(waits.parts[0].waiting_s, 64 * 6e-3, 1e-6);
}

TEST(MpiRanks, LinesSurviveTheirFile) {
  MpiJob job(2);
  job.compute(0, "solve", 3);
  job.compute(1, "tab\there", 2, ThreadState::disk);
  const std::string text = write_mpi_lines(job.ranks);
  MpiJob read(2);
  for (MpiProcess& process : read.ranks) {
    process.end += 10 * kMilliseconds;
    process.sites[0].place = {};
  }
  read_mpi_lines(text, read.ranks);
  EXPECT_EQ(read.ranks[0].sites[0].place, job.ranks[0].sites[0].place);
  ASSERT_EQ(read.ranks[1].compute.size(), 1U);
  EXPECT_EQ(read.ranks[1].compute[0].place.function, "tab here");
  EXPECT_NEAR(read.ranks[1].compute[0].times.of(ThreadState::disk), 2e-3, 1e-4);
  for (std::size_t size = 0; size < text.size(); ++size) {  // cut anywhere it harms nothing
    MpiJob cut(2);
    read_mpi_lines(std::string_view(text).substr(0, size), cut.ranks);
  }
}

TEST(MpiCalls, WhatIsImpossibleIsRefusedOrLeftOut) {
  const auto calls = std::make_unique<RooflineMpiCalls>();
  const auto parse = [&] { return parse_mpi_process({reinterpret_cast<const char*>(calls.get()), sizeof *calls}); };
  EXPECT_THROW(parse_mpi_process("roofmpi1"), Error);
  EXPECT_THROW(parse(), Error);
  std::memcpy(calls->magic, ROOFLINE_MPI_MAGIC, sizeof calls->magic);
  calls->bytes = sizeof *calls;
  calls->ranks = 2;
  calls->start = 1000;
  calls->end = 2000;
  calls->ns = ~std::uint64_t{0};
  calls->sites = calls->modules = calls->collectives = 0xffffffff;
  std::memset(calls->host, 'x', sizeof calls->host);
  calls->collective[0] = {1, 0, 1500, ~std::uint64_t{0}, 0, 2};  // longer than the run
  calls->collective[1] = {1, 1, 1500, 10, 0xffff, 2};            // of no site
  calls->collective[2] = {1, 2, 1500, 10, 5, 2};
  const MpiProcess process = parse();
  EXPECT_EQ(process.sites.size(), std::size_t{ROOFLINE_MPI_SITES});
  EXPECT_EQ(process.host, std::string(sizeof calls->host, 'x'));
  EXPECT_LE(process.mpi_s, process.seconds());
  ASSERT_EQ(process.collectives.size(), 1U);
  EXPECT_EQ(process.collectives[0].number, 2U);
  calls->rank = 2;
  EXPECT_THROW(parse(), Error);
}

}  // namespace
}  // namespace roofline
