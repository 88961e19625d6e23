// Growth of memory: what is never freed again, told apart from what levels off or is freed every now and then.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "profile/memory_growth.hpp"

namespace roofline {
namespace {

constexpr double kMega = 1e6, kGiga = 1e9;

/// The least in use of every 50 ms of 20 s.
std::vector<LeastMemory> least_samples(const std::function<double(double)>& bytes, double length_s = 20) {
  std::vector<LeastMemory> samples;
  for (int i = 0; i * 0.05 < length_s; ++i) samples.push_back({i * 0.05, bytes(i * 0.05)});
  return samples;
}

std::optional<MemoryTrend> trend_of(const std::function<double(double)>& bytes, double step_s = 0.1) {
  return growth_of(least_samples(bytes), 0, 20, step_s);
}

/// Repeatable, from 0 to 1.
double noise_at(double time) { return std::abs(std::fmod(std::sin(time * 1234.5) * 4321.7, 1)); }

TEST(MemoryGrowth, AccumulationHasItsPace) {
  const auto found = trend_of([](double t) { return kGiga + 100 * kMega * t; });
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bytes_per_s, 100 * kMega, kMega);
  EXPECT_NEAR(found->bytes / found->seconds, 100 * kMega, 5 * kMega);
}

TEST(MemoryGrowth, NoiseAndDipsOfStepsDoNotHideIt) {
  const auto found = trend_of([](double t) { return kGiga + 100 * kMega * t + 500 * kMega * noise_at(t); });
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bytes_per_s, 100 * kMega, 10 * kMega);
}

TEST(MemoryGrowth, AnEvaluationNowAndThenDoesNotHideIt) {
  // For a second in five the evaluation has 2 GB more in use.
  const auto found = trend_of([](double t) { return 50 * kMega * t + (std::fmod(t, 5) < 1 ? 2 * kGiga : 0); });
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bytes_per_s, 50 * kMega, 10 * kMega);
}

TEST(MemoryGrowth, ManySamplesAtOneTimeDoNotHideIt) {
  // The program waits for counters, and no time of its own passes.
  const auto grows = [](double t) { return kGiga + 1.5 * kGiga * t; };
  const auto constant = [](double) { return kGiga; };
  const auto with_a_wait = [](const std::function<double(double)>& bytes) {
    std::vector<LeastMemory> samples = least_samples(bytes, 0.7);
    for (int i = 0; i < 50; ++i) samples.push_back({0.21, bytes(0.21)});
    return growth_of(samples, 0, 0.7, 0.0016);
  };
  ASSERT_TRUE(with_a_wait(grows));
  EXPECT_NEAR(with_a_wait(grows)->bytes_per_s, 1.5 * kGiga, 0.3 * kGiga);
  EXPECT_FALSE(with_a_wait(constant));
  EXPECT_FALSE(with_a_wait([](double t) { return kGiga + std::min(t, 0.35) * 4 * kGiga; }));
}

TEST(MemoryGrowth, ATimeWithoutSamplesDoesNotHideIt) {
  std::vector<LeastMemory> samples;
  for (const LeastMemory& sample : least_samples([](double t) { return 100 * kMega * t; })) {
    if (sample.time_s < 5 || sample.time_s > 7) samples.push_back(sample);
  }
  EXPECT_TRUE(growth_of(samples, 0, 20, 0.1));
}

TEST(MemoryGrowth, ConstantAndVaryingMemoryDoNotGrow) {
  EXPECT_FALSE(trend_of([](double) { return 40 * kGiga; }));
  EXPECT_FALSE(trend_of([](double t) { return 5 * kGiga + 4 * kGiga * noise_at(t); }));
  EXPECT_FALSE(trend_of([](double t) { return 5 * kGiga - 100 * kMega * t; }));
}

TEST(MemoryGrowth, WhatLevelsOffDoesNotGrow) {
  EXPECT_FALSE(trend_of([](double t) { return kGiga + 2 * kGiga * (1 - std::exp(-t / 5)); }));
  EXPECT_FALSE(trend_of([](double t) { return kGiga + std::min(t, 10.0) * 200 * kMega; }));
  EXPECT_FALSE(trend_of([](double t) { return t < 3 ? kGiga : 5 * kGiga; })) << "a larger phase";
}

TEST(MemoryGrowth, SawtoothDoesNotGrow) {
  for (const double period : {0.7, 2.0, 6.5, 9.0}) {
    EXPECT_FALSE(trend_of([=](double t) { return kGiga + 300 * kMega * std::fmod(t, period); })) << period;
  }
}

TEST(MemoryGrowth, PeriodicPartialResetsGrowByWhatStays) {
  const auto found = trend_of([](double t) { return 300 * kMega * std::fmod(t, 1) + 80 * kMega * std::floor(t); });
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bytes_per_s, 80 * kMega, 20 * kMega);
}

TEST(MemoryGrowth, LittleTimeOrLittleMemoryIsNoEvidence) {
  EXPECT_FALSE(growth_of(least_samples([](double t) { return 100 * kMega * t; }, 0.5), 0, 0.5, 0));
  EXPECT_FALSE(trend_of([](double t) { return kMega * t; }));
  EXPECT_FALSE(trend_of([](double t) { return 100 * kMega * t; }, 4)) << "five steps";
  EXPECT_FALSE(growth_of({}, 0, 20, 0.1));
  EXPECT_FALSE(growth_of(least_samples([](double t) { return 100 * kMega * t; }), 20, 0, 0.1));
}

TEST(MemoryGrowth, ValuesOfADamagedFileAreNoGrowth) {
  std::vector<LeastMemory> samples = least_samples([](double t) { return kMega * t; });
  for (LeastMemory& sample : samples) sample.bytes = std::nan("");
  EXPECT_FALSE(growth_of(samples, 0, 20, 0.1));
  for (LeastMemory& sample : samples) sample.time_s = std::nan("");
  EXPECT_FALSE(growth_of(samples, 0, 20, 0.1));
  EXPECT_FALSE(growth_of(samples, std::nan(""), 20, 0.1));
}

}  // namespace
}  // namespace roofline
