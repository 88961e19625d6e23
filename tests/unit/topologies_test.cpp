// Everything that depends on a machine's shape, held against machines that nobody has here: recorded ones (their XML is
// in tests/topologies; those that are regular stand here in hwloc's synthetic notation) and imagined ones. The
// properties must hold on all of them, whatever is asked.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "device/cpu/placement.hpp"
#include "device/cpu/topology.hpp"
#include "device/device.hpp"
#include "host/files.hpp"
#include "kernels/calibration/cpu/memory_plan.hpp"
#include "kernels/calibration/cpu/stream_set.hpp"
#include "measure/audit.hpp"
#include "model/error.hpp"
#include "tests/support/mentions.hpp"
#include "tests/support/values.hpp"

namespace roofline {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::SizeIs;

constexpr double kGiB = 1 << 30;

struct Known {
  std::string name;
  std::string description;  ///< synthetic, or a file of tests/topologies
  std::string allowed = {};
  double quota = 0;
  double free_bytes = 32 * kGiB;
  // What is known of it from outside.
  std::size_t threads = 1;          ///< by default
  std::vector<Level> refused = {};  ///< levels whose copy probe can't be had by default
};

/// Without a name: gtest prints it byte by byte.
void PrintTo(const Known& known, std::ostream* out) { *out << known.name; }

const std::vector<Known>& all_machines() {
  static const std::vector<Known> machines = {
      // Recorded.
      {.name = "AlderLakeLaptop", .description = "alder-lake-laptop.xml", .threads = 6, .refused = {Level::l3}},
      {.name = "RaptorLakeLaptop", .description = "core-i7-1370p.xml", .threads = 6, .refused = {Level::l3}},
      {.name = "ArrowLakeLaptop", .description = "core-ultra-5-225u.xml", .threads = 2, .refused = {Level::l3}},
      {.name = "StrixPointLaptop", .description = "ryzen-ai-9-hx-370.xml", .threads = 4, .refused = {Level::l3}},
      {.name = "GraceBlackwellDesktop", .description = "dgx-gb10.xml", .threads = 10, .refused = {Level::l3}},
      {.name = "OfflineCpus", .description = "offline-cpus.xml", .threads = 7, .refused = {Level::l3}},
      {.name = "OfflineNode", .description = "offline-node.xml", .threads = 17},
      {.name = "CachesMissingHereAndThere",
       .description = "asymmetric-caches.xml",
       .threads = 8,
       .refused = {Level::l1, Level::l2, Level::l3}},
      {.name = "Zen1TwoSockets",
       .description = "pack:2 [numa(memory=64GB)] l3:8(size=8388608) l2:3(size=524288) l1d:1(size=32768) core:1 "
                      "pu:2(indexes=2*48:1*2)",
       .threads = 48},
      {.name = "Zen3TwoSockets",
       .description = "pack:2 [numa(memory=64GB)] l3:8(size=33554432) l2:8(size=524288) l1d:1(size=32768) core:1 pu:1",
       .threads = 128},
      {.name = "Zen4TwoSockets",
       .description = "pack:2 [numa(memory=64GB)] l3:12(size=33554432) l2:8(size=1048576) l1d:1(size=32768) core:1 "
                      "pu:2(indexes=2*192:1*2)",
       .threads = 192,
       .refused = {Level::l3}},
      {.name = "CascadeLakeTwoSockets",
       .description = "pack:2 [numa(memory=64GB)] l3:1(size=28835840) l2:20(size=1048576) l1d:1(size=32768) core:1 "
                      "pu:2(indexes=40*2:2*20:1*2)",
       .threads = 40,
       .refused = {Level::l3}},
      {.name = "SapphireRapidsMax",
       .description = "pack:2 [numa(memory=64GB)] l3:1(size=102236160) l2:40(size=2097152) l1d:1(size=49152) core:1 "
                      "pu:2(indexes=2*80:1*2)",
       .threads = 80,
       .refused = {Level::l3}},
      {.name = "HaswellClusterOnDie",
       .description = "pack:2 numa:2(memory=16GB) l3:1(size=15728640) l2:6(size=262144) l1d:1(size=32768) core:1 pu:1",
       .threads = 24},
      {.name = "KnightsLandingWithoutL3",
       .description = "pack:1 [numa(memory=64GB)] l2:32(size=1048576) l1d:2(size=32768) core:1 pu:4(indexes=4*64:1*4)",
       .threads = 64,
       .refused = {Level::l3}},
      // As their makers describe them.
      {.name = "Zen2Desktop",
       .description = "pack:1 [numa(memory=64GB)] l3:4(size=16777216) l2:4(size=524288) l1d:1(size=32768) core:1 pu:2",
       .threads = 16},
      {.name = "CascadeLakeVmOfTwoCores",
       .description = "pack:1 [numa(memory=8GB)] l3:1(size=37486592) l2:2(size=1048576) l1d:1(size=32768) core:1 pu:1",
       .free_bytes = 6 * kGiB,
       .threads = 2},
      {.name = "SapphireRapidsVmOfFourCores",
       .description = "pack:1 [numa(memory=32GB)] l3:1(size=110100480) l2:4(size=2097152) l1d:1(size=49152) core:1 "
                      "pu:2",
       .free_bytes = 30 * kGiB,
       .threads = 4},
      {.name = "Graviton2",
       .description = "pack:1 [numa(memory=128GB)] l3:1(size=33554432) l2:64(size=1048576) l1d:1(size=65536) core:1 "
                      "pu:1",
       .threads = 64,
       .refused = {Level::l3}},
      {.name = "AppleLikeSharedL2",
       .description = "pack:1 [numa(memory=16GB)] l2:2(size=12582912) l1d:4(size=131072) core:1 pu:1",
       .free_bytes = 12 * kGiB,
       .threads = 8,
       .refused = {Level::l3}},
      {.name = "RaspberryPi4",
       .description = "pack:1 [numa(memory=4GB)] l2:1(size=1048576) l1d:4(size=32768) core:1 pu:1",
       .free_bytes = 3 * kGiB,
       .threads = 4,
       .refused = {Level::l3}},
      {.name = "SmallCachesAndSmt",  // 16 KiB L1 and 256 KiB L2, as of a Bulldozer or an Atom
       .description = "pack:1 [numa(memory=8GB)] l3:1(size=6291456) l2:4(size=262144) l1d:1(size=16384) core:1 pu:2",
       .free_bytes = 6 * kGiB,
       .threads = 4},
      {.name = "NoCacheInformation",
       .description = "pack:1 [numa(memory=8GB)] core:4 pu:1",
       .free_bytes = 6 * kGiB,
       .threads = 4,
       .refused = {Level::l1, Level::l2, Level::l3}},
      {.name = "OneCore",
       .description = "pack:1 [numa(memory=2GB)] l3:1(size=37486592) l2:1(size=1048576) l1d:1(size=32768) core:1 pu:1",
       .free_bytes = 1.5 * kGiB,
       .threads = 1},
      {.name = "OneCoreOfTwoThreads",
       .description = "pack:1 [numa(memory=2GB)] l3:1(size=37486592) l2:1(size=1048576) l1d:1(size=32768) core:1 pu:2",
       .free_bytes = 1.5 * kGiB,
       .threads = 1},
      {.name = "LittleMemoryUnderALargeL3",
       .description = "pack:1 [numa(memory=2GB)] l3:1(size=272629760) l2:2(size=2097152) l1d:1(size=49152) core:1 pu:1",
       .free_bytes = 1 * kGiB,
       .threads = 2},
      // Restricted.
      {.name = "QuotaOfOneAndAHalfCpus",
       .description = "pack:1 [numa(memory=64GB)] l3:1(size=37486592) l2:16(size=1048576) l1d:1(size=32768) core:1 "
                      "pu:2",
       .quota = 1.5,
       .threads = 1},
      {.name = "CpusetAcrossTwoL3s",
       .description = "pack:1 [numa(memory=64GB)] l3:4(size=16777216) l2:4(size=524288) l1d:1(size=32768) core:1 pu:2",
       .allowed = "0-5,8-9",
       .threads = 4},
      {.name = "CpusetOfEfficiencyCores", .description = "core-i7-1370p.xml", .allowed = "12-19", .threads = 8},
      {.name = "CpusetOfOneSiblingEach",
       .description = "pack:1 [numa(memory=64GB)] l3:1(size=8388608) l2:4(size=262144) l1d:1(size=32768) core:1 pu:2",
       .allowed = "1,3,5,7",
       .threads = 4},
  };
  return machines;
}

Topology topology_of(const Known& known) {
  if (!known.description.ends_with(".xml")) return described_topology(known.description, known.allowed);
  const auto file = std::filesystem::path(ROOFLINE_SOURCE_DIR) / "tests" / "topologies" / known.description;
  return described_topology(read_file(file), known.allowed);
}

bool has(const std::vector<int>& cpus, int cpu) { return std::find(cpus.begin(), cpus.end(), cpu) != cpus.end(); }

std::vector<int> cpus_of(const Topology& topology) {
  std::vector<int> all;
  for (const std::vector<int>& core : topology.cores) all.insert(all.end(), core.begin(), core.end());
  return all;
}

/// Whatever a user may ask: the default, one thread, SMT too, uneven numbers, every second CPU, all of them.
std::vector<PlacementRequest> requests_for(const Topology& topology, double quota) {
  std::vector<PlacementRequest> requests = {{.cpu_quota = quota}};
  const auto usual = static_cast<int>(place_threads(topology, {}).cpus.size());
  for (const int threads : {1, 2, 3, usual / 2, usual - 1, usual}) {
    if (threads >= 1 && threads <= usual) requests.push_back({.threads = threads});
  }
  const std::vector<int> all = cpus_of(topology);
  std::vector<int> some;
  for (std::size_t i = 0; i < all.size(); i += 2) some.push_back(all[i]);
  requests.push_back({.cpus = all});
  requests.push_back({.cpus = some});
  requests.push_back({.cpus = {all.back()}});
  requests.push_back({.cpus = {all.begin(), all.begin() + static_cast<std::ptrdiff_t>((all.size() + 2) / 3)}});
  return requests;
}

class OnEveryMachine : public ::testing::TestWithParam<Known> {
 protected:
  /// For every request: check(placement).
  template <class Check>
  void for_placements(Check check) const {
    for (const PlacementRequest& request : requests_for(topology, GetParam().quota)) {
      const Placement placement = place_threads(topology, request);
      SCOPED_TRACE(fmt::format("CPUs {}", cpu_list(placement.cpus)));
      check(request, placement);
    }
  }

