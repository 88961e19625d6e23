// Host samples in a file: what is written is read, and a damaged file gives what is left of it.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "host/files.hpp"
#include "sample/samples_file.hpp"

namespace roofline {
namespace {

HostSamples two_threads() {
  HostSamples samples;
  samples.frames = {{"load", "/home/u/data.py", 31, true, true}, {"memcpy", "/usr/lib/libc.so.6", 0, false, false}};
  samples.stacks = {{1, 0}, {0}};
  samples.threads = {{10, 10, 1, "main", "python3 train.py", true}, {10, 11, 1, "worker", "python3 train.py", false}};
  samples.samples = {{1000, 0, 0, ThreadState::running, -1, 0.25F},
                     {2000, 1, -1, ThreadState::gil, 0, 0.5F},
                     {3000, 0, 1, ThreadState::sleep, -1, 1.5F}};
  samples.memory = {{1500, 10, 4096, 1024}, {2500, 10, 8192, 1024}};
  samples.rises = {{2500, 0, 1, 4096}};
  samples.memory_bytes = 1 << 20;
  samples.rate_hz = 99;
  samples.cost_s = 0.125;
  samples.usage.user_s = 2.5;
  samples.usage.system_s = 0.5;
  samples.usage.page_faults = 1234;
  samples.start = 500;
  samples.end = 4000;
  samples.why_no_native = "not permitted";
  return samples;
}

TEST(HostSamplesFile, AllOfItComesBack) {
  const HostSamples before = two_threads();
  const auto after = read_host_samples(write_host_samples(before));
  ASSERT_TRUE(after);
  EXPECT_EQ(after->frames, before.frames);
  EXPECT_EQ(after->stacks, before.stacks);
  EXPECT_EQ(after->samples, before.samples);
  EXPECT_EQ(after->memory, before.memory);
  EXPECT_EQ(after->rises, before.rises);
  EXPECT_EQ(after->memory_bytes, before.memory_bytes);
  ASSERT_EQ(after->threads.size(), 2U);
  EXPECT_EQ(after->threads[1].tid, 11);
  EXPECT_EQ(after->threads[1].name, "worker");
  EXPECT_EQ(after->threads[0].command, "python3 train.py");
  EXPECT_TRUE(after->threads[0].main);
  EXPECT_EQ(after->rate_hz, before.rate_hz);
  EXPECT_EQ(after->cost_s, before.cost_s);
  EXPECT_EQ(after->usage.user_s, before.usage.user_s);
  EXPECT_EQ(after->usage.system_s, before.usage.system_s);
  EXPECT_EQ(after->usage.page_faults, before.usage.page_faults);
  EXPECT_EQ(after->end, before.end);
  EXPECT_EQ(after->why_no_native, before.why_no_native);
}

TEST(HostSamplesFile, AFileOfAnEarlierVersionHasNoMemory) {
  const auto read = read_host_samples(
      read_file(std::filesystem::path(ROOFLINE_SOURCE_DIR) / "tests/fuzz/corpus/host_samples/two_threads"));
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->samples.empty());
  EXPECT_TRUE(read->memory.empty());
}

TEST(HostSamplesFile, ACutFileKeepsTheSamplesBeforeItsEnd) {
  const std::string bytes = write_host_samples(two_threads());
  std::size_t most = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto read = read_host_samples(std::string_view(bytes).substr(0, size));
    if (!read) continue;
    EXPECT_LE(read->samples.size(), 2U);
    EXPECT_GE(read->samples.size(), most);
    most = read->samples.size();
  }
  EXPECT_EQ(most, 2U);
}

TEST(HostSamplesFile, EveryWrongByteIsSurvived) {
  const std::string bytes = write_host_samples(two_threads());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const char wrong : {'\0', '\x7f', '\xff'}) {
      std::string broken = bytes;
      broken[i] = wrong;
      const auto read = read_host_samples(broken);
      if (!read) continue;
      for (const HostSample& sample : read->samples) {
        EXPECT_LT(static_cast<std::size_t>(sample.thread), read->threads.size());
        EXPECT_LT(sample.stack, static_cast<int>(read->stacks.size()));
        EXPECT_LT(sample.gil_holder, static_cast<int>(read->threads.size()));
      }
    }
  }
}

TEST(HostSamplesFile, OtherFilesAreRefused) {
  EXPECT_FALSE(read_host_samples(""));
  EXPECT_FALSE(read_host_samples("{}"));
  HostSamples wrong = two_threads();
  wrong.stacks.push_back({7});
  EXPECT_FALSE(read_host_samples(write_host_samples(wrong)));
}

}  // namespace
}  // namespace roofline
