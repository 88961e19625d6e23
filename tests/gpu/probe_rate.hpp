// How tests on a GPU time a case of a probe: a few batches of some milliseconds, the best one counts.
#pragma once

#include <algorithm>
#include <string>

#include "gpu_test.hpp"
#include "model/error.hpp"
#include "op/probe.hpp"
#include "op/registry.hpp"

namespace roofline {

/// The probe of that name; fails the test without one.
inline const Probe& probe_named(const std::string& name) {
  for (const Probe* probe : all_probes(DeviceKind::cuda)) {
    if (probe->name == name) return *probe;
  }
  throw Error("no CUDA probe is called " + name);
}

/// Amount per second. Verifies first.
inline double rate_of(CudaDevice& device, const ProbeCase& probe_case) {
  probe_case.run();
  device.synchronize();
  if (probe_case.verify) {
    EXPECT_EQ(probe_case.verify(), std::nullopt) << probe_case.variant;
  }
  const auto timer = probe_case.batch ? nullptr : device.timer([&](std::int64_t) { probe_case.run(); });
  const auto time = [&](std::int64_t launches) {
    return timer ? timer->time(launches).seconds : probe_case.batch(launches).seconds;
  };
  const auto launches = std::max<std::int64_t>(1, static_cast<std::int64_t>(5e-3 / time(1)));
  double best = time(launches);
  for (int i = 0; i < 4; ++i) best = std::min(best, time(launches));
  return probe_case.amount * static_cast<double>(launches) / best;
}

/// The best rate of all variants of a probe.
inline double best_rate(CudaDevice& device, const std::string& name) {
  const Probe& probe = probe_named(name);
  double best = 0;
  for (int variant = 0;; ++variant) {
    const auto made = probe.make(device, ProbeRequest{}, variant);
    if (!made) return best;
    best = std::max(best, rate_of(device, *made));
  }
}

}  // namespace roofline
