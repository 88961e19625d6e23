// From the hardware's samples to means and sums, on a CUPTI that samples what it is told.
#include "device/cuda/pm_sampler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

using ::testing::HasSubstr;

constexpr const char* kTensor = "sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kRead = "dram__bytes_read.sum";
constexpr double kTen = 0.01;

TEST(PmSampler, MeansAreWeightedByTimeAndSumsAreSums) {
  FakeCupti& fake = fresh_cupti();
  const auto sampler = sample_cuda_activity(0, kTen);
  EXPECT_EQ(fake.interval, 10'000'000U);
  fake.waiting = {{1000, 2000, {{kTensor, 60}, {kRead, 100}}}, {2000, 5000, {{kTensor, 20}, {kRead, 50}}}};
  sampler->collect();
  fake.waiting = {{5000, 6000, {{kTensor, 0}, {kRead, 7}}}};
  sampler->collect();
  const std::optional<GpuActivity> activity = sampler->take();
  ASSERT_TRUE(activity);
  EXPECT_DOUBLE_EQ(activity->seconds, 5e-6);
  EXPECT_EQ(activity->samples, 3);
  EXPECT_FALSE(activity->gap);
  EXPECT_DOUBLE_EQ(activity->values.find("tensor_active_fraction")->second, (0.6 * 1 + 0.2 * 3) / 5);
  EXPECT_DOUBLE_EQ(activity->values.find("dram_read_bytes")->second, 157);
  EXPECT_THAT(activity->source, HasSubstr("on FK100"));
  EXPECT_FALSE(sampler->take()) << "what was taken is gone";
}

TEST(PmSampler, SamplesThatCoverNoTimeCountNothing) {
  FakeCupti& fake = fresh_cupti();
  const auto sampler = sample_cuda_activity(0, kTen);
  fake.waiting = {{0, 0, {{kRead, 1e9}}}, {9000, 9000, {{kRead, 1e9}}}, {1000, 2000, {{kRead, 5}}}};
  sampler->collect();
  const auto activity = sampler->take();
  ASSERT_TRUE(activity);
  EXPECT_EQ(activity->samples, 1);
  EXPECT_EQ(activity->values.find("dram_read_bytes")->second, 5);
}

TEST(PmSampler, WhatAChipHasNotAndWhatDoesNotFitIsLeftOut) {
  FakeCupti& fake = fresh_cupti();
  fake.unknown = {kTensor, kRead};
  fake.second_pass = {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed"};
  const auto sampler = sample_cuda_activity(0, kTen);
  fake.waiting = {
      {1000,
       2000,
       {{"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 50}, {"dram__bytes_op_read.sum", 8}}}};
  sampler->collect();
  const auto activity = sampler->take();
  ASSERT_TRUE(activity);
  EXPECT_EQ(activity->values.find("tensor_active_fraction")->second, 0.5);
  EXPECT_EQ(activity->values.find("dram_read_bytes")->second, 8);
  EXPECT_FALSE(activity->values.contains("sm_active_fraction"));
  EXPECT_TRUE(activity->values.contains("core_hz"));
}

TEST(PmSampler, AnOverflowAndAFullImageBeginAnewAndSaySo) {
  FakeCupti& fake = fresh_cupti();
  const auto sampler = sample_cuda_activity(0, kTen);
  EXPECT_EQ(fake.enabled, 1);
  fake.overflow = true;
  sampler->collect();
  EXPECT_EQ(fake.enabled, 2);
  EXPECT_EQ(fake.disabled, 1);
  fake.waiting = {{1000, 2000, {}}};
  sampler->collect();
  EXPECT_TRUE(sampler->take()->gap);
  fake.slots = 1;
  fake.waiting = {{1000, 2000, {{kRead, 3}}}, {2000, 3000, {{kRead, 4}}}};
  sampler->collect();
  EXPECT_EQ(fake.enabled, 3);
  const auto activity = sampler->take();
  EXPECT_TRUE(activity->gap);
  EXPECT_EQ(activity->values.find("dram_read_bytes")->second, 3);
}

TEST(PmSampler, WithoutATimerItCountsCycles) {
  FakeCupti& fake = fresh_cupti();
  fake.time_trigger_status = 1;
  const auto sampler = sample_cuda_activity(0, kTen);
  EXPECT_EQ(fake.trigger, 0);
  EXPECT_EQ(fake.interval, 14'000'000U);  // of 1.4 GHz
}

TEST(PmSampler, ARefusalSaysWhatWouldAllowIt) {
  constexpr int kInsufficientPrivileges = 35, kHardwareBusy = 26;
  FakeCupti& fake = fresh_cupti();
  for (const auto& [status, remedy] :
       {std::pair(kInsufficientPrivileges, "CAP_SYS_ADMIN"), std::pair(kHardwareBusy, "DCGM")}) {
    fake.availability_status = status;
    try {
      sample_cuda_activity(0, kTen);
      FAIL();
    } catch (const Error& error) {
      EXPECT_THAT(error.hint(), HasSubstr(remedy));
    }
  }
  EXPECT_EQ(fake.enabled, fake.disabled);
}

TEST(PmSampler, WhatItHeldIsGivenBack) {
  FakeCupti& fake = fresh_cupti();
  sample_cuda_activity(0, kTen).reset();
  EXPECT_EQ(fake.enabled, 1);
  EXPECT_EQ(fake.disabled, 1);
}

}  // namespace
}  // namespace roofline
