// The sampler's behaviour on a fake device: calibrating, settling, stopping, and everything that can go
// wrong with readings and clocks. Its precision is the subject of sampler_evidence_test.cpp.
#include "measure/sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "sampler_series.hpp"
#include "tests/support/values.hpp"

namespace roofline {
namespace {

using synthetic::FakeDevice;
using synthetic::Noise;
using synthetic::NoisySeries;

/// Launches of `launch_s` each, with noise.
FakeDevice::Seconds noisy(double launch_s, const Noise& noise = {}, std::uint64_t seed = 1) {
  return [launch_s, series = NoisySeries(noise, seed)](std::int64_t launches, int, double) mutable {
    return static_cast<double>(launches) * launch_s * series();
  };
}

FakeDevice::Seconds steady(double launch_s) { return noisy(launch_s, {.deviation = 0}); }

SamplerOptions no_settling() {
  SamplerOptions options;
  options.warm_up_s = 0;
  return options;
}

/// The readings that became samples are the last ones.
std::vector<double> last_readings(const FakeDevice& device, const Samples& samples) {
  return {device.seconds_read.end() - static_cast<std::ptrdiff_t>(samples.seconds.size()), device.seconds_read.end()};
}

TEST(Sampler, ASampleLastsLongEnough) {
  for (const double launch_s : {3e-9, 1e-6, 150e-6, 0.01}) {
    for (const double resolution_s : {1e-7, 1e-5}) {
      FakeDevice device(noisy(launch_s));
      Bench bench = device.bench();
      bench.timer_resolution_s = resolution_s;
      const Samples samples = sample(bench, no_settling());
      const double target_s = std::max(200e-6, 100 * resolution_s);
      const double lasts_s = static_cast<double>(samples.summary.launches_per_sample) * launch_s;
      EXPECT_GE(lasts_s, 0.95 * target_s) << launch_s;
      EXPECT_LE(lasts_s, std::max(2.5 * target_s, 1.01 * launch_s)) << launch_s;
      EXPECT_NEAR(samples.summary.median / launch_s, 1, 0.005) << "seconds are per launch";
    }
  }
}

TEST(Sampler, OneInterruptedReadingDoesNotFoolTheCalibration) {
  for (int interrupted = 0; interrupted < 8; ++interrupted) {
    FakeDevice device([interrupted](std::int64_t launches, int batch, double) {
      return static_cast<double>(launches) * 1e-6 + (batch == interrupted ? 0.02 : 0);
    });
    const Samples samples = sample(device.bench(), no_settling());
    EXPECT_GE(samples.summary.launches_per_sample, 200) << "interruption in reading " << interrupted;
  }
}

TEST(Sampler, LaunchesAreAMultipleOfTheQuantum) {
  FakeDevice device(noisy(7e-6));
  Bench bench = device.bench();
  bench.launch_quantum = 6;
  const Samples samples = sample(bench, {});
  for (const std::int64_t launches : device.launches_of) EXPECT_EQ(launches % 6, 0);
  EXPECT_GE(samples.summary.launches_per_sample, 30);
}

TEST(Sampler, AQuantumBeyondEveryNeedIsKept) {
  FakeDevice device(steady(1e-3));
  Bench bench = device.bench();
  bench.launch_quantum = 5;
  EXPECT_EQ(sample(bench, {}).summary.launches_per_sample, 5);
}

TEST(Sampler, ACoarseTimerThatReadsZeroAtFirstIsCalibrated) {
  FakeDevice device([](std::int64_t launches, int, double) {
    return std::floor(static_cast<double>(launches) * 50e-9 / 1e-5) * 1e-5;
  });
  Bench bench = device.bench();
  bench.timer_resolution_s = 1e-5;
  const Samples samples = sample(bench, no_settling());
  EXPECT_EQ(device.seconds_read.front(), 0);
  EXPECT_EQ(samples.summary.stop, StopReason::converged);
  EXPECT_NEAR(samples.summary.median, 50e-9, 1e-9);
}

TEST(Sampler, ProcessorsThatWarmUpAreCalibratedAnew) {
  FakeDevice device([](std::int64_t launches, int, double now_s) {
    return static_cast<double>(launches) * (now_s < 100.1 ? 8e-6 : 1e-6);
  });
  const Samples samples = sample(device.bench(), {});
  EXPECT_GE(samples.summary.launches_per_sample, 200);
  EXPECT_DOUBLE_EQ(samples.summary.max, samples.summary.min) << "no sample from before";
}

TEST(Sampler, TimesThatNeverBecomeDurationsEndIt) {
  for (const double bad : {0.0, -1e-3, kNaN, kInfinity, -kInfinity}) {
    FakeDevice device([bad](std::int64_t, int, double) { return bad; });
    const Samples samples = sample(device.bench(), {});
    EXPECT_EQ(samples.summary.stop, StopReason::bad_reading) << bad;
    EXPECT_LE(device.launches_of.size(), 10U) << bad;
    EXPECT_TRUE(samples.seconds.empty());
    EXPECT_EQ(samples.summary.samples, 0);
    EXPECT_TRUE(std::isnan(samples.summary.median)) << "no time is not a time of 0";
  }
}

TEST(Sampler, ABadReadingLaterKeepsTheSamplesBefore) {
  for (const double bad : {0.0, -1e-3, kNaN, kInfinity}) {
    FakeDevice device([bad](std::int64_t, int batch, double) { return batch == 20 ? bad : 1e-3; });
    const Samples samples = sample(device.bench(), no_settling());
    EXPECT_EQ(samples.summary.stop, StopReason::bad_reading) << bad;
    EXPECT_EQ(samples.seconds.size(), 18U) << "20 batches less two for calibrating";
    EXPECT_EQ(device.launches_of.size(), 21U);
    EXPECT_DOUBLE_EQ(samples.summary.median, 1e-3);
  }
  FakeDevice while_settling([](std::int64_t, int batch, double) { return batch == 20 ? kNaN : 1e-3; });
  EXPECT_EQ(sample(while_settling.bench(), {}).summary.stop, StopReason::bad_reading);
  EXPECT_EQ(while_settling.launches_of.size(), 21U);
}

TEST(Sampler, ErrorsOfTheDevicePassThrough) {
  FakeDevice device([](std::int64_t, int batch, double) -> double {
    if (batch == 5) throw std::runtime_error("illegal access");
    return 1e-3;
  });
  EXPECT_THROW(sample(device.bench(), {}), std::runtime_error);
}

TEST(Sampler, ASteadyKernelConvergesAtOnceWithAnIntervalOfNoWidth) {
  FakeDevice device(steady(0.01));
  const Samples samples = sample(device.bench(), {});
  EXPECT_EQ(samples.summary.stop, StopReason::converged);
  EXPECT_EQ(samples.summary.samples, 32);
  EXPECT_DOUBLE_EQ(samples.summary.median, 0.01);
  EXPECT_DOUBLE_EQ(samples.summary.ci95.low, 0.01);
  EXPECT_DOUBLE_EQ(samples.summary.ci95.high, 0.01);
  EXPECT_FALSE(samples.summary.drifting);
}

TEST(Sampler, TheLeastTimeIsSampledEvenWhenPreciseEarlier) {
  FakeDevice device(steady(1e-3));
  const Samples samples = sample(device.bench(), no_settling());
  EXPECT_EQ(samples.summary.stop, StopReason::converged);
  EXPECT_NEAR(static_cast<double>(samples.summary.samples), 50, 1) << "50 ms of 1 ms";
}

TEST(Sampler, EndlessNoiseEndsByTimeOrCount) {
  const Noise wild{.deviation = 0.2, .correlation = 0.95};
  FakeDevice timed(noisy(1e-3, wild));
  const Samples by_time = sample(timed.bench(), no_settling());
  EXPECT_EQ(by_time.summary.stop, StopReason::time_limit);
  EXPECT_LT(timed.now_s - 100, 3.01);
  EXPECT_GT(timed.now_s - 100, 2.99);

  FakeDevice counted(noisy(1e-3, wild));
  SamplerOptions options = no_settling();
  options.max_samples = 500;
  const Samples by_count = sample(counted.bench(), options);
  EXPECT_EQ(by_count.summary.stop, StopReason::sample_limit);
  EXPECT_EQ(by_count.summary.samples, 500);
}

TEST(Sampler, ConvergedMeansThatTheIntervalIsNarrowEnough) {
  int converged = 0;
  int at_limit = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    FakeDevice device(noisy(1e-3, {}, seed));
    SamplerOptions options = no_settling();
    options.min_time_s = 0;
    options.max_samples = 44;  // no regular look: those are at 32, 35, 38, 41, 45
    const Summary summary = sample(device.bench(), options).summary;
    const bool narrow = summary.ci95.high - summary.median <= 0.005 * summary.median &&
                        summary.median - summary.ci95.low <= 0.005 * summary.median;
    const bool enough = narrow && summary.effective_samples >= 32;
    EXPECT_EQ(summary.stop, enough ? StopReason::converged : StopReason::sample_limit) << seed;
    converged += enough ? 1 : 0;
    at_limit += enough && summary.samples == 44 ? 1 : 0;
  }
  EXPECT_GT(converged, 20);
  EXPECT_LT(converged, 180);
  EXPECT_GT(at_limit, 0) << "the limit comes with a last look";
}

TEST(Sampler, AStandingClockStillEnds) {
  for (const WarmUpMode mode : {WarmUpMode::fixed, WarmUpMode::stable}) {
    FakeDevice device(noisy(1e-3));
    device.frozen = true;
    SamplerOptions options;
    options.warm_up = mode;
    options.max_samples = 1000;
    const Samples samples = sample(device.bench(), options);
    EXPECT_EQ(samples.summary.stop, StopReason::sample_limit);
    EXPECT_EQ(samples.summary.samples, 1000);
    EXPECT_LT(device.launches_of.size(), 5000U);
  }
}

TEST(Sampler, AClockThatGoesBackStillEnds) {
  FakeDevice device(noisy(1e-3));
  Bench bench = device.bench();
  double time_s = 0;
  bench.now = [&time_s] { return time_s -= 1; };
  SamplerOptions options;
  options.max_samples = 100;
  EXPECT_EQ(sample(bench, options).summary.stop, StopReason::sample_limit);
}

TEST(Sampler, CancellingIsHonouredBetweenAnyTwoBatches) {
  for (const std::size_t after : {0U, 1U, 2U, 5U, 50U, 320U}) {  // calibrating, settling, sampling
    FakeDevice device(noisy(1e-3, {.deviation = 0.1}));
    Bench bench = device.bench();
    bench.cancelled = [&device, after] { return device.launches_of.size() >= after; };
    const Samples samples = sample(bench, {});
    EXPECT_EQ(samples.summary.stop, StopReason::cancelled);
    EXPECT_EQ(device.launches_of.size(), after);
    EXPECT_EQ(samples.seconds.empty(), after < 320);
  }
}

TEST(Sampler, AKernelSlowerThanTheTimeLimitGetsOneSample) {
  for (const WarmUpMode mode : {WarmUpMode::fixed, WarmUpMode::stable}) {
    FakeDevice device(steady(5));
    SamplerOptions options;
    options.warm_up = mode;
    const Samples samples = sample(device.bench(), options);
    EXPECT_EQ(samples.summary.stop, StopReason::time_limit);
    ASSERT_EQ(samples.summary.samples, 1);
    EXPECT_DOUBLE_EQ(samples.summary.median, 5);
    EXPECT_TRUE(std::isnan(samples.summary.ci95.low) && std::isnan(samples.summary.ci95.high));
    EXPECT_LE(device.launches_of.size(), mode == WarmUpMode::fixed ? 3U : 4U) << "two of them to calibrate";
  }
}

TEST(Sampler, ALongKernelGetsTheLeastSamplesWithinThreeTimesItsLimit) {
  const auto samples_of = [](double seconds, double max_time_s) {
    FakeDevice device(steady(seconds));
    SamplerOptions options = no_settling();
    options.max_time_s = max_time_s;
    options.least_samples = 10;
    options.min_samples = 1000;
    const Summary summary = sample(device.bench(), options).summary;
    EXPECT_EQ(summary.stop, StopReason::time_limit);
    return summary.samples;
  };
  EXPECT_EQ(samples_of(0.25, 1.5), 10) << "six of them within the limit";
  EXPECT_EQ(samples_of(0.25, 6), 24) << "the limit alone";
  EXPECT_EQ(samples_of(0.75, 1.5), 6) << "three times the limit";
  EXPECT_EQ(samples_of(5, 1.5), 1);
}

TEST(Sampler, FixedSettlingLastsItsTimeAndIsLeftOut) {
  FakeDevice device([](std::int64_t launches, int, double now_s) {
    return static_cast<double>(launches) * (now_s < 100.29 ? 2e-3 : 1e-3);
  });
  const Samples samples = sample(device.bench(), {});
  EXPECT_NEAR(samples.summary.warm_up_s, 0.3, 0.01);
  EXPECT_DOUBLE_EQ(samples.summary.max, 1e-3);
}

TEST(Sampler, ALongKernelIsWarmedUpNoMoreThanNeeded) {
  FakeDevice device(steady(0.2));
  const Samples samples = sample(device.bench(), {});
  EXPECT_EQ(device.launches_of.size() - samples.seconds.size(), 2U) << "two calibrating launches warmed it up";
}

TEST(Sampler, StableSettlingWaitsForThePowerLimiter) {
  FakeDevice device([](std::int64_t launches, int, double now_s) {  // acts after two windows that agree
    return static_cast<double>(launches) * (now_s < 100.7 ? 1.0e-3 : 1.2e-3);
  });
  SamplerOptions options;
  options.warm_up = WarmUpMode::stable;
  const Samples samples = sample(device.bench(), options);
  EXPECT_FALSE(samples.summary.drifting);
  EXPECT_DOUBLE_EQ(samples.summary.min, 1.2e-3);
  EXPECT_LT(samples.summary.warm_up_s, 2);
}

TEST(Sampler, StableSettlingGivesUpAtItsCapAndSaysSo) {
  FakeDevice device([](std::int64_t launches, int, double now_s) {
    return static_cast<double>(launches) * 1e-3 * (1 + 0.05 * (now_s - 100));
  });
  SamplerOptions options;
  options.warm_up = WarmUpMode::stable;
  const Samples samples = sample(device.bench(), options);
  EXPECT_TRUE(samples.summary.drifting);
  EXPECT_NEAR(samples.summary.warm_up_s, 3, 0.01);
}

TEST(Sampler, StableSettlingWatchesTheClockToo) {
  SamplerOptions options;
  options.warm_up = WarmUpMode::stable;
  FakeDevice falling(steady(1e-3));
  falling.clock_of = [](double now_s) { return 2e9 - 1e8 * (now_s - 100); };
  EXPECT_TRUE(sample(falling.bench(), options).summary.drifting);
  FakeDevice even(steady(1e-3));
  even.clock_of = [](double) { return 2e9; };
  EXPECT_FALSE(sample(even.bench(), options).summary.drifting);
}

TEST(Sampler, DriftWhileSamplingIsFlagged) {
  const auto creeping = [](double rate) {
    return [rate, series = NoisySeries({.deviation = 0.02}, 4)](std::int64_t launches, int, double now_s) mutable {
      return static_cast<double>(launches) * 5e-3 * series() * (1 + rate * (now_s - 100));
    };
  };
  FakeDevice drifting(creeping(0.05));
  EXPECT_TRUE(sample(drifting.bench(), {}).summary.drifting);
  FakeDevice level(creeping(0));
  EXPECT_FALSE(sample(level.bench(), {}).summary.drifting);
}

TEST(Sampler, NoSampleIsDropped) {
  FakeDevice device(noisy(1e-3, {.spike_share = 0.05}, 3));
  const Samples samples = sample(device.bench(), no_settling());
  ASSERT_EQ(device.launches_of.size(), samples.seconds.size() + 2);
  const std::vector<double> readings = last_readings(device, samples);
  EXPECT_EQ(samples.seconds, readings) << "one launch a sample, in the order taken";
  EXPECT_EQ(samples.summary.max, *std::max_element(readings.begin(), readings.end()));
  EXPECT_GT(samples.summary.max, 2.5e-3);
  EXPECT_EQ(samples.summary.samples, static_cast<std::int64_t>(readings.size()));
}

TEST(Sampler, ClocksAreKeptWhenEverySampleHasOne) {
  FakeDevice device(steady(1e-3));
  device.clock_of = [](double) { return 1.5e9; };
  const Samples all = sample(device.bench(), {});
  EXPECT_EQ(all.clock_hz.size(), all.seconds.size());
  EXPECT_EQ(all.summary.clock_hz, 1.5e9);

  FakeDevice gaps(steady(1e-3));
  gaps.clock_of = [&gaps](double) { return gaps.launches_of.size() % 2 == 0 ? std::optional(1.5e9) : std::nullopt; };
  const Samples some = sample(gaps.bench(), {});
  EXPECT_TRUE(some.clock_hz.empty()) << "which sample would they belong to?";
  EXPECT_EQ(some.summary.clock_hz, 1.5e9);

  FakeDevice none(steady(1e-3));
  EXPECT_FALSE(sample(none.bench(), {}).summary.clock_hz);
}

TEST(Sampler, TheClockInTheWorkBelongsToItsSample) {
  FakeDevice device(noisy(1e-3, {.deviation = 0.05}, 9));
  device.clock_of = [](double) { return 1.5e9; };
  device.work_clock_of = [](double launch_s) { return 2e6 / launch_s; };  // always 2e6 cycles
  const Samples all = sample(device.bench(), {});
  ASSERT_EQ(all.work_clock_hz.size(), all.seconds.size());
  EXPECT_NEAR(all.summary.work_clock_hz.value_or(0) * all.summary.median, 2e6, 1);
  EXPECT_EQ(all.summary.clock_hz, 1.5e9);

  FakeDevice gaps(noisy(1e-3, {}, 9));
  gaps.work_clock_of = [&gaps](double) { return gaps.launches_of.size() % 2 == 0 ? std::optional(2e9) : std::nullopt; };
  EXPECT_FALSE(sample(gaps.bench(), {}).summary.work_clock_hz);
}

}  // namespace
}  // namespace roofline
