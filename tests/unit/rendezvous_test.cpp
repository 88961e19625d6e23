// Processes that find each other in a folder: here threads, each with a Rendezvous of its own. And a case whose ranks
// are held by several.
#include "host/rendezvous.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "host/world.hpp"
#include "model/error.hpp"
#include "op/case.hpp"
#include "op/registry.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/mentions.hpp"

namespace roofline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::optional<World> world_in(const std::map<std::string, std::string>& variables) {
  return world_of([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(World, IsThatOfEachLauncher) {
  const auto torch = world_in({{"RANK", "3"}, {"WORLD_SIZE", "16"}, {"LOCAL_RANK", "1"}, {"MASTER_PORT", "29500"}});
  ASSERT_TRUE(torch);
  EXPECT_EQ(torch->launcher, "torchrun");
  EXPECT_EQ(torch->rank, 3);
  EXPECT_EQ(torch->size, 16);
  EXPECT_EQ(torch->local_rank, 1);
  EXPECT_EQ(torch->job, "29500");

  const auto open_mpi = world_in({{"OMPI_COMM_WORLD_RANK", "1"},
                                  {"OMPI_COMM_WORLD_SIZE", "2"},
                                  {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                  {"PMIX_NAMESPACE", "prterun-node/7@1"},
                                  {"SLURM_PROCID", "0"},
                                  {"SLURM_NTASKS", "1"}});
  ASSERT_TRUE(open_mpi);
  EXPECT_EQ(open_mpi->launcher, "Open MPI") << "which Slurm has only started";
  EXPECT_EQ(open_mpi->rank, 1);
  EXPECT_EQ(open_mpi->job, "prterun-node-7-1") << "a name of a folder";

  const auto mpich = world_in({{"PMI_RANK", "0"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "0"}});
  ASSERT_TRUE(mpich);
  EXPECT_EQ(mpich->launcher, "MPICH");
  EXPECT_EQ(mpich->size, 4);

  const auto slurm = world_in({{"SLURM_PROCID", "5"},
                               {"SLURM_NTASKS", "8"},
                               {"SLURM_LOCALID", "1"},
                               {"SLURM_JOB_ID", "4711"},
                               {"SLURM_STEP_ID", "2"}});
  ASSERT_TRUE(slurm);
  EXPECT_EQ(slurm->rank, 5);
  EXPECT_EQ(slurm->job, "4711.2");

  EXPECT_FALSE(world_in({{"RANK", "1"}})) << "half a launcher is none";
  EXPECT_FALSE(world_in({}));
}

TEST(World, NumbersThatDontFitAreRefused) {
  EXPECT_THROW(world_in({{"RANK", "2"}, {"WORLD_SIZE", "2"}}), UsageError);
  EXPECT_THROW(world_in({{"RANK", "one"}, {"WORLD_SIZE", "2"}}), UsageError);
  EXPECT_THROW(world_in({{"RANK", "-1"}, {"WORLD_SIZE", "2"}}), UsageError);
}

class RendezvousTest : public testing::Test {
 protected:
  RendezvousTest() : folder_(fs::path(testing::TempDir()) / ("rendezvous-" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
  }
  ~RendezvousTest() override { fs::remove_all(folder_); }

  Rendezvous rank(int number, int size = 3, double patience_s = 60) const {
    return {folder_, {.rank = number, .size = size, .local_rank = number, .launcher = "test", .job = "7"}, patience_s};
  }

  /// Runs `process` once for each rank, all at a time.
  template <typename Process>
  void all(int size, const Process& process) {
    std::vector<std::thread> threads;
    for (int number = 0; number < size; ++number) {
      threads.emplace_back([&, number] {
        Rendezvous mine = rank(number, size);
        process(mine, number);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  fs::path folder_;
};

TEST_F(RendezvousTest, AllGetTheTextsOfAllInTheirOrder) {
  std::atomic<int> right = 0;
  all(3, [&](Rendezvous& mine, int number) {
    ASSERT_TRUE(mine.begin());
    for (int round = 0; round < 50; ++round) {
      const std::string text = std::to_string(number) + "\n of " + std::to_string(round);
      const auto texts = mine.exchange(3, text);
      right += texts.size() == 3 && texts[static_cast<std::size_t>(number)] == text && texts[0].starts_with("0") &&
               texts[2] == "2\n of " + std::to_string(round);
      // The first two among themselves now and then.
      if (number < 2 && round % 3 == 0) right += mine.exchange(2, "pair").size() == 2 ? 0 : -1;
    }
  });
  EXPECT_EQ(right, 150);
}

TEST_F(RendezvousTest, WhatAnEarlierStartHasLeftIsNotTakenForThisOnes) {
  for (int start = 0; start < 4; ++start) {
    std::atomic<int> right = 0;
    all(2, [&](Rendezvous& mine, int number) {
      // Followers of a start that was killed between two steps have left their files, and so has its leader.
      if (start % 2 == 1 && number == 0) std::this_thread::sleep_for(std::chrono::milliseconds(30));
      if (start % 2 == 0 && number == 1) std::this_thread::sleep_for(std::chrono::milliseconds(30));
      ASSERT_TRUE(mine.begin());
      const std::string now = "start " + std::to_string(start);
      right += mine.exchange(2, now) == std::vector<std::string>{now, now} ? 1 : 0;
      if (start == 2 && number == 0) mine.end();
    });
    EXPECT_EQ(right, 2) << start;
  }
}

TEST_F(RendezvousTest, ALeaderThatBeginsAnewIsFollowedAnew) {
  std::string followers_error;
  std::vector<std::string> second;
  std::thread follower([&] {
    Rendezvous mine = rank(1, 2);
    ASSERT_TRUE(mine.begin());
    try {
      mine.exchange(2, "first");
      mine.exchange(2, "second, to a leader that has died");
    } catch (const Error& error) {
      followers_error = error.what();
    }
    Rendezvous successor = rank(1, 2);
    successor.succeed(mine.session());
    ASSERT_TRUE(successor.begin());
    second = successor.exchange(2, "again");
    while (!successor.abandoned()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_FALSE(successor.begin()) << "the leader has ended";
  });
  {
    Rendezvous died = rank(0, 2);
    ASSERT_TRUE(died.begin());
    died.exchange(2, "first");
  }
  Rendezvous leader = rank(0, 2);
  ASSERT_TRUE(leader.begin());
  EXPECT_THAT(leader.exchange(2, "anew"), ElementsAre("anew", "again"));
  rank(0, 2).end();  // as its parent process does
  follower.join();
  EXPECT_THAT(followers_error, HasSubstr("restarted"));
  EXPECT_THAT(second, ElementsAre("anew", "again"));
}

TEST_F(RendezvousTest, WhoIsMissingIsNamed) {
  Rendezvous leader = rank(0, 3, 0.05);
  try {
    leader.begin();
    FAIL() << "nobody was there";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank 1, 2 of"));
  }
  Rendezvous follower = rank(2, 3, 0.05);
  EXPECT_THROW(follower.begin(), Error);
}

TEST_F(RendezvousTest, ALinkInTheNameOfADraftIsNotFollowed) {
  const fs::path victim = folder_ / "victim";
  fs::create_directories(folder_ / "roofline-7");
  std::ofstream(victim) << "kept";
  for (const char* name : {"offer", "go", "hello.1", "ack.1"}) {
    fs::create_symlink(victim, folder_ / "roofline-7" / (name + ("." + std::to_string(::getpid())) + ".tmp"));
  }
  all(2, [&](Rendezvous& mine, int) { ASSERT_TRUE(mine.begin()); });
  std::string text;
  std::getline(std::ifstream(victim) >> std::ws, text);
  EXPECT_EQ(text, "kept");
}

TEST_F(RendezvousTest, HalfAFileIsNone) {
  Rendezvous follower = rank(1, 2, 0.05);
  std::ofstream(folder_ / "roofline-7" / "offer") << "nonce\nanother";
  EXPECT_THROW(follower.begin(), Error) << "it waits for the rest";
}

// A case of two ranks, each held by a thread of its own.

/// What the kernels of both ranks share: all see each other's buffers.
struct SharedBuffers {
  std::barrier<> barrier{2};
  std::array<std::atomic<float*>, 2> x{}, y{};
};

struct RankResult {
  Verification verification;
  std::string error;
  std::int64_t launches = 0;
};

using Spoil = std::function<void(int rank, float* y, std::int64_t n)>;

/// Both ranks' case of an all_reduce; `memory` bytes for rank 1. Rank 0 asks for batches of 3 and 5 launches.
std::array<RankResult, 2> run_both(const fs::path& folder, const Spoil& spoil, double memory = 1e9) {
  SharedBuffers shared;
  std::array<RankResult, 2> results;
  const auto process = [&](int rank) {
    RankResult& result = results[static_cast<std::size_t>(rank)];
    Rendezvous mine(folder, {.rank = rank, .size = 2, .local_rank = rank, .launcher = "test", .job = "case"}, 60);
    ASSERT_TRUE(mine.begin());
    FakeDevice device(1 << 20, rank == 1 ? memory : 1e9);
    device.be_rank(rank, 2, [&](int ranks, const std::string& text) { return mine.exchange(ranks, text); });
    Workload w{.op = "all_reduce", .implementation = "test", .dtype = DType::fp32, .shape = {}, .label = ""};
    w.shape.set("n", 1000);
    w.shape.set("ranks", 2);
    const auto me = static_cast<std::size_t>(rank);
    const Implementation implementation = {
        .name = "test", .summary = "", .dtypes = {w.dtype}, .prepare = [&](const Workload&, Device&) -> Kernel {
          return [&](std::span<void* const> tensors) {
            EXPECT_EQ(tensors[1 - me], nullptr) << "another process's";
            shared.x[me] = static_cast<float*>(tensors[me]);
            shared.y[me] = static_cast<float*>(tensors[2 + me]);
            shared.barrier.arrive_and_wait();
            for (int i = 0; i < 1000; ++i) shared.y[me].load()[i] = shared.x[0].load()[i] + shared.x[1].load()[i];
            if (spoil) spoil(rank, shared.y[me], 1000);
            shared.barrier.arrive_and_wait();
            ++result.launches;
          };
        }};
    try {
      Case row(*find_op("all_reduce"), implementation, w, device);
      result.verification = row.verify();
      if (!result.verification.passed) return;
      const Bench bench = row.bench();
      if (rank == 1) return row.follow();
      bench.batch(3);
      bench.batch(5);
    } catch (const Error& error) {
      result.error = error.what();
    }
  };
  std::thread first(process, 0), second(process, 1);
  first.join();
  second.join();
  return results;
}

TEST_F(RendezvousTest, EachProcessVerifiesItsRankAndTimesTheSameBatches) {
  for (const RankResult& result : run_both(folder_, {})) {
    EXPECT_EQ(result.error, "");
    EXPECT_TRUE(result.verification.passed) << result.verification.failure;
    EXPECT_EQ(result.verification.checked, 2000) << "of both ranks";
    EXPECT_EQ(result.launches, 1 + 3 + 5);
  }
}

TEST_F(RendezvousTest, WhatOneRankFindsWrongAllSay) {
  const auto results = run_both(folder_, [](int rank, float* y, std::int64_t n) { y[n - 1] += rank == 1 ? 1.0F : 0; });
  for (const RankResult& result : results) {
    EXPECT_FALSE(result.verification.passed);
    EXPECT_THAT(result.verification.failure, HasSubstr("y1[999] is"));
    EXPECT_EQ(result.launches, 1) << "what is wrong is not timed";
  }
}

TEST_F(RendezvousTest, WhatOneRankHasNoMemoryForNoneRuns) {
  for (const RankResult& result : run_both(folder_, {}, 100)) {
    EXPECT_EQ(result.error, "out of fake memory");
    EXPECT_EQ(result.launches, 0);
  }
}

}  // namespace
}  // namespace roofline
