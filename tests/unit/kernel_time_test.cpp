// Time in the kernel: it belongs to the line that entered the kernel, and has causes of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/host_sums.hpp"
#include "report/host_causes.hpp"
#include "sample/kernel_frame.hpp"
#include "tests/unit/host_samples_builder.hpp"

namespace roofline {
namespace {

using testing::Contains;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;

HostFrame own(int line, const std::string& function = "step") {
  return {function, "/home/u/solver.cpp", line, false, true};
}
HostFrame library(const std::string& function) { return {function, "/usr/lib/libc.so.6", 0, false, false}; }
HostFrame kernel() { return {.function = std::string(kKernelFunction), .file = {}}; }

struct Run {
  std::vector<HostFrame> stack;  ///< innermost first
  int seconds = 0;
};

HostProfile running(const std::vector<Run>& runs) {
  HostSamplesBuilder builder;
  const int thread = builder.thread(10, 10);
  std::uint64_t time = 0;
  for (const Run& run : runs) {
    const int stack = builder.stack(run.stack);
    for (int i = 0; i < 100 * run.seconds; ++i) builder.sample(thread, time += 10'000'000, ThreadState::running, stack);
  }
  return host_profile(builder.take());
}

TEST(KernelTime, BelongsToTheLineThatEntersTheKernel) {
  const HostProfile host = running({{{own(9)}, 4}, {{kernel(), own(12)}, 2}, {{kernel(), library("memset")}, 1}});
  ASSERT_THAT(host.lines, SizeIs(3));
  EXPECT_EQ(host.lines[0].place.line, 9);
  EXPECT_EQ(host.lines[1].place.line, 12);
  EXPECT_EQ(host.lines[2].place.function, "memset");
}

TEST(KernelTime, PageFaultsNameTheLineThatTouchesTheMemory) {
  HostProfile host = running({{{own(9)}, 4}, {{kernel(), own(12)}, 2}});
  host.usage = {.user_s = 4, .system_s = 2, .page_faults = 3e6};
  const std::vector<HostCause> found = host_causes(host, true, 1e9);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "page-faults");
  EXPECT_EQ(found[0].line, "solver.cpp:12 step");
  HostProfile healthy = running({{{own(9)}, 4}, {{own(12)}, 2}});
  healthy.usage = {.user_s = 6, .system_s = 0.1, .page_faults = 1000};
  EXPECT_THAT(host_causes(healthy, true, 1e9), IsEmpty());
}

/// Touched at line 12 after line 15 gave it back, and without that.
TEST(KernelTime, MemoryThatComesAndGoesNamesTheLineThatFreesIt) {
  for (const bool frees : {true, false}) {
    HostProfile host = running(
        {{{own(9)}, 4}, {{kernel(), own(12)}, 2}, {{kernel(), library(frees ? "__munmap" : "read"), own(15)}, 1}});
    host.usage = {.user_s = 4, .system_s = 3, .page_faults = 3e6};
    const std::vector<HostCause> found = host_causes(host, true, 1e9);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].id, "page-faults");
    EXPECT_EQ(found[0].line, "solver.cpp:12 step");
    EXPECT_EQ(found[0].text.find("solver.cpp:15") != std::string::npos, frees) << found[0].text;
  }
}

TEST(KernelTime, IsNoTimeOfTheLibrariesAroundIt) {
  HostProfile host =
      running({{{own(9)}, 5}, {{library("malloc"), own(7)}, 1}, {{kernel(), library("malloc"), own(7)}, 2}});
  host.usage = {.user_s = 6, .system_s = 2, .page_faults = 3e6};
  const std::vector<HostCause> found = host_causes(host, true, 1e9);
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].id, "page-faults");
  EXPECT_EQ(found[1].id, "allocation");
  EXPECT_NEAR(found[1].seconds, 1, 0.01) << "the kernel was seen: nothing is to be taken off";
}

TEST(KernelTime, OfSystemCallsNamesTheCall) {
  HostProfile host = running({{{own(9)}, 2}, {{kernel(), library("write"), own(7)}, 2}});
  host.usage = {.user_s = 2, .system_s = 2, .page_faults = 100};
  const std::vector<HostCause> found = host_causes(host, true);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "system-calls");
  EXPECT_EQ(found[0].line, "solver.cpp:7 step");
}

}  // namespace
}  // namespace roofline
