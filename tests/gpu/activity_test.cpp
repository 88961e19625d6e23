// What the hardware samples: which figures a chip has (needs no GPU), and whether they are those of work of known size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "device/cuda/pm_sampler.hpp"
#include "gpu_test.hpp"
#include "model/error.hpp"
#include "monitor/byte_check.hpp"

namespace roofline {
namespace {

using ::testing::Contains;

class SampledChip : public testing::TestWithParam<std::string> {};

TEST_P(SampledChip, HasItsActivityInOnePass) {
  std::vector<std::string> sampled;
  try {
    sampled = sampled_on(GetParam());
  } catch (const Error& error) {
    GTEST_SKIP() << error.what() << " (" << error.hint() << ")";
  }
  for (const char* name : {"tensor_active_fraction", "dram_read_fraction", "dram_write_fraction",
                           "dram_active_fraction", "dram_read_bytes", "dram_write_bytes", "dram_bytes_per_cycle",
                           "dram_hz", "busy_fraction", "sm_active_fraction", "core_hz", "counted_seconds"}) {
    EXPECT_THAT(sampled, Contains(name));
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, SampledChip, testing::Values("GA100", "GA102", "AD102", "GH100", "GB100", "GB202"),
                         [](const auto& chip) { return chip.param; });

void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }

using SampledGpu = GpuTest;

TEST_F(SampledGpu, BytesOfACopyAreThoseThatWereCopied) {
  CudaDevice& device = gpu();
  std::unique_ptr<ActivitySampler> sampler;
  try {
    sampler = sample_cuda_activity(device.properties().index, kActivitySampleSeconds);
  } catch (const Error& error) {
    GTEST_SKIP() << error.what() << " (" << error.hint() << ")";
  }
  constexpr std::size_t kBytes = std::size_t{1} << 30;
  constexpr int kCopies = 500;
  const auto from = device.allocate(kBytes);
  const auto to = device.allocate(kBytes);
  device.fill(from->data(), std::byte{1}, kBytes);
  device.copy(to->data(), from->data(), kBytes);
  device.synchronize();
  rest();
  sampler->collect();
  sampler->take();
  for (int i = 0; i < kCopies; ++i) device.copy(to->data(), from->data(), kBytes);
  device.synchronize();
  rest();
  sampler->collect();
  const std::optional<GpuActivity> activity = sampler->take();
  ASSERT_TRUE(activity);
  const double copied = static_cast<double>(kBytes) * kCopies;
  ByteCheck check;
  check.known = {copied, copied};
  check.counted = moved_bytes(*activity, CountedBy::sums);
  check.share_of_peak = moved_bytes(*activity, CountedBy::share_of_peak);
  EXPECT_TRUE(check.trusted()) << byte_check_to_json(check);
}

}  // namespace
}  // namespace roofline