  PlannedMachine planned(const Placement& placement) const { return {topology, placement.cpus, GetParam().free_bytes}; }

  /// What the calibration's audit says of sets of that size, by the caches that the device declares.
  Check audit(const Placement& placement, Level level, double bytes, std::optional<double> nearer = {},
              double least_times = kPastNearerCache) const {
    DeviceInfo info;
    info.caches = caches_under(topology, placement.cpus);
    const double own = cache_bytes(info, level);
    return audit_working_set(bytes, {nearer.value_or(nearer_cache_bytes(info, level))},
                             own > 0 ? std::optional(own) : std::nullopt, least_times);
  }

  Topology topology = topology_of(GetParam());
};

double streamed(double set_bytes, Pattern pattern, std::size_t workers, double launch_bytes) {
  StreamPlan plan;
  plan.pattern = pattern;
  plan.set_bytes = set_bytes;
  plan.launch_bytes = launch_bytes;
  return StreamSet::planned_bytes(plan, static_cast<int>(workers));
}

TEST_P(OnEveryMachine, ThreadsStandOnCpusThatTheyMayUseAndNoneTwice) {
  const std::vector<int> allowed = cpus_of(topology);
  EXPECT_THAT(std::set<int>(allowed.begin(), allowed.end()), SizeIs(allowed.size()));
  EXPECT_THAT(place_threads(topology, {.cpu_quota = GetParam().quota}).cpus, SizeIs(GetParam().threads));
  for_placements([&](const PlacementRequest& request, const Placement& placement) {
    const std::set<int> used(placement.cpus.begin(), placement.cpus.end());
    EXPECT_THAT(used, SizeIs(placement.cpus.size()));
    for (const int cpu : used) EXPECT_THAT(allowed, ::testing::Contains(cpu));
    if (request.threads > 0) {
      EXPECT_THAT(placement.cpus, SizeIs(request.threads));
    } else if (request.cpu_quota > 0) {
      EXPECT_LE(static_cast<double>(placement.cpus.size()), std::max(1.0, request.cpu_quota));
      EXPECT_FALSE(placement.notes.empty());
    } else if (request.cpus.empty()) {
      EXPECT_EQ(cores_under(topology, placement.cpus), static_cast<int>(placement.cpus.size()));  // one a core
    } else {
      EXPECT_EQ(used, std::set<int>(request.cpus.begin(), request.cpus.end()));
    }
  });
}

TEST_P(OnEveryMachine, CacheSetsPassTheirAuditOrAreRefusedWithAReason) {
  for_placements([&](const PlacementRequest&, const Placement& placement) {
    for (const Level level : {Level::l1, Level::l2, Level::l3}) {
      for (const Pattern pattern : kStreamPatterns) {
        SCOPED_TRACE(fmt::format("{}.{}", to_string(level), to_string(pattern)));
        const CachePlan plan = plan_cache(planned(placement), level, pattern);
        EXPECT_EQ(plan.refusal.empty(), plan.own || plan.in_turn) << plan.refusal;
        if (!plan.refusal.empty()) continue;
        for (const double launch : {16 * kMiB, 64 * kMiB}) {
          const double bytes = streamed(plan.set_bytes, pattern, placement.cpus.size(), launch);
          if (plan.own) {
            EXPECT_NE(audit(placement, level, bytes).status, CheckStatus::fail)
                << audit(placement, level, bytes).detail;
          } else {
            EXPECT_NE(audit(placement, level, bytes, plan.nearer_bytes).status, CheckStatus::fail);
          }
        }
      }
    }
  });
}

/// The audit looks at all instances together; sets that pile up under one of them would pass it.
TEST_P(OnEveryMachine, NoInstanceOfALevelHoldsMoreSetsThanItHasRoomFor) {
  for_placements([&](const PlacementRequest&, const Placement& placement) {
    for (const Level level : {Level::l1, Level::l2, Level::l3}) {
      const CachePlan plan = plan_cache(planned(placement), level, Pattern::triad);
      if (!plan.refusal.empty()) continue;
      for (const TopologyCache& cache : topology.caches) {
        const auto under =
            std::count_if(placement.cpus.begin(), placement.cpus.end(), [&](int cpu) { return has(cache.cpus, cpu); });
        if (cache.level == level) {
          EXPECT_LE(static_cast<double>(under) * plan.set_bytes, cache.bytes);
        } else if (cache.level > level && plan.own) {
          EXPECT_GE(static_cast<double>(under) * plan.set_bytes, under > 0 ? 4 * cache.bytes : 0);
        }
      }
    }
  });
}

TEST_P(OnEveryMachine, WorkersChangeSetsOnlyWithinOneCacheAndFindNoneOfTheirOwn) {
  for_placements([&](const PlacementRequest&, const Placement& placement) {
    const CachePlan plan = plan_cache(planned(placement), Level::l3, Pattern::read);
    if (!plan.in_turn) {
      EXPECT_TRUE(plan.groups.empty());
      return;
    }
    std::size_t members = 0;
    for (const std::vector<int>& group : plan.groups) {
      ASSERT_GE(group.size(), 2U);
      members += group.size();
      for (const TopologyCache& cache : topology.caches) {
        const auto under = static_cast<std::size_t>(std::count_if(group.begin(), group.end(), [&](int worker) {
          return has(cache.cpus, placement.cpus[static_cast<std::size_t>(worker)]);
        }));
        if (cache.level == Level::l3) {
          EXPECT_TRUE(under == 0 || under == group.size());
        } else if (under > 0) {
          EXPECT_GE(plan.set_bytes * static_cast<double>(group.size()), 4 * cache.bytes);
        }
      }
    }
    EXPECT_EQ(members, placement.cpus.size());
  });
}

TEST_P(OnEveryMachine, MainMemoryIsToldFromEveryCacheOrRefusedWithAReason) {
  for_placements([&](const PlacementRequest&, const Placement& placement) {
    for (const Pattern pattern : kStreamPatterns) {
      for (const int threads : {1, static_cast<int>(placement.cpus.size())}) {
        const DramPlan plan = plan_dram(planned(placement), threads, pattern);
        if (!plan.refusal.empty()) {
          EXPECT_GT(plan.bytes, GetParam().free_bytes / 2);
          continue;
        }
        const double bytes = streamed(plan.bytes / threads, pattern, static_cast<std::size_t>(threads), 16 * kMiB);
        EXPECT_NE(audit(placement, Level::dram, bytes).status, CheckStatus::fail)
            << audit(placement, Level::dram, bytes).detail;
        EXPECT_GE(bytes, 128 * kMiB);
        const double room = GetParam().free_bytes / 8;
        EXPECT_TRUE(bytes >= room ||
                    audit(placement, Level::dram, bytes, {}, kPastLastLevel).status != CheckStatus::fail);
        EXPECT_LE(bytes, 1.1 * GetParam().free_bytes / 2);
      }
    }
  });
}

TEST_P(OnEveryMachine, TheSweepAscendsWithinTheFreeMemory) {
  for_placements([&](const PlacementRequest&, const Placement& placement) {
    const std::vector<double> sizes = plan_sweep(planned(placement));
    ASSERT_GE(sizes.size(), 10U);
    EXPECT_TRUE(std::is_sorted(sizes.begin(), sizes.end()));
    EXPECT_LE(sizes.front() / static_cast<double>(placement.cpus.size()), 16 * 1024.0);
    EXPECT_LE(sizes.back(), GetParam().free_bytes / 2);
  });
}

TEST_P(OnEveryMachine, NodesAreComparedOnlyWhereBothHaveThreadsAndMemory) {
  for_placements([&](const PlacementRequest&, const Placement& placement) {
    const NumaPlan plan = plan_numa(planned(placement));
    EXPECT_EQ(plan.refusal.empty(), !plan.local.empty() && !plan.remote.empty()) << plan.refusal;
    EXPECT_FALSE(meet(plan.local, plan.remote));
    for (const NumaNode& node : topology.numa_nodes) {
      if (meet(node.cpus, plan.local) || meet(node.cpus, plan.remote)) {
        EXPECT_GE(node.memory_bytes, 256 * kMiB);
        EXPECT_LE(plan.bytes, node.memory_bytes / 2);
        EXPECT_NE(audit(placement, Level::dram, plan.bytes).status, CheckStatus::fail);
      }
    }
    for (const int cpu : plan.remote) EXPECT_THAT(placement.cpus, ::testing::Contains(cpu));
  });
}

TEST_P(OnEveryMachine, ALevelAddsUpOverTheInstancesInUse) {
  for_placements([&](const PlacementRequest&, const Placement& placement) {
    DeviceInfo info;
    info.caches = caches_under(topology, placement.cpus);
    for (const Level level : {Level::l1, Level::l2, Level::l3}) {
      double bytes = 0;
      for (const TopologyCache& cache : topology.caches) {
        if (cache.level == level && meet(cache.cpus, placement.cpus)) bytes += cache.bytes;
      }
      EXPECT_EQ(cache_bytes(info, level), bytes);
    }
  });
}

TEST_P(OnEveryMachine, WhatIsKnownOfItComesOut) {
  const Placement placement = place_threads(topology, {.cpu_quota = GetParam().quota});
  for (const Level level : {Level::l1, Level::l2, Level::l3}) {
    const auto& refused = GetParam().refused;
    const bool expected = std::find(refused.begin(), refused.end(), level) != refused.end();
    EXPECT_EQ(!plan_cache(planned(placement), level, Pattern::copy).refusal.empty(), expected)
        << to_string(level) << ": " << plan_cache(planned(placement), level, Pattern::copy).refusal;
  }
}

INSTANTIATE_TEST_SUITE_P(Topologies, OnEveryMachine, ::testing::ValuesIn(all_machines()),
                         [](const auto& known) { return known.param.name; });

const Known& machine_of(const std::string& name) {
  for (const Known& known : all_machines()) {
    if (known.name == name) return known;
  }
  throw Error("no machine is called " + name);
}

double default_set(const std::string& name, Level level, Pattern pattern) {
  const Topology topology = topology_of(machine_of(name));
  const Placement placement = place_threads(topology, {});
  return plan_cache({topology, placement.cpus, machine_of(name).free_bytes}, level, pattern).set_bytes;
}

/// Figures that were right before plans were separated from probes, and must stay.
TEST(Plans, GiveTheSetsThatMeasuredMachinesHad) {
  EXPECT_EQ(default_set("CascadeLakeVmOfTwoCores", Level::l1, Pattern::read), 16384);
  EXPECT_EQ(default_set("CascadeLakeVmOfTwoCores", Level::l1, Pattern::triad), 12288);
  EXPECT_EQ(default_set("CascadeLakeVmOfTwoCores", Level::l2, Pattern::read), 524288);
  EXPECT_EQ(default_set("CascadeLakeVmOfTwoCores", Level::l2, Pattern::triad), 528384);  // 43 x 12 KiB
  EXPECT_EQ(default_set("CascadeLakeVmOfTwoCores", Level::l3, Pattern::read), 4 * kMiB);
}

/// Six performance cores have 7.5 MiB of L2 before 24 MiB of L3: no room for four times as much, but changing sets.
TEST(Plans, ReadALaptopsL3InTurn) {
  const Topology topology = topology_of(machine_of("AlderLakeLaptop"));
  const Placement placement = place_threads(topology, {});
  const CachePlan read = plan_cache({topology, placement.cpus, 8 * kGiB}, Level::l3, Pattern::read);
  EXPECT_FALSE(read.own);
  EXPECT_TRUE(read.in_turn);
  EXPECT_EQ(read.nearer_bytes, 1.25 * kMiB);
}

TEST(Plans, CountTheLargestLevelWhereTheLastIsSmaller) {
  const Topology topology = topology_of(machine_of("Graviton2"));  // 64 MiB of L2 before 32 MiB of L3
  const Placement placement = place_threads(topology, {});
  EXPECT_EQ(plan_dram({topology, placement.cpus, 32 * kGiB}, 64, Pattern::read).bytes, 32 * 64 * kMiB);
  EXPECT_EQ(plan_dram({topology, placement.cpus, 8 * kGiB}, 64, Pattern::read).bytes, kGiB) << "an eighth of it";
  EXPECT_EQ(plan_dram({topology, placement.cpus, 1 * kGiB}, 64, Pattern::read).bytes, 256 * kMiB) << "never less";
}

TEST(Plans, RefuseMainMemoryThatCachesCouldHold) {
  const Topology topology = topology_of(machine_of("LittleMemoryUnderALargeL3"));
  const Placement placement = place_threads(topology, {});
  EXPECT_THAT(plan_dram({topology, placement.cpus, 1 * kGiB}, 2, Pattern::copy).refusal, mentions("1024 MiB"));
  EXPECT_EQ(plan_dram({topology, placement.cpus, 3 * kGiB}, 2, Pattern::copy).refusal, "");
}

TEST(Plans, FollowWhatAGuestHasOfItsHostsL3) {
  const Topology topology = described_topology(
      "pack:1 [numa(memory=24GB)] l3:1(size=503316480) l2:2(size=2097152) l1d:1(size=49152) core:1 pu:1", "");
  const std::vector<int> cpus = {0, 1};
  const auto planned = [&](double free_bytes, std::optional<double> measured) {
    return PlannedMachine{topology, cpus, free_bytes, measured};
  };
  EXPECT_TRUE(needs_measured_caches(planned(20 * kGiB, {})));
  EXPECT_FALSE(needs_measured_caches(planned(20 * kGiB, 147 * kMiB))) << "they are";
  EXPECT_FALSE(needs_measured_caches(planned(80 * kGiB, {}))) << "sets of 16 x the reported size have room";
  EXPECT_THAT(plan_dram(planned(20 * kGiB, {}), 2, Pattern::read).bytes, AllOf(Ge(2.4 * kGiB), Le(2.6 * kGiB)));
  EXPECT_GE(plan_dram(planned(6 * kGiB, 147 * kMiB), 2, Pattern::read).bytes, 16 * 147 * kMiB);
  EXPECT_NE(plan_dram(planned(3 * kGiB, {}), 2, Pattern::read).refusal, "");
  const DramPlan little = plan_dram(planned(3 * kGiB, 147 * kMiB), 2, Pattern::read);
  EXPECT_EQ(little.refusal, "");
  EXPECT_THAT(little.bytes, AllOf(Ge(4 * 147 * kMiB), Le(1.6 * kGiB)));
}

TEST(Plans, CompareTwoNodesAndNeverOneWithoutMemory) {
  Topology topology = topology_of(machine_of("HaswellClusterOnDie"));
  const Placement placement = place_threads(topology, {});
  const NumaPlan plan = plan_numa({topology, placement.cpus, 32 * kGiB});
  EXPECT_THAT(plan.local, SizeIs(6));
  EXPECT_THAT(plan.remote, SizeIs(6));
  topology.numa_nodes[1].memory_bytes = 0;
  const NumaPlan next = plan_numa({topology, placement.cpus, 32 * kGiB});
  EXPECT_EQ(next.local, plan.local);
  EXPECT_FALSE(meet(next.remote, topology.numa_nodes[1].cpus));
  for (std::size_t node = 1; node < topology.numa_nodes.size(); ++node) topology.numa_nodes[node].memory_bytes = 0;
  EXPECT_THAT(plan_numa({topology, placement.cpus, 32 * kGiB}).refusal, HasSubstr("memory"));
}

TEST(CoreKinds, OfOneDesignAreNotTakenForEfficiencyCores) {
  const CoreKind slow{.rank = 0, .type = "", .max_mhz = 5200};
  const CoreKind favoured{.rank = 1, .type = "", .max_mhz = 5700};
  const CoreKind compact{.rank = 0, .type = "", .max_mhz = 3300};
  EXPECT_FALSE(differ_in_design(slow, favoured));
  EXPECT_TRUE(differ_in_design(compact, favoured));
  EXPECT_TRUE(differ_in_design({.rank = 0, .type = "IntelAtom"}, {.rank = 1, .type = "IntelCore"}));
  EXPECT_FALSE(differ_in_design({.rank = 0, .type = "", .capacity = 997}, {.rank = 1, .type = "", .capacity = 1024}));
  EXPECT_TRUE(differ_in_design({.rank = 0, .type = "", .capacity = 731}, {.rank = 1, .type = "", .capacity = 997}));
  EXPECT_FALSE(differ_in_design({.rank = -1, .type = "a"}, {.rank = -1, .type = "b"}));
}

TEST(DescribedTopology, RefusesNonsense) {
  EXPECT_THROW(described_topology("no such thing"), DeviceError);
  EXPECT_THROW(described_topology("<html>"), DeviceError);
  EXPECT_THROW(described_topology("pack:1 core:2 pu:1", "9"), DeviceError);
}

}  // namespace
}  // namespace roofline
