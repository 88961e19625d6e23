// Every CUDA probe: makes its variants, verifies, and lands between a plausible share of its limit and the limit.
#include <iostream>

#include "gpu_test.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

using ProbeTest = GpuTest;

Reading time_of(Device& device, const ProbeCase& probe_case, std::int64_t launches) {
  if (probe_case.batch) return probe_case.batch(launches);
  return device.timer([&](std::int64_t) { probe_case.run(); })->time(launches);
}

/// Launches that take about 20 ms, but never fewer than two.
Reading best_of_three(Device& device, const ProbeCase& probe_case, std::int64_t& launches) {
  const double once = time_of(device, probe_case, 2).seconds / 2;
  launches = std::max<std::int64_t>(2, static_cast<std::int64_t>(0.02 / once));
  Reading best = time_of(device, probe_case, launches);
  for (int i = 0; i < 2; ++i) {
    const Reading again = time_of(device, probe_case, launches);
    if (again.seconds < best.seconds) best = again;
  }
  return best;
}

/// Runs and verifies one case; returns its rate per second.
double check_case(Device& device, const Probe& probe, const ProbeCase& probe_case) {
  SCOPED_TRACE(probe_case.variant);
  const auto wrong = [&] { return probe_case.verify ? probe_case.verify() : std::nullopt; };
  probe_case.run();
  device.synchronize();
  EXPECT_EQ(wrong(), std::nullopt);
  std::int64_t launches = 0;
  const Reading reading = best_of_three(device, probe_case, launches);
  EXPECT_EQ(wrong(), std::nullopt) << "after timing";
  const double rate = probe_case.amount * static_cast<double>(launches) / reading.seconds;
  const auto limit = probe.limit ? probe.limit(device, reading.clock_hz) : std::nullopt;
  std::cout << "  " << probe.name << ": " << rate;
  if (limit) std::cout << " of " << limit->value << " (" << rate / limit->value * 100 << " %)";
  std::cout << ", " << reading.clock_hz.value_or(0) * 1e-6 << " MHz, " << probe_case.variant << '\n';
  if (limit) {
    EXPECT_LT(rate, 1.02 * limit->value) << limit->basis;
  }
  return rate;
}

TEST_F(ProbeTest, EveryVariantVerifies) {
  ASSERT_FALSE(all_probes(DeviceKind::cuda).empty());
  for (const Probe* probe : all_probes(DeviceKind::cuda)) {
    SCOPED_TRACE(probe->name);
    if (probe->unsupported) {
      if (const auto reason = probe->unsupported(gpu())) {
        std::cout << "  " << probe->name << ": " << *reason << '\n';
        continue;
      }
    }
    double best = 0;
    for (int variant = 0;; ++variant) {
      const auto probe_case = probe->make(gpu(), ProbeRequest{}, variant);
      if (!probe_case) break;
      best = std::max(best, check_case(gpu(), *probe, *probe_case));
    }
    ASSERT_GT(best, 0);
  }
}

TEST_F(ProbeTest, TwiceTheScaleIsTwiceTheWork) {
  for (const Probe* probe : all_probes(DeviceKind::cuda)) {
    if (!probe->scalable || (probe->unsupported && probe->unsupported(gpu()))) continue;
    SCOPED_TRACE(probe->name);
    const double once = probe->make(gpu(), {.quick = true, .scale = 1}, 0)->amount;
    const double twice = probe->make(gpu(), {.quick = true, .scale = 2}, 0)->amount;
    EXPECT_NEAR(twice / once, 2, 0.001);
  }
}

}  // namespace
}  // namespace roofline
