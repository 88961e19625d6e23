// The energy meter against series whose energy is known.
#include <gtest/gtest.h>

#include <vector>

#include "device/energy_meter.hpp"

namespace roofline {
namespace {

/// A sample every 20 ms over (from, to], at `watts`.
std::vector<PowerSample> steady(double from_s, double to_s, double watts) {
  std::vector<PowerSample> samples;
  for (int i = 1; from_s + 0.02 * i <= to_s + 1e-9; ++i) samples.push_back({from_s + 0.02 * i, watts});
  return samples;
}

const EnergyMeter::Counter kNoCounter = [] { return std::nullopt; };

TEST(EnergyMeter, SumsSteadyPowerUpToNow) {
  EnergyMeter meter;
  const double start = meter.read(100.01, steady(98, 100, 300), kNoCounter).value();
  EXPECT_NEAR(meter.seen_until_s(), 100, 1e-9);
  const double end = meter.read(101.013, steady(99, 101, 300), kNoCounter).value();
  EXPECT_NEAR(end - start, 300 * 1.003, 1e-6);
}

TEST(EnergyMeter, SamplesSeenTwiceCountOnce) {
  EnergyMeter meter;
  const double start = meter.read(10, steady(8, 10, 100), kNoCounter).value();
  double end = 0;
  for (int i = 0; i < 5; ++i) end = meter.read(11, steady(9, 11, 100), kNoCounter).value();
  EXPECT_NEAR(end - start, 100, 1e-6);
}

TEST(EnergyMeter, AStepInPowerIsPlacedWithinOneSample) {
  EnergyMeter meter;
  const double start = meter.read(1, steady(0, 1, 100), kNoCounter).value();
  std::vector<PowerSample> samples = steady(1, 1.5, 100);
  const std::vector<PowerSample> loaded = steady(1.5, 2, 700);
  samples.insert(samples.end(), loaded.begin(), loaded.end());
  EXPECT_NEAR(meter.read(2, samples, kNoCounter).value() - start, 0.5 * 100 + 0.5 * 700, 0.02 * 600);
}

TEST(EnergyMeter, TheCounterBridgesWhatTheBufferLost) {
  double counter = 5000;
  int asked = 0;
  const EnergyMeter::Counter read_counter = [&]() -> std::optional<double> {
    ++asked;
    return counter;
  };
  EnergyMeter meter;
  const double start = meter.read(10, steady(8, 10, 100), read_counter).value();
  counter += 3000;  // 10 s at 300 W, of which the last two are still in the buffer
  const double end = meter.read(20, steady(18, 20, 100), read_counter).value();
  EXPECT_NEAR(end - start, 3000, 1e-6);
  EXPECT_EQ(asked, 2);
}

TEST(EnergyMeter, TheCounterIsAskedOnceASecond) {
  int asked = 0;
  const EnergyMeter::Counter read_counter = [&]() -> std::optional<double> {
    ++asked;
    return 0.0;
  };
  EnergyMeter meter;
  for (int i = 0; i <= 20; ++i) meter.read(10 + 0.1 * i, steady(8, 10 + 0.1 * i, 100), read_counter);
  EXPECT_LE(asked, 3);
}

TEST(EnergyMeter, WithoutSamplesTheCounterIsTheEnergy) {
  EnergyMeter meter;
  EXPECT_EQ(meter.read(1, {}, [] { return std::optional<double>(42.0); }), 42.0);
  EXPECT_EQ(meter.read(1, {}, kNoCounter), std::nullopt);
}

TEST(EnergyMeter, ASensorThatFallsSilentAddsNoMoreThanItsLastStep) {
  EnergyMeter meter;
  const double start = meter.read(1, steady(0, 1, 100), kNoCounter).value();
  EXPECT_LE(meter.read(60, {}, kNoCounter).value() - start, 100 * 0.25 + 1e-9);
}

}  // namespace
}  // namespace roofline
