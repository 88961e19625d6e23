// A work queue pops everything once, whichever worker pops it, and leaves little to a slow worker.
#include "device/cpu/work_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace roofline {
namespace {

TEST(StaticPartition, CoversWithoutGapOrOverlap) {
  for (const int workers : {1, 2, 3, 7, 64}) {
    for (const std::int64_t count : {0, 1, 5, 63, 64, 65, 1000, 4097}) {
      for (const std::int64_t grain : {1, 8, 64, 5000}) {
        std::int64_t expected = 0;
        for (int worker = 0; worker < workers; ++worker) {
          const auto [begin, end] = static_partition(count, grain, worker, workers);
          EXPECT_EQ(begin, expected);
          EXPECT_LE(begin, end);
          if (end != count) {
            EXPECT_EQ(end % grain, 0);
          }
          expected = end;
        }
        EXPECT_EQ(expected, count);
      }
    }
  }
}

TEST(StaticPartition, DiffersByOneGrainAtMost) {
  for (int worker = 0; worker < 7; ++worker) {
    const auto [begin, end] = static_partition(1000, 10, worker, 7);
    EXPECT_GE(end - begin, 140);
    EXPECT_LE(end - begin, 150);
  }
}

struct Range {
  std::int64_t count, grain, min_chunk;
};

/// Simulates workers of different speeds (speeds[i] elements per time step) and counts in `popped` how often each
/// element was popped. Returns the makespan relative to equal workers with the same total speed.
double time_of(WorkQueue& queue, const Range& range, const std::vector<double>& speeds, std::vector<int>& popped) {
  queue.reset(range.count, range.grain, range.min_chunk);
  popped.assign(static_cast<std::size_t>(range.count), 0);
  std::vector<double> free(speeds.size(), 0);
  std::vector<bool> done(speeds.size(), false);
  double end_of_all = 0, speed = 0;
  for (const double one : speeds) speed += one;
  while (std::find(done.begin(), done.end(), false) != done.end()) {
    std::size_t next = speeds.size();
    for (std::size_t i = 0; i < speeds.size(); ++i) {
      if (!done[i] && (next == speeds.size() || free[i] < free[next])) next = i;
    }
    const auto [begin, end] = queue.pop(static_cast<int>(next));
    if (begin == end) {
      done[next] = true;
      continue;
    }
    EXPECT_TRUE(begin % range.grain == 0 && (end % range.grain == 0 || end == range.count)) << begin << ' ' << end;
    for (std::int64_t i = begin; i < end; ++i) ++popped[static_cast<std::size_t>(i)];
    free[next] += static_cast<double>(end - begin) / speeds[next];
    end_of_all = std::max(end_of_all, free[next]);
  }
  return end_of_all * speed / static_cast<double>(range.count);
}

TEST(WorkQueue, EveryElementIsPoppedOnce) {
  std::vector<int> popped;
  for (const int workers : {1, 2, 5, 16, 130}) {
    WorkQueue queue(workers);
    for (const Range& range :
         {Range{1, 1, 1}, {1000, 1, 1}, {1000, 1, 70}, {4097, 64, 1}, {100000, 512, 5000}, {3, 8, 1}}) {
      std::vector<double> speeds(static_cast<std::size_t>(workers), 1.0);
      time_of(queue, range, speeds, popped);
      EXPECT_EQ(std::count(popped.begin(), popped.end(), 1), range.count) << workers << ' ' << range.count;
      speeds[0] = 0.01;
      time_of(queue, range, speeds, popped);
      EXPECT_EQ(std::count(popped.begin(), popped.end(), 1), range.count) << workers << ' ' << range.count;
    }
  }
}

/// With one of sixteen workers at half speed (a shared core), a static schedule takes 1.94 times the ideal time; work
/// stealing takes at most 1.13 times. With equal workers it adds nothing.
TEST(WorkQueue, WorkOfASlowWorkerIsStolen) {
  constexpr Range kRange{1 << 20, 1, 1};
  std::vector<int> popped;
  for (const std::size_t workers : {2, 16, 64}) {
    WorkQueue queue(static_cast<int>(workers));
    std::vector<double> speeds(workers, 1.0);
    EXPECT_LT(time_of(queue, kRange, speeds, popped), 1.001);
    speeds[workers / 2] = 0.5;
    EXPECT_LT(time_of(queue, kRange, speeds, popped), 1.13);
    for (std::size_t i = 0; i < workers; i += 2) speeds[i] = 0.5;
    EXPECT_LT(time_of(queue, kRange, speeds, popped), 1.13);
    // A worker that never wakes up: all of its range is stolen.
    std::fill(speeds.begin(), speeds.end(), 1.0);
    speeds[0] = 1e-9;
    queue.reset(kRange.count, 1, 1);
    std::int64_t sum = 0;
    queue.drain(1, [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
    EXPECT_EQ(sum, kRange.count);
  }
}

/// Counters of ranges that stay empty keep an old generation number, and generation numbers wrap around.
TEST(WorkQueue, ResetsManyTimes) {
  WorkQueue queue(2);
  queue.reset(2, 1, 1);
  EXPECT_NE(queue.pop(1), queue.pop(0));
  for (int i = 1; i < 70000; ++i) {
    queue.reset(1, 1, 1);
    ASSERT_EQ(queue.pop(0), std::make_pair(std::int64_t{0}, std::int64_t{1})) << i;
    if (i % 65535 < 3 || i % 65536 < 3) {
      queue.reset(2, 1, 1);
      ASSERT_EQ(queue.pop(1), std::make_pair(std::int64_t{1}, std::int64_t{2})) << i;
    }
  }
}

TEST(ForRows, CutsWhereRowsEnd) {
  std::vector<std::array<std::int64_t, 3>> parts;
  for_rows(3, 11, 4, [&](std::int64_t row, std::int64_t first, std::int64_t last) {
    parts.push_back({row, first, last});
  });
  EXPECT_EQ(parts, (std::vector<std::array<std::int64_t, 3>>{{0, 3, 4}, {1, 0, 4}, {2, 0, 3}}));
  for_rows(5, 5, 4, [](auto, auto, auto) { FAIL() << "there is nothing"; });
}

TEST(WorkQueue, ThreadsPopEveryElementOnce) {
  constexpr int kWorkers = 4;
  WorkQueue queue(kWorkers);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::atomic<int>> popped(5003);
    queue.reset(5003, 2, 1);
    std::vector<std::thread> threads;
    for (int worker = 0; worker < kWorkers; ++worker) {
      threads.emplace_back([&, worker] {
        queue.drain(worker, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) ++popped[static_cast<std::size_t>(i)];
        });
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::atomic<int>& count : popped) ASSERT_EQ(count, 1);
  }
}

}  // namespace
}  // namespace roofline
