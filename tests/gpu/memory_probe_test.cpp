// What the memory probes of a GPU must show together: nearer levels are faster and quicker to answer, and the sweep
// goes down from one to the next.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <thread>
#include <vector>

#include "device/cuda/nvml.hpp"
#include "host/host.hpp"
#include "probe_rate.hpp"

namespace roofline {
namespace {

using MemoryProbeTest = GpuTest;

struct SweptSize {
  double bytes = 0;
  double rate = 0;
};

std::vector<SweptSize> sweep(CudaDevice& device) {
  const Probe& probe = probe_named("sweep.read");
  std::vector<SweptSize> points;
  for (int variant = 0;; ++variant) {
    const auto made = probe.make(device, ProbeRequest{}, variant);
    if (!made) return points;
    EXPECT_EQ(made->x, made->working_set_bytes);
    points.push_back({made->x, rate_of(device, *made)});
    std::cout << "  " << made->x / 1024 << " KiB: " << points.back().rate * 1e-12 << " TB/s\n";
  }
}

/// The mean rate of the points from `from` to `to` bytes.
double level(const std::vector<SweptSize>& points, double from, double to) {
  double sum = 0;
  int count = 0;
  for (const SweptSize& point : points) {
    if (point.bytes < from || point.bytes > to) continue;
    sum += point.rate;
    ++count;
  }
  EXPECT_GT(count, 0) << from << " to " << to;
  return sum / count;
}

double l1_of_an_sm(const CudaDevice& device) {
  for (const CacheInfo& cache : device.info().caches) {
    if (cache.level == Level::l1) return cache.bytes;
  }
  return 128 * 1024;
}

/// What the points between two plateaus must be between. About the size of a cache it is for the addresses, and for how
/// far blocks that read the same lines have fallen in step, to decide how much still hits: an H100 read 47 MB a quarter
/// faster than 33 MB. So no point is compared with its neighbour.
struct Bounds {
  double least = 0, most = 0;
};

Bounds bounds_at(double bytes, double l1, double l2, double near, double middle, double far) {
  if (bytes <= l1 / 2) return {0.9 * near, 1.1 * near};
  if (bytes <= 2 * l1) return {0.8 * middle, 1.1 * near};
  if (bytes <= l2 / 3) return {0.8 * middle, 0.9 * near};
  if (bytes <= 8 * l2) return {0.9 * far, 1.25 * middle};
  return {0.9 * far, 1.1 * far};
}

TEST_F(MemoryProbeTest, TheSweepGoesDownFromLevelToLevel) {
  const std::vector<SweptSize> points = sweep(gpu());
  ASSERT_GT(points.size(), 20u);
  EXPECT_EQ(points.front().bytes, 16384);
  const double l1 = l1_of_an_sm(gpu());
  const double l2 = gpu().properties().l2_bytes;
  const double near = level(points, 16384, l1 / 2);
  // Less than half of L2, where the lines of the farther partition begin to miss.
  const double middle = level(points, l2 / 8, l2 / 3);
  const double far = level(points, 8 * l2, points.back().bytes);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i > 0) {
      EXPECT_NEAR(points[i].bytes / points[i - 1].bytes, std::sqrt(2.0), 0.02);
    }
    const Bounds bounds = bounds_at(points[i].bytes, l1, l2, near, middle, far);
    EXPECT_GT(points[i].rate, bounds.least) << points[i].bytes;
    EXPECT_LT(points[i].rate, bounds.most) << points[i].bytes;
  }
  EXPECT_GT(near, 1.5 * middle);
  EXPECT_GT(middle, 1.2 * far);
  EXPECT_NEAR(far / best_rate(gpu(), "hbm.read"), 1, 0.06);
  EXPECT_NEAR(near / best_rate(gpu(), "l1.read"), 1, 0.1);
}

TEST_F(MemoryProbeTest, NearerLevelsAreFaster) {
  const double hbm = best_rate(gpu(), "hbm.read");
  const double l2 = best_rate(gpu(), "l2.read");
  const double l1 = best_rate(gpu(), "l1.read");
  const double shared = best_rate(gpu(), "shared.read");
  EXPECT_GT(l2, hbm);
  EXPECT_GT(l1, l2);
  EXPECT_NEAR(shared / l1, 1, 0.1) << "one data path";
}

TEST_F(MemoryProbeTest, NearerLevelsAnswerSooner) {
  const auto latency = [&](const char* name) {
    const double seconds = 1 / best_rate(gpu(), name);
    std::cout << "  " << name << ": " << seconds * 1e9 << " ns\n";
    return seconds;
  };
  const double l2 = latency("latency.l2");
  EXPECT_LT(1.2 * l2, latency("latency.hbm"));
  EXPECT_LT(1.2 * latency("latency.l1"), l2);
  EXPECT_LT(latency("latency.shared"), l2);
}

// How much more both at once are is the machine's to say: hosts with an H100 moved 54.8 GB/s one way and 54.6 both
// ways, and 55.0 and 49.3. Far less than one after the other, or more than both alone, would be the probe's fault.
TEST_F(MemoryProbeTest, BothWaysAtOnceLieBetweenTheSlowerAloneAndBothTogether) {
  const double down = best_rate(gpu(), "pcie.h2d");
  const double up = best_rate(gpu(), "pcie.d2h");
  const double both = best_rate(gpu(), "pcie.duplex");
  std::cout << fmt::format("  {:.1f} GB/s down, {:.1f} up, {:.1f} both\n", down * 1e-9, up * 1e-9, both * 1e-9);
  EXPECT_GT(both, 0.7 * std::min(down, up));
  EXPECT_LT(both, 1.05 * (down + up));
  EXPECT_LT(best_rate(gpu(), "pcie.h2d.pageable"), 1.05 * down);
}

/// Launches hbm.read for that long, with one look at the sensors every 0.2 s.
void load(CudaDevice& device, const ProbeCase& work, double seconds) {
  const double start = wall_seconds();
  while (wall_seconds() - start < seconds) {
    for (int i = 0; i < 200; ++i) work.run();
    device.synchronize();
    static_cast<void>(device.power());
  }
}

TEST_F(MemoryProbeTest, TheEnergyMeterAgreesWithTheCounter) {
  if (gpu().nvml() == nullptr || !gpu().nvml()->energy_j()) GTEST_SKIP() << "NVML tells no energy";
  const auto watts = [&](double seconds, const std::function<void()>& during) {
    const double counter = gpu().nvml()->energy_j().value();
    const double meter = gpu().power().energy_j.value();
    const double start = wall_seconds();
    during();
    const double lasted = wall_seconds() - start;
    const double by_meter = (gpu().power().energy_j.value() - meter) / lasted;
    const double by_counter = (gpu().nvml()->energy_j().value() - counter) / lasted;
    std::cout << "  " << by_meter << " W by samples, " << by_counter << " W by the counter over " << lasted << " s\n";
    // The counter is up to 0.1 s old at either end.
    EXPECT_NEAR(by_meter / by_counter, 1, 0.02 + 0.2 / seconds);
    return by_meter;
  };
  const auto rest = [](double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); };
  rest(0.5);
  const double idle = watts(1.0, [&] { rest(1.0); });
  const auto read = probe_named("hbm.read").make(gpu(), ProbeRequest{.quick = true, .scale = 1}, 0);
  const double loaded = watts(2.0, [&] { load(gpu(), *read, 2.0); });
  EXPECT_GT(loaded, 1.2 * idle);
  // Longer than the samples are kept: the counter bridges the gap.
  rest(0.5);
  watts(4.0, [&] { rest(4.0); });
}

}  // namespace
}  // namespace roofline
