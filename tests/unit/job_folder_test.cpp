// Ranks that each leave a recording for the first one.
#include "profile/job_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sample/host_samples.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

World world_of_rank(int rank, int size) {
  return {.rank = rank, .size = size, .local_rank = rank, .launcher = "", .job = ""};
}

class JobFolders : public testing::Test {
 protected:
  JobFolders() : folder_(fs::path(testing::TempDir()) / "job_folder_test") { fs::remove_all(folder_); }
  ~JobFolders() override { fs::remove_all(folder_); }

  std::vector<std::string> names(const JobFolder& leader, double patience_s = 0.3) const {
    std::vector<std::string> found;
    for (const fs::path& folder : leader.await(patience_s, [](const std::string&) {})) {
      found.push_back(folder.filename().string());
    }
    return found;
  }

  fs::path folder_;
};

TEST_F(JobFolders, TheFirstRankFindsAllThatHaveEnded) {
  const JobFolder first(folder_, world_of_rank(0, 3)), second(folder_, world_of_rank(1, 3)),
      third(folder_, world_of_rank(2, 3));
  EXPECT_TRUE(first.leads());
  EXPECT_FALSE(second.leads());
  first.end();
  third.end();
  EXPECT_THAT(names(first), testing::ElementsAre("rank-000000", "rank-000002"));  // after its patience
  second.end();
  EXPECT_THAT(names(first, 600), testing::ElementsAre("rank-000000", "rank-000001", "rank-000002"));
  first.remove();
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(JobFolders, RanksThatNeverBeganAreNotWaitedFor) {
  const JobFolder first(folder_, world_of_rank(0, 1000));
  first.end();
  EXPECT_THAT(names(first, 600), testing::ElementsAre("rank-000000"));
}

TEST_F(JobFolders, WhatAnEarlierStartLeftIsNotTaken) {
  for (const int rank : {0, 1}) {
    const JobFolder earlier(folder_, world_of_rank(rank, 2));
    earlier.end();
  }
  const fs::path old = folder_ / "rank-000001";
  std::ofstream(old / "begun") << "1000.0\n";
  std::ofstream(old / "ended") << "1001.0\n";
  fs::create_directories(folder_ / "rank-000009");  // of no rank of this job
  const JobFolder first(folder_, world_of_rank(0, 2));
  EXPECT_FALSE(fs::exists(first.own() / "ended"));
  first.end();
  EXPECT_THAT(names(first), testing::ElementsAre("rank-000000"));
}

TEST(HostSamplesOfRanks, AreOneListWithOnePlaceForEachLine) {
  const auto samples_of = [](std::int64_t pid, std::uint64_t time) {
    HostSamples samples;
    samples.frames = {{.function = "main", .file = "a.c", .line = 9, .python = false, .own = true},
                      {.function = pid == 1 ? "one" : "two", .file = "a.c", .line = 2, .python = false, .own = true}};
    samples.stacks = {{1, 0}};
    samples.threads.push_back({.pid = pid, .tid = pid, .parent = 0, .name = "a", .command = "a", .main = true});
    samples.samples.push_back({.time = time, .thread = 0, .stack = 0, .state = ThreadState::running, .seconds = 1});
    samples.samples.push_back(
        {.time = time + 10, .thread = 0, .stack = -1, .state = ThreadState::gil, .gil_holder = 0});
    samples.start = time;
    samples.end = time + 10;
    return samples;
  };
  HostSamples all = samples_of(1, 5);
  append(all, samples_of(2, 1));
  EXPECT_EQ(all.frames.size(), 3U);
  EXPECT_EQ(all.start, 1U);
  EXPECT_EQ(all.end, 15U);
  ASSERT_EQ(all.samples.size(), 4U);
  const HostSample& first = all.samples[0];
  EXPECT_EQ(all.threads[static_cast<std::size_t>(first.thread)].pid, 2);
  const std::vector<int>& stack = all.stacks[static_cast<std::size_t>(first.stack)];
  EXPECT_EQ(all.frames[static_cast<std::size_t>(stack[0])].function, "two");
  EXPECT_EQ(stack[1], all.stacks[0][1]);
  EXPECT_EQ(all.samples[2].gil_holder, 1);
  EXPECT_EQ(all.samples[2].stack, -1);
}

}  // namespace
}  // namespace roofline
