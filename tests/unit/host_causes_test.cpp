// What a program's threads lose time to, by their stacks: each cause with the fault, and none without it.
#include "report/host_causes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/host_sums.hpp"
#include "tests/unit/host_samples_builder.hpp"

namespace roofline {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

HostFrame own(int line, const std::string& function) { return {function, "/home/u/solver.cpp", line, false, true}; }
HostFrame library(const std::string& function, const std::string& file = "/usr/lib/libc.so.6") {
  return {function, file, 0, false, false};
}

/// Seconds in which one thread runs the program's line 9, and in this library function that line 7 calls.
HostProfile running_in(const HostFrame& called, int in_function, int elsewhere) {
  HostSamplesBuilder builder;
  const int thread = builder.thread(10, 10);
  const int inside = builder.stack({called, own(7, "step"), own(20, "main")});
  const int outside = builder.stack({own(9, "step"), own(20, "main")});
  std::uint64_t time = 0;
  for (int i = 0; i < 100 * in_function; ++i) builder.sample(thread, time += 10'000'000, ThreadState::running, inside);
  for (int i = 0; i < 100 * elsewhere; ++i) builder.sample(thread, time += 10'000'000, ThreadState::running, outside);
  return host_profile(builder.take());
}

TEST(HostCauses, NameWhatTheProgramCallsLibrariesFor) {
  struct Case {
    const char* id;
    HostFrame called;
  };
  for (const Case& of :
       {Case{"allocation", library("malloc")}, Case{"allocation", library("operator new(unsigned long)")},
        Case{"copy", library("__memmove_avx_unaligned_erms")}, Case{"text", library("vfprintf")},
        Case{"mathematics", library("exp", "/usr/lib/libm.so.6")}}) {
    const std::vector<HostCause> found = host_causes(running_in(of.called, 4, 6), true);
    ASSERT_THAT(found, SizeIs(1)) << of.id;
    EXPECT_EQ(found[0].id, of.id);
    EXPECT_NEAR(found[0].seconds, 4, 0.01);
    EXPECT_THAT(found[0].text, HasSubstr("40.0 %"));
    EXPECT_EQ(found[0].line, "solver.cpp:7 step");
    EXPECT_THAT(host_causes(running_in(of.called, 0, 6), true), IsEmpty());
  }
  EXPECT_THAT(host_causes(running_in(library("malloc"), 1, 19), true), IsEmpty()) << "5 % is too little";
  EXPECT_THAT(host_causes(running_in(library("qsort"), 5, 5), true), IsEmpty()) << "not known what it is for";
  HostFrame function_of_program = own(30, "malloc");
  EXPECT_THAT(host_causes(running_in(function_of_program, 5, 5), true), IsEmpty()) << "the program's own";
}

/// Two threads; one waits in `function` for a tenth of the time or all of it.
HostProfile waiting_in(const char* function, bool often) {
  HostSamplesBuilder builder;
  const int first = builder.thread(10, 10), second = builder.thread(10, 11);
  const int waits = builder.stack({library(function), own(7, "step")}), runs = builder.stack({own(9, "step")});
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    builder.sample(first, i * 10'000'000, ThreadState::running, runs);
    const bool is_waiting = often || i % 100 == 0;
    builder.sample(second, i * 10'000'000, is_waiting ? ThreadState::lock : ThreadState::running,
                   is_waiting ? waits : runs);
  }
  return host_profile(builder.take());
}

TEST(HostCauses, NameAMutexAndNotAJoin) {
  const std::vector<HostCause> found = host_causes(waiting_in("pthread_mutex_lock", true), false);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "mutex");
  EXPECT_EQ(found[0].line, "solver.cpp:7 step");
  EXPECT_LE(found[0].seconds, 10.01);
  EXPECT_THAT(host_causes(waiting_in("pthread_mutex_lock", false), false), IsEmpty());
  const HostProfile joins = waiting_in("pthread_join", true);
  EXPECT_THAT(host_causes(joins, false), IsEmpty());
  EXPECT_TRUE(waits_for_threads(joins));
  EXPECT_FALSE(waits_for_threads(waiting_in("pthread_mutex_lock", true)));
}

/// Two threads run at the same time, then one of them `alone` more seconds in a function.
HostProfile alone_in(const std::string& function, int together, int alone,
                     ThreadState of_second = ThreadState::running) {
  HostSamplesBuilder builder;
  const int first = builder.thread(10, 10), second = builder.thread(10, 11);
  const int parallel = builder.stack({own(9, "step")}),
            last = builder.stack({own(function == "step" ? 9 : 30, function)});
  std::uint64_t time = 0;
  for (int i = 0; i < 100 * together; ++i) {
    time += 10'000'000;
    builder.sample(first, time, ThreadState::running, parallel);
    builder.sample(second, time, of_second, parallel);
  }
  for (int i = 0; i < 100 * alone; ++i) builder.sample(first, time += 10'000'000, ThreadState::running, last);
  return host_profile(builder.take());
}

TEST(HostCauses, NameASerialPartAndUnequalWork) {
  const std::vector<HostCause> serial = host_causes(alone_in("write_result", 5, 5), true);
  ASSERT_THAT(serial, SizeIs(1));
  EXPECT_EQ(serial[0].id, "serial-part");
  EXPECT_NEAR(serial[0].seconds, 2.5, 0.02);
  EXPECT_EQ(serial[0].line, "solver.cpp:30 write_result");
  const std::vector<HostCause> unequal = host_causes(alone_in("step", 5, 5), true);
  ASSERT_THAT(unequal, SizeIs(1));
  EXPECT_EQ(unequal[0].id, "unequal-work");
  EXPECT_THAT(host_causes(alone_in("write_result", 5, 5), false), IsEmpty()) << "found by loop";
  EXPECT_THAT(host_causes(alone_in("write_result", 9, 1), true), IsEmpty());
  EXPECT_THAT(host_causes(alone_in("write_result", 0, 5), true), IsEmpty()) << "a program of one thread";
  EXPECT_THAT(host_causes(alone_in("step", 5, 5, ThreadState::runnable), true), IsEmpty()) << "too few CPUs";
}

TEST(HostCauses, NameTheKernelByItsPageFaults) {
  HostProfile host = running_in(library("qsort"), 0, 5);
  host.usage.user_s = 4;
  host.usage.system_s = 2;
  host.usage.page_faults = 5e6;
  std::vector<HostCause> found = host_causes(host, true, 1e9);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "page-faults");
  EXPECT_EQ(found[0].seconds, 2);
  EXPECT_THAT(found[0].text, HasSubstr("33.3 %"));
  EXPECT_THAT(found[0].text, HasSubstr("solver.cpp:9"));
  EXPECT_THAT(found[0].action, HasSubstr("reuse"));
  EXPECT_THAT(host_causes(host, true, 2e10).at(0).action, HasSubstr("huge pages"));
  host.usage.page_faults = 1000;
  found = host_causes(host, true);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "kernel");
  EXPECT_THAT(found[0].text, HasSubstr("1,000 page faults"));
  host.usage.system_s = 0.1;
  EXPECT_THAT(host_causes(host, true), IsEmpty());
}

}  // namespace
}  // namespace roofline
