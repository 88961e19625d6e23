// Growth of memory: what is never freed again, told apart from what levels off or is freed every now and then.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "profile/memory_growth.hpp"

namespace roofline {
namespace {

constexpr double kMB = 1e6, kGB = 1e9;

/// The least in use of every 50 ms of 20 s.
std::vector<LeastMemory> samples_of(const std::function<double(double)>& bytes, double length_s = 20) {
  std::vector<LeastMemory> samples;
  for (int i = 0; i * 0.05 < length_s; ++i) samples.push_back({i * 0.05, bytes(i * 0.05)});
  return samples;
}

std::optional<MemoryTrend> trend(const std::function<double(double)>& bytes, double step_s = 0.1) {
  return growth_of(samples_of(bytes), 0, 20, step_s);
}

/// Repeatable, from 0 to 1.
double noise(double time) { return std::abs(std::fmod(std::sin(time * 1234.5) * 4321.7, 1)); }

TEST(MemoryGrowth, AccumulationHasItsPace) {
  const auto found = trend([](double t) { return kGB + 100 * kMB * t; });
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bytes_per_s, 100 * kMB, kMB);
  EXPECT_NEAR(found->bytes / found->seconds, 100 * kMB, 5 * kMB);
}

TEST(MemoryGrowth, NoiseAndDipsOfStepsDoNotHideIt) {
  const auto found = trend([](double t) { return kGB + 100 * kMB * t + 500 * kMB * noise(t); });
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bytes_per_s, 100 * kMB, 10 * kMB);
}

TEST(MemoryGrowth, AnEvaluationNowAndThenDoesNotHideIt) {
  // For a second in five the evaluation has 2 GB more in use.
  const auto found = trend([](double t) { return 50 * kMB * t + (std::fmod(t, 5) < 1 ? 2 * kGB : 0); });
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bytes_per_s, 50 * kMB, 10 * kMB);
}

TEST(MemoryGrowth, ConstantAndVaryingMemoryDoNotGrow) {
  EXPECT_FALSE(trend([](double) { return 40 * kGB; }));
  EXPECT_FALSE(trend([](double t) { return 5 * kGB + 4 * kGB * noise(t); }));
  EXPECT_FALSE(trend([](double t) { return 5 * kGB - 100 * kMB * t; }));
}

TEST(MemoryGrowth, WhatLevelsOffDoesNotGrow) {
  EXPECT_FALSE(trend([](double t) { return kGB + 2 * kGB * (1 - std::exp(-t / 5)); }));
  EXPECT_FALSE(trend([](double t) { return kGB + std::min(t, 10.0) * 200 * kMB; }));
  EXPECT_FALSE(trend([](double t) { return t < 3 ? kGB : 5 * kGB; })) << "a larger phase";
}

TEST(MemoryGrowth, SawtoothDoesNotGrow) {
  for (const double period : {0.7, 2.0, 6.5, 9.0}) {
    EXPECT_FALSE(trend([=](double t) { return kGB + 300 * kMB * std::fmod(t, period); })) << period;
  }
}

TEST(MemoryGrowth, PeriodicPartialResetsGrowByWhatStays) {
  const auto found = trend([](double t) { return 300 * kMB * std::fmod(t, 1) + 80 * kMB * std::floor(t); });
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bytes_per_s, 80 * kMB, 20 * kMB);
}

TEST(MemoryGrowth, LittleTimeOrLittleMemoryIsNoEvidence) {
  EXPECT_FALSE(growth_of(samples_of([](double t) { return 100 * kMB * t; }, 0.5), 0, 0.5, 0));
  EXPECT_FALSE(trend([](double t) { return kMB * t; }));
  EXPECT_FALSE(trend([](double t) { return 100 * kMB * t; }, 4)) << "five steps";
  EXPECT_FALSE(growth_of({}, 0, 20, 0.1));
  EXPECT_FALSE(growth_of(samples_of([](double t) { return 100 * kMB * t; }), 20, 0, 0.1));
}

TEST(MemoryGrowth, ValuesOfADamagedFileAreNoGrowth) {
  std::vector<LeastMemory> samples = samples_of([](double t) { return kMB * t; });
  for (LeastMemory& sample : samples) sample.bytes = std::nan("");
  EXPECT_FALSE(growth_of(samples, 0, 20, 0.1));
  for (LeastMemory& sample : samples) sample.time_s = std::nan("");
  EXPECT_FALSE(growth_of(samples, 0, 20, 0.1));
  EXPECT_FALSE(growth_of(samples, std::nan(""), 20, 0.1));
}

}  // namespace
}  // namespace roofline
