// The pool: every worker runs, ranges cover without overlap, exceptions arrive, nothing hangs when it is
// oversubscribed.
#include "device/cpu/thread_pool.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "model/error.hpp"

namespace roofline {
namespace {

int pinned_to() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  if (CPU_COUNT(&set) != 1) return -1;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) return cpu;
  }
  return -1;
}

TEST(ThreadPool, RunsEveryWorkerOncePerRegion) {
  for (const int workers : {1, 2, 3, 9, 20}) {  // 9 and 20 workers make more than one group
    ThreadPool pool(std::vector<int>(static_cast<std::size_t>(workers), -1));
    ASSERT_EQ(pool.size(), workers);
    std::vector<std::atomic<int>> runs(static_cast<std::size_t>(workers));
    for (int region = 0; region < 200; ++region) {
      pool.run([&runs](int worker) { ++runs[static_cast<std::size_t>(worker)]; });
    }
    for (const std::atomic<int>& count : runs) EXPECT_EQ(count, 200);
  }
}

TEST(ThreadPool, WritesOfWorkersAreVisibleAfterwards) {
  ThreadPool pool({-1, -1, -1});
  std::vector<std::int64_t> values(10000);
  for (int region = 1; region <= 50; ++region) {
    pool.for_range(10000, 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) values[static_cast<std::size_t>(i)] += i;
    });
    ASSERT_EQ(std::accumulate(values.begin(), values.end(), std::int64_t{0}), region * 49995000LL);
  }
}

TEST(ThreadPool, PiecesCoverAllOnce) {
  for (const int workers : {1, 2, 3, 9}) {
    ThreadPool pool(std::vector<int>(static_cast<std::size_t>(workers), -1));
    std::vector<std::atomic<int>> taken(10007);
    for (int region = 1; region <= 50; ++region) {
      pool.for_chunks(10007, 16, 64, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) ++taken[static_cast<std::size_t>(i)];
      });
      for (const std::atomic<int>& count : taken) ASSERT_EQ(count, region);
    }
    EXPECT_THROW(pool.for_chunks(1, 1, 1, [&](auto, auto) { pool.for_chunks(1, 1, 1, [](auto, auto) {}); }), Error);
    pool.for_chunks(0, 1, 1, [](auto, auto) { FAIL() << "there is nothing to do"; });
  }
}

TEST(ThreadPool, CallerIsWorkerZero) {
  ThreadPool pool({-1, -1});
  std::thread::id zero;
  std::thread::id one;
  pool.run([&](int worker) { (worker == 0 ? zero : one) = std::this_thread::get_id(); });
  EXPECT_EQ(zero, std::this_thread::get_id());
  EXPECT_NE(one, std::this_thread::get_id());
}

TEST(ThreadPool, RethrowsTheLowestWorkersExceptionAndGoesOn) {
  ThreadPool pool({-1, -1, -1});
  try {
    pool.run([](int worker) {
      if (worker > 0) throw std::runtime_error(std::to_string(worker));
    });
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "1");
  }
  std::atomic<int> runs{0};
  pool.run([&runs](int) { ++runs; });
  EXPECT_EQ(runs, 3);
}

TEST(ThreadPool, RefusesARegionWithinARegion) {
  ThreadPool pool({-1, -1});
  EXPECT_THROW(pool.run([&pool](int worker) {
    if (worker == 0) pool.run([](int) {});
  }),
               Error);
  EXPECT_THROW(ThreadPool({}), Error);
}

TEST(ThreadPool, WakesSleepersAfterAPause) {
  ThreadPool pool({-1, -1, -1, -1});
  std::atomic<int> runs{0};
  for (int region = 0; region < 20; ++region) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // far past the spinning
    pool.run([&runs](int) { ++runs; });
  }
  EXPECT_EQ(runs, 80);
}

TEST(ThreadPool, AManifoldOfThreadsOnFewCoresStillGetsOn) {
  ThreadPool pool(std::vector<int>(40, -1));
  std::atomic<int> runs{0};
  for (int region = 0; region < 100; ++region) pool.run([&runs](int) { ++runs; });
  EXPECT_EQ(runs, 4000);
}

TEST(ThreadPool, PinsWorkersAndTheCallerForAsLongAsAsked) {
  cpu_set_t before;
  CPU_ZERO(&before);
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  int cpu = 0;
  while (!CPU_ISSET(static_cast<std::size_t>(cpu), &before)) ++cpu;
  ThreadPool pool({cpu, cpu});
  int worker_one = -2;
  pool.run([&](int worker) {
    if (worker == 1) worker_one = pinned_to();
  });
  if (worker_one == -1 && CPU_COUNT(&before) > 1) GTEST_SKIP() << "pinning is not allowed here";
  EXPECT_EQ(worker_one, cpu);
  {
    const ThreadPool::PinnedCaller pinned(pool);
    EXPECT_EQ(pinned_to(), cpu);
  }
  cpu_set_t after;
  CPU_ZERO(&after);
  sched_getaffinity(0, sizeof after, &after);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(ThreadPool, OpensTheCallerToAllWorkersUntilItsPinEnds) {
  cpu_set_t before, inside;
  CPU_ZERO(&before);
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  std::vector<int> cpus;
  for (int cpu = 0; cpus.size() < 2 && cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &before)) cpus.push_back(cpu);
  }
  const auto allowed = [&] {
    CPU_ZERO(&inside);
    sched_getaffinity(0, sizeof inside, &inside);
    return static_cast<std::size_t>(CPU_COUNT(&inside));
  };
  const ThreadPool pool(cpus);
  pool.open_caller();
  EXPECT_EQ(allowed(), static_cast<std::size_t>(CPU_COUNT(&before))) << "without a pin there is nothing to open";
  {
    const ThreadPool::PinnedCaller pinned(pool);
    if (allowed() != 1) GTEST_SKIP() << "pinning is not allowed here";
    pool.open_caller();
    EXPECT_EQ(allowed(), cpus.size());
    {
      const ThreadPool::PinnedCaller again(pool);
      EXPECT_EQ(allowed(), 1U);
    }
    EXPECT_EQ(allowed(), cpus.size());
  }
  EXPECT_EQ(allowed(), static_cast<std::size_t>(CPU_COUNT(&before)));
}

}  // namespace
}  // namespace roofline
