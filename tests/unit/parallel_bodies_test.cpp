// Unequal work of OpenMP threads, beside other programs that take CPUs from them; and what their waits are called.
#include "report/parallel_bodies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/host_sums.hpp"
#include "report/host_causes.hpp"
#include "report/report.hpp"
#include "report/wait_words.hpp"
#include "tests/unit/host_samples_builder.hpp"

namespace roofline {
namespace {

using testing::SizeIs;

HostFrame own(int line, const std::string& function) { return {function, "/home/u/gram.c", line, false, true}; }
HostFrame library(const std::string& function, const std::string& file) { return {function, file, 0, false, false}; }

/// Hundredths of a second that a thread computes, lacks a CPU, waits for the others, and spins for them.
struct Shares {
  int computes = 0, ready = 0, waits = 0, spins = 0;
};

HostProfile region_of(const Shares& of_first, const Shares& of_second) {
  HostSamplesBuilder builder;
  const int first = builder.thread(10, 10), second = builder.thread(10, 11);
  const std::string runtime = "/usr/lib/libgomp.so.1.0.0";
  const int body = builder.stack({own(16, "gram._omp_fn.0"), library("GOMP_parallel", runtime), own(21, "gram")}),
            body_of_second = builder.stack({own(25, "gram._omp_fn.0"), library("[unknown]", runtime)}),
            waits = builder.stack({library("[unknown]", runtime), library("start_thread", "/usr/lib/libc.so.6")});
  const auto add = [&](int thread, const Shares& shares, int in_body) {
    std::uint64_t time = 0;
    const auto sample = [&](int number, ThreadState state, int stack) {
      for (int i = 0; i < number; ++i) builder.sample(thread, time += 10'000'000, state, stack);
    };
    sample(shares.computes, ThreadState::running, in_body);
    sample(shares.ready, ThreadState::runnable, in_body);
    sample(shares.waits, ThreadState::lock, waits);
    sample(shares.spins, ThreadState::running, waits);
  };
  add(first, of_first, body);
  add(second, of_second, body_of_second);
  return host_profile(builder.take());
}

TEST(ParallelBodies, HaveUnequalWorkByCpuTime) {
  const auto found = unequal_parallel_work(region_of({.computes = 480, .ready = 250}, {240, 120, 270, 0}));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->id, "unequal-work");
  EXPECT_EQ(found->line, "gram.c:25 gram") << "the first line behind the beginning of the function";
  EXPECT_NEAR(found->seconds, 1.2, 0.01);
  EXPECT_TRUE(unequal_parallel_work(region_of({.computes = 480}, {.computes = 100, .spins = 380}))) << "it spins";
}

TEST(ParallelBodies, OfEqualWorkHaveNoCause) {
  EXPECT_FALSE(unequal_parallel_work(region_of({.computes = 400, .ready = 250}, {380, 270, 0, 0})));
  EXPECT_FALSE(unequal_parallel_work(region_of({.computes = 480}, {.computes = 240, .ready = 240})))
      << "a dynamic schedule, of which a thread that lacks a CPU has less";
  EXPECT_FALSE(unequal_parallel_work(region_of({.computes = 480}, {.computes = 430, .waits = 50}))) << "little";
}

/// With counts, the verdict of an uneven loop says the same.
TEST(ParallelBodies, OfCountedLoopsHaveOneCause) {
  Report report;
  Profile& profile = report.profile.emplace();
  profile.host = region_of({.computes = 480}, {.computes = 100, .waits = 380});
  profile.emulated.emplace();
  ASSERT_THAT(host_causes(report), SizeIs(1)) << "no loop with counts";
  EXPECT_EQ(host_causes(report)[0].id, "unequal-work");
  CpuLoop& loop = report.points.emplace_back().profiled.emplace().loop.emplace();
  loop.busiest = loop.together = 1.6;
  EXPECT_THAT(host_causes(report), SizeIs(0));
  profile.host = region_of({.computes = 400}, {.computes = 390, .waits = 10});
  report.points.clear();
  EXPECT_THAT(host_causes(report), SizeIs(0)) << "equal work";
}

TEST(WaitWords, NameTheEndOfThreadsAndBarriers) {
  const HostProfile host = region_of({.computes = 480}, {.computes = 240, .waits = 240});
  const WaitWords words(host);
  ASSERT_THAT(host.threads, SizeIs(2));
  const int second = host.threads[0].thread.tid == 11 ? 0 : 1;
  const auto& times = host.threads[static_cast<std::size_t>(second)].times;
  EXPECT_NE(words.of_thread(second, times), to_string(times.main_wait()));

  HostSamplesBuilder builder;
  const int main = builder.thread(10, 10);
  const std::string libc = "/usr/lib/libc.so.6";
  const int joins = builder.stack({library("__pthread_clockjoin_ex", libc), own(35, "main")}),
            locks = builder.stack({library("pthread_mutex_lock", libc), own(30, "main")});
  for (std::uint64_t i = 1; i < 100; ++i) builder.sample(main, i * 10'000'000, ThreadState::lock, joins);
  for (std::uint64_t i = 100; i < 150; ++i) builder.sample(main, i * 10'000'000, ThreadState::lock, locks);
  const HostProfile threads = host_profile(builder.take());
  const WaitWords of_threads(threads);
  ASSERT_THAT(threads.lines, SizeIs(2));
  EXPECT_NE(of_threads.of_line(threads.lines[0]), to_string(ThreadState::lock));
  EXPECT_EQ(of_threads.of_line(threads.lines[1]), to_string(ThreadState::lock)) << "a mutex";
}

}  // namespace
}  // namespace roofline
