// Calls of NCCL as the library records them, on a NCCL without GPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "injected.hpp"

namespace roofline::inject {
namespace {

using testing::ElementsAre;
using testing::Field;
using Kind = spool::CollectiveKind;

class Collectives : public Injected {
 protected:
  Spool rank(const std::string& name, int number, Environment more = {}) {
    more["LD_LIBRARY_PATH"] = fs::path(ROOFLINE_FAKE_CUDA).parent_path().string();
    Outcome result = run({ROOFLINE_NCCL_PROGRAM, name, std::to_string(number)}, more);
    EXPECT_EQ(result.status, 0);
    for (Spool& spool : result.spools) {
      if (seen_.insert(spool.process->pid).second) return spool;
    }
    ADD_FAILURE() << "no spool";
    return {};
  }
  static std::vector<Kind> kinds_of(const Spool& spool) {
    std::vector<Kind> kinds;
    for (const spool::Collective& call : spool.collectives) kinds.push_back(call.kind);
    return kinds;
  }
  static std::string kernel_of(const Spool& spool, const spool::Collective& call) {
    for (const spool::Launch& launch : spool.launches) {
      if (launch.correlation == call.correlation) return spool.name(launch);
    }
    return {};
  }

 private:
  std::set<std::uint32_t> seen_;
};

TEST_F(Collectives, HaveKindBytesNumberAndKernel) {
  const Spool spool = rank("kinds", 1);
  ASSERT_THAT(kinds_of(spool),
              ElementsAre(Kind::all_reduce, Kind::all_gather, Kind::reduce_scatter, Kind::broadcast, Kind::all_reduce));
  std::vector<std::uint64_t> bytes, numbers;
  for (const spool::Collective& call : spool.collectives) {
    bytes.push_back(call.bytes);
    numbers.push_back(call.sequence);
    EXPECT_LE(call.start, call.end);
    EXPECT_EQ(call.calls, 1U);
  }
  EXPECT_THAT(bytes, ElementsAre(4000, 8000, 8000, 1000, 0));  // the larger buffer of four ranks
  EXPECT_THAT(numbers, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(kernel_of(spool, spool.collectives[0]), "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  EXPECT_EQ(kernel_of(spool, spool.collectives[1]), "ncclDevKernel_AllGather_RING_LL");
  const spool::Communicator& world = spool.communicators.at(spool.collectives[0].communicator);
  EXPECT_EQ(world.rank, 1U);
  EXPECT_EQ(world.ranks, 4U);
  EXPECT_NE(world.hash, 0U);
}

TEST_F(Collectives, HaveTheVariablesThatSetTheirTransport) {
  const Environment set = {{"NCCL_P2P_DISABLE", "1"}, {"NCCL_SOCKET_IFNAME", "eth0"}};
  EXPECT_THAT(rank("kinds", 0, set).variables, ElementsAre(testing::Pair("NCCL_P2P_DISABLE", "1")));
  EXPECT_TRUE(rank("kinds", 0).variables.empty());
}

TEST_F(Collectives, OfAGroupAreOneWithOneKernel) {
  const Spool spool = rank("groups", 0);
  ASSERT_THAT(kinds_of(spool), ElementsAre(Kind::all_reduce, Kind::all_to_all, Kind::send_recv, Kind::all_reduce));
  EXPECT_EQ(spool.collectives[0].calls, 3U);
  EXPECT_EQ(spool.collectives[0].bytes, 1200U);
  EXPECT_EQ(spool.collectives[0].flags & spool::kGrouped, std::uint32_t{spool::kGrouped});
  EXPECT_EQ(spool.collectives[1].bytes, 160U);
  EXPECT_EQ(spool.collectives[2].bytes, 40U);    // all that is sent
  EXPECT_EQ(spool.collectives[2].sequence, 1U);  // exchanges have numbers of their own
  EXPECT_EQ(spool.collectives[3].sequence, 3U);
  for (const spool::Collective& call : spool.collectives) EXPECT_NE(kernel_of(spool, call), "");
}

TEST_F(Collectives, OfOneCommunicatorHaveTheSameNameOnAllRanks) {
  const Spool first = rank("communicators", 0), second = rank("communicators", 2), third = rank("communicators", 1);
  const auto hash = [](const Spool& spool, std::size_t call) {
    return spool.communicators.at(spool.collectives.at(call).communicator).hash;
  };
  ASSERT_THAT(kinds_of(first),
              ElementsAre(Kind::all_reduce, Kind::all_gather, Kind::all_reduce, Kind::all_reduce, Kind::all_reduce));
  EXPECT_EQ(hash(first, 0), hash(third, 0));
  EXPECT_EQ(hash(first, 1), hash(second, 1));  // of one color
  EXPECT_NE(hash(first, 1), hash(third, 1));
  EXPECT_NE(hash(first, 0), hash(first, 1));
  EXPECT_NE(hash(first, 3), hash(first, 4));
  EXPECT_EQ(first.communicators.at(first.collectives[1].communicator).ranks, 2U);  // as the library says
  EXPECT_EQ(first.collectives[1].bytes, 64U);
  EXPECT_EQ(first.collectives[2].sequence, 1U);
  // Each of the group's communicators has a kernel of its own.
  EXPECT_NE(first.collectives[3].correlation, first.collectives[4].correlation);
}

TEST_F(Collectives, TheRankIsThatOfTheLauncher) {
  const Environment torchrun = {{"RANK", "5"},
                                {"WORLD_SIZE", "8"},
                                {"LOCAL_RANK", "1"},
                                {"OMPI_COMM_WORLD_RANK", "0"},
                                {"OMPI_COMM_WORLD_SIZE", "8"}};
  const Spool spool = rank("kinds", 0, torchrun);
  ASSERT_TRUE(spool.rank);
  EXPECT_EQ(spool.rank->rank, 5U);
  EXPECT_EQ(spool.rank->ranks, 8U);
  EXPECT_EQ(spool.rank->local_rank, 1U);
  EXPECT_GE(spool.rank->cpus, 1U);
  EXPECT_EQ(spool.texts.at(spool.rank->launcher), "torchrun");
  EXPECT_FALSE(rank("kinds", 0).rank);
  const Spool slurm =
      rank("kinds", 0, {{"RANK", "five"}, {"WORLD_SIZE", "8"}, {"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "4"}});
  ASSERT_TRUE(slurm.rank);
  EXPECT_EQ(slurm.rank->rank, 3U);
}

TEST_F(Collectives, ArePassedOnWithoutARecording) {
  const Outcome result = run({ROOFLINE_NCCL_PROGRAM, "groups", "0"}, {{"ROOFLINE_SPOOL", ""}});
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(result.spools.empty());
}

}  // namespace
}  // namespace roofline::inject
