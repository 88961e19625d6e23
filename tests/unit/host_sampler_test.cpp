// The sampler on child processes of this test: what they do is known, and how long they take is not asserted.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>

#include "host/process.hpp"
#include "sample/host_sampler.hpp"

namespace roofline {

__attribute__((noinline)) void host_sampler_spin(double seconds);

void host_sampler_spin(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  volatile double sum = 1;
  while (std::chrono::steady_clock::now() < end) {
    for (int i = 0; i < 20'000; ++i) sum = sum * 1.0000001 + 1e-9;
  }
}

__attribute__((noinline)) void host_sampler_wait(double seconds);

void host_sampler_wait(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  volatile int more = 1;  // no tail call: the function stays on the stack
  static_cast<void>(more);
}

namespace {

constexpr double kSpun = 0.6;

HostSamples sampled(const std::function<void()>& body, const HostSamplerOptions& options = {}) {
  Process child = Process::fork([&] {
    body();
    return 0;
  });
  HostSampler sampler(child.pid(), options);
  child.reap(std::chrono::minutes(10));
  return sampler.stop();
}

double seconds_in(const HostSamples& samples, ThreadState state) {
  double seconds = 0;
  for (const HostSample& sample : samples.samples) seconds += sample.state == state ? sample.seconds : 0;
  return seconds;
}

double all_seconds(const HostSamples& samples) {
  double seconds = 0;
  for (const HostSample& sample : samples.samples) seconds += sample.seconds;
  return seconds;
}

void expect_sound(const HostSamples& samples) {
  EXPECT_FALSE(samples.samples.empty()) << samples.why_none;
  EXPECT_GT(samples.end, samples.start);
  EXPECT_GT(samples.cost_s, 0);
  std::uint64_t before = 0;
  for (const HostSample& sample : samples.samples) {
    EXPECT_GE(sample.time, before);
    before = sample.time;
    ASSERT_LT(static_cast<std::size_t>(sample.thread), samples.threads.size());
    ASSERT_LT(sample.stack, static_cast<int>(samples.stacks.size()));
  }
}

TEST(HostSampler, AThreadThatRunsIsInItsFunction) {
  const HostSamples samples = sampled([] { host_sampler_spin(kSpun); });
  expect_sound(samples);
  const double ready = seconds_in(samples, ThreadState::running) + seconds_in(samples, ThreadState::runnable);
  EXPECT_GT(ready, 0.8 * all_seconds(samples));
  if (!samples.why_no_native.empty()) GTEST_SKIP() << samples.why_no_native;
  double within = 0;
  for (const HostSample& sample : samples.samples) {
    if (sample.stack < 0) continue;
    for (const int frame : samples.stacks[static_cast<std::size_t>(sample.stack)]) {
      const HostFrame& one = samples.frames[static_cast<std::size_t>(frame)];
      if (one.function.find("host_sampler_spin") == std::string::npos) continue;
      within += sample.seconds;
      break;
    }
  }
  EXPECT_GT(within, 0.8 * ready);
}

/// Short waits between two samples are assumed to be the last one that was seen, but not for long.
TEST(HostSampler, AThreadThatHasRunForLongIsNotWhereItOnceWaited) {
  const HostSamples samples = sampled([] {
    host_sampler_wait(0.3);
    for (int i = 0; i < 400; ++i) {
      host_sampler_spin(8e-3);
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  });
  expect_sound(samples);
  if (!samples.why_no_native.empty()) GTEST_SKIP() << samples.why_no_native;
  const auto waited = [&](const HostSample& sample) {
    if (sample.stack < 0) return false;
    return std::ranges::any_of(samples.stacks[static_cast<std::size_t>(sample.stack)], [&](int frame) {
      return samples.frames[static_cast<std::size_t>(frame)].function.find("host_sampler_wait") != std::string::npos;
    });
  };
  std::uint64_t first_after = 0;  // a sample of the work after the wait
  bool seen = false;
  for (const HostSample& sample : samples.samples) {
    seen = seen || waited(sample);
    if (seen && first_after == 0 && sample.state == ThreadState::running) first_after = sample.time;
  }
  if (first_after == 0) GTEST_SKIP() << "the wait was not sampled";
  constexpr std::uint64_t kLater = 1'500'000'000;
  for (const HostSample& sample : samples.samples) {
    EXPECT_FALSE(sample.time > first_after + kLater && waited(sample)) << sample.time - first_after;
  }
}

TEST(HostSampler, AThreadThatWaitsIsInItsState) {
  struct Wait {
    ThreadState state;
    std::function<void()> body;
  };
  const std::vector<Wait> waits = {
      {ThreadState::sleep, [] { std::this_thread::sleep_for(std::chrono::milliseconds(600)); }},
      {ThreadState::lock,
       [] {
         std::timed_mutex mutex;
         mutex.lock();
         std::thread other([&] { static_cast<void>(mutex.try_lock_for(std::chrono::milliseconds(600))); });
         other.join();
       }},
      {ThreadState::child,
       [] {
         Process sleeper = Process::execute({.argv = {"sleep", "0.6"}});
         while (!sleeper.reap(std::chrono::milliseconds(0))) {
           siginfo_t info = {};
           ::waitid(P_PID, static_cast<id_t>(sleeper.pid()), &info, WEXITED | WNOWAIT);
         }
       }},
      {ThreadState::read,
       [] {
         Channel channel = Channel::pipe();
         std::thread writer([&] {
           std::this_thread::sleep_for(std::chrono::milliseconds(600));
           static_cast<void>(!::write(channel.child.get(), "x", 1));
         });
         char byte = 0;
         static_cast<void>(!::read(channel.parent.get(), &byte, 1));
         writer.join();
       }},
  };
  for (const Wait& wait : waits) {
    const HostSamples samples = sampled(wait.body);
    expect_sound(samples);
    EXPECT_GT(seconds_in(samples, wait.state), 0.3 * all_seconds(samples)) << id_of(wait.state);
  }
}

TEST(HostSampler, ProcessesThatAProcessStartsAreSampledToo) {
  const HostSamples samples = sampled([] {
    Process worker = Process::fork([] {
      host_sampler_spin(kSpun);
      return 0;
    });
    worker.reap(std::chrono::minutes(10));
  });
  expect_sound(samples);
  std::vector<std::int64_t> processes;
  for (const HostThread& thread : samples.threads) processes.push_back(thread.pid);
  ASSERT_GE(processes.size(), 2U);
  EXPECT_NE(processes[0], processes[1]);
  EXPECT_EQ(samples.threads[1].parent, processes[0]);
}

TEST(HostSampler, WithoutInterruptsStatesAreKnownAllTheSame) {
  const HostSamples samples = sampled([] { host_sampler_spin(kSpun); }, {.rate_hz = 99, .native_stacks = false});
  expect_sound(samples);
  const double ready = seconds_in(samples, ThreadState::running) + seconds_in(samples, ThreadState::runnable);
  EXPECT_GT(ready, 0.8 * all_seconds(samples));
}

TEST(HostSampler, AProcessThatIsGoneHasNoSamples) {
  const HostSamples samples = sampled([] {});
  EXPECT_TRUE(samples.samples.empty() == !samples.why_none.empty());
}

}  // namespace
}  // namespace roofline
