// Which CPUs threads are pinned to, lists of CPUs, and the sets that identities name.
#include "device/cpu/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "model/error.hpp"
#include "tests/support/mentions.hpp"

namespace roofline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Four cores with an SMT sibling each.
Topology four_equal_cores() {
  Topology topology;
  topology.cores = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
  topology.ranks = {0, 0, 0, 0};
  return topology;
}

/// Two performance cores with two threads, four efficiency cores.
Topology hybrid() {
  Topology topology;
  topology.cores = {{0, 1}, {2, 3}, {4}, {5}, {6}, {7}};
  topology.ranks = {1, 1, 0, 0, 0, 0};
  return topology;
}

std::string refusal(const Topology& topology, const PlacementRequest& request) {
  try {
    place_threads(topology, request);
  } catch (const UsageError& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  return "accepted";
}

TEST(PlaceThreads, PhysicalCoresComeFirst) {
  EXPECT_THAT(place_threads(four_equal_cores(), {}).cpus, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(place_threads(four_equal_cores(), {.threads = 2}).cpus, ElementsAre(0, 1));
  EXPECT_THAT(place_threads(four_equal_cores(), {.threads = 6}).cpus, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(place_threads(four_equal_cores(), {}).notes, IsEmpty());
}

TEST(PlaceThreads, AQuotaLimitsTheDefaultAndIsSaid) {
  const Placement limited = place_threads(four_equal_cores(), {.cpu_quota = 2.5});
  EXPECT_THAT(limited.cpus, ElementsAre(0, 1));
  EXPECT_THAT(limited.notes, ElementsAre(mentions("2 threads", "quota", "2.5 CPUs")));
  EXPECT_THAT(place_threads(four_equal_cores(), {.cpu_quota = 0.5}).notes,
              ElementsAre(mentions("1 thread:", "0.5 CPUs")));
  EXPECT_THAT(place_threads(four_equal_cores(), {.cpu_quota = 0.5}).cpus, ElementsAre(0));
  EXPECT_THAT(place_threads(four_equal_cores(), {.cpu_quota = 8}).notes, IsEmpty());
  EXPECT_THAT(place_threads(four_equal_cores(), {.threads = 3, .cpu_quota = 1}).cpus, ElementsAre(0, 1, 2));
  EXPECT_THAT(place_threads(four_equal_cores(), {.cpus = {1, 2, 3}, .cpu_quota = 1.5}).cpus, ElementsAre(1));
}

TEST(PlaceThreads, RefusesWhatTheMachineLacks) {
  EXPECT_THAT(refusal(four_equal_cores(), {.threads = 9}), mentions("8 logical CPUs", "--threads 8"));
  EXPECT_THAT(refusal(four_equal_cores(), {.threads = -1}), HasSubstr("negative"));
  EXPECT_THAT(refusal(four_equal_cores(), {.cpus = {0, 8, 11}}), mentions("--cpus 0,8,11: ", "CPU 8,11", "--cpus 0-7"));
  EXPECT_THAT(refusal(four_equal_cores(), {.threads = 3, .cpus = {0, 1}}), mentions("--cpus", "2 logical CPUs"));
}

TEST(PlaceThreads, OnlyPerformanceCoresUnlessEfficiencyCoresAreNamed) {
  const Placement usual = place_threads(hybrid(), {});
  EXPECT_THAT(usual.cpus, ElementsAre(0, 2));
  EXPECT_THAT(usual.notes, ElementsAre(mentions("CPU 0-3", "--cpus 0-7")));
  EXPECT_THAT(place_threads(hybrid(), {.threads = 4}).cpus, ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(refusal(hybrid(), {.threads = 5}), mentions("4 logical CPUs", "--threads 4"));
  const Placement named = place_threads(hybrid(), {.cpus = {4, 5}});
  EXPECT_THAT(named.cpus, ElementsAre(4, 5));
  EXPECT_THAT(named.notes, IsEmpty());
}

TEST(PlaceThreads, NamedCpusGetAThreadEachInTheOrderOfCores) {
  EXPECT_THAT(place_threads(four_equal_cores(), {.cpus = {7, 0, 4, 3}}).cpus, ElementsAre(0, 3, 4, 7));
  EXPECT_THAT(place_threads(four_equal_cores(), {.threads = 2, .cpus = {3, 2, 1}}).cpus, ElementsAre(1, 2));
}

TEST(PlaceThreads, OnlyAnotherSetThanTheUsualOneIsChosen) {
  EXPECT_FALSE(place_threads(four_equal_cores(), {}).chosen);
  EXPECT_FALSE(place_threads(four_equal_cores(), {.threads = 2}).chosen);
  EXPECT_FALSE(place_threads(four_equal_cores(), {.cpus = {3, 2, 1, 0}}).chosen);  // what --threads 4 does
  EXPECT_FALSE(place_threads(four_equal_cores(), {.cpus = {0, 1}}).chosen);
  EXPECT_TRUE(place_threads(four_equal_cores(), {.cpus = {1, 2}}).chosen);
  EXPECT_TRUE(place_threads(hybrid(), {.cpus = {0, 1, 2, 3, 4, 5, 6, 7}}).chosen);
}

TEST(CpuList, IsReadAndWritten) {
  EXPECT_THAT(parse_cpu_list("0-3,8", "--cpus"), ElementsAre(0, 1, 2, 3, 8));
  EXPECT_THAT(parse_cpu_list("5", "--cpus"), ElementsAre(5));
  EXPECT_EQ(cpu_list({8, 3, 1, 2, 0}), "0-3,8");
  EXPECT_EQ(cpu_list({5}), "5");
  EXPECT_EQ(cpu_list({}), "");
}

TEST(CpuList, RefusesWhatIsNone) {
  for (const char* text : {"", "a", "1-", "-1", "3-1", "1,,2", "1, 2", "0-3,", "1.5", "99999999999", "8192"}) {
    EXPECT_THROW(parse_cpu_list(text, "--cpus"), UsageError) << "'" << text << "'";
  }
  try {
    parse_cpu_list("0-3,2", "--cpus");
    FAIL() << "nothing was thrown";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), mentions("--cpus 0-3,2: ", "CPU 2 "));
    EXPECT_THAT(error.hint(), mentions("--cpus 0-3,8"));
  }
}

TEST(CpuSetName, TellsSetsApartAndFitsAFileName) {
  EXPECT_EQ(cpu_set_name({0, 1, 2, 3, 8}), "0to3-8");
  EXPECT_NE(cpu_set_name({0, 1, 2, 3, 8}), cpu_set_name({0, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(cpu_set_name({2, 1}), cpu_set_name({1, 2}));
  std::set<std::string> names;
  for (int count = 1; count < 200; ++count) {
    std::vector<int> even;
    for (int i = 0; i < count; ++i) even.push_back(2 * i);
    const std::string name = cpu_set_name(even);
    EXPECT_LE(name.size(), 60U);
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string::npos);
    EXPECT_TRUE(names.insert(name).second) << name;
  }
}

TEST(WithSiblings, AddsTheOtherThreadsOfTheSameCores) {
  EXPECT_THAT(with_siblings(four_equal_cores(), {1, 6}), ElementsAre(1, 5, 2, 6));
  EXPECT_THAT(with_siblings(hybrid(), {4}), ElementsAre(4));
}

}  // namespace
}  // namespace roofline
