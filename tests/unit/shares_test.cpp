// Shares that are dealt out and taken over: everything once, whoever takes it, and little of it with a slow worker.
#include "device/cpu/shares.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace roofline {
namespace {

TEST(ShareOf, CoversWithoutGapOrOverlap) {
  for (const int workers : {1, 2, 3, 7, 64}) {
    for (const std::int64_t count : {0, 1, 5, 63, 64, 65, 1000, 4097}) {
      for (const std::int64_t grain : {1, 8, 64, 5000}) {
        std::int64_t expected = 0;
        for (int worker = 0; worker < workers; ++worker) {
          const auto [begin, end] = share_of(count, grain, worker, workers);
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

TEST(ShareOf, DiffersByOneGrainAtMost) {
  for (int worker = 0; worker < 7; ++worker) {
    const auto [begin, end] = share_of(1000, 10, worker, 7);
    EXPECT_GE(end - begin, 140);
    EXPECT_LE(end - begin, 150);
  }
}

struct Deal {
  std::int64_t count, grain, least;
};

/// How often each unit is taken by workers that take in turn, each for as long as a piece keeps it: speeds[i] units a
/// step. Returns the time that all of it takes, of what equal workers of the same speed in all would need.
double time_of(Shares& shares, const Deal& deal, const std::vector<double>& speeds, std::vector<int>& taken) {
  shares.deal(deal.count, deal.grain, deal.least);
  taken.assign(static_cast<std::size_t>(deal.count), 0);
  std::vector<double> free(speeds.size(), 0);
  std::vector<bool> done(speeds.size(), false);
  double end_of_all = 0, speed = 0;
  for (const double one : speeds) speed += one;
  while (std::find(done.begin(), done.end(), false) != done.end()) {
    std::size_t next = speeds.size();
    for (std::size_t i = 0; i < speeds.size(); ++i) {
      if (!done[i] && (next == speeds.size() || free[i] < free[next])) next = i;
    }
    const auto [begin, end] = shares.take(static_cast<int>(next));
    if (begin == end) {
      done[next] = true;
      continue;
    }
    EXPECT_TRUE(begin % deal.grain == 0 && (end % deal.grain == 0 || end == deal.count)) << begin << ' ' << end;
    for (std::int64_t i = begin; i < end; ++i) ++taken[static_cast<std::size_t>(i)];
    free[next] += static_cast<double>(end - begin) / speeds[next];
    end_of_all = std::max(end_of_all, free[next]);
  }
  return end_of_all * speed / static_cast<double>(deal.count);
}

TEST(Shares, AreTakenOnceHoweverTheyAreCut) {
  std::vector<int> taken;
  for (const int workers : {1, 2, 5, 16, 130}) {
    Shares shares(workers);
    for (const Deal& deal :
         {Deal{1, 1, 1}, {1000, 1, 1}, {1000, 1, 70}, {4097, 64, 1}, {100000, 512, 5000}, {3, 8, 1}}) {
      std::vector<double> speeds(static_cast<std::size_t>(workers), 1.0);
      time_of(shares, deal, speeds, taken);
      EXPECT_EQ(std::count(taken.begin(), taken.end(), 1), deal.count) << workers << ' ' << deal.count;
      speeds[0] = 0.01;
      time_of(shares, deal, speeds, taken);
      EXPECT_EQ(std::count(taken.begin(), taken.end(), 1), deal.count) << workers << ' ' << deal.count;
    }
  }
}

/// One worker of sixteen at half the speed, as one whose core another has too: fixed shares take 1.94 times as long as
/// they should, these at most an eighth longer. Where nobody is slow nothing is lost.
TEST(Shares, OfASlowWorkerAreTakenOver) {
  constexpr Deal kDeal{1 << 20, 1, 1};
  std::vector<int> taken;
  for (const std::size_t workers : {2, 16, 64}) {
    Shares shares(static_cast<int>(workers));
    std::vector<double> speeds(workers, 1.0);
    EXPECT_LT(time_of(shares, kDeal, speeds, taken), 1.001);
    speeds[workers / 2] = 0.5;
    EXPECT_LT(time_of(shares, kDeal, speeds, taken), 1.13);
    for (std::size_t i = 0; i < workers; i += 2) speeds[i] = 0.5;
    EXPECT_LT(time_of(shares, kDeal, speeds, taken), 1.13);
    // One that sleeps all the time: what it has not begun with is nobody's loss.
    std::fill(speeds.begin(), speeds.end(), 1.0);
    speeds[0] = 1e-9;
    shares.deal(kDeal.count, 1, 1);
    std::int64_t sum = 0;
    shares.take_all(1, [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
    EXPECT_EQ(sum, kDeal.count);
  }
}

/// Shares that stay empty keep the number of the deal that they were last part of, and numbers come back.
TEST(Shares, AreDealtAnewForever) {
  Shares shares(2);
  shares.deal(2, 1, 1);
  EXPECT_NE(shares.take(1), shares.take(0));
  for (int i = 1; i < 70000; ++i) {
    shares.deal(1, 1, 1);
    ASSERT_EQ(shares.take(0), std::make_pair(std::int64_t{0}, std::int64_t{1})) << i;
    if (i % 65535 < 3 || i % 65536 < 3) {
      shares.deal(2, 1, 1);
      ASSERT_EQ(shares.take(1), std::make_pair(std::int64_t{1}, std::int64_t{2})) << i;
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

TEST(Shares, AreTakenOnceByThreads) {
  constexpr int kWorkers = 4;
  Shares shares(kWorkers);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::atomic<int>> taken(5003);
    shares.deal(5003, 2, 1);
    std::vector<std::thread> threads;
    for (int worker = 0; worker < kWorkers; ++worker) {
      threads.emplace_back([&, worker] {
        shares.take_all(worker, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) ++taken[static_cast<std::size_t>(i)];
        });
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::atomic<int>& count : taken) ASSERT_EQ(count, 1);
  }
}

}  // namespace
}  // namespace roofline
