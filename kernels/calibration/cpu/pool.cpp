// Launch floor of the CPU: empty parallel regions per second with all workers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "device/cpu/cpu_device.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

// Regions per launch: loop overhead of 2 ns would be visible beside the 12 ns of a region of one thread.
constexpr double kRegions = 16;

/// Regions that a worker has entered, each counter on its own cache line: proof that it took part.
struct alignas(64) Entered {
  std::int64_t regions = 0;
};

std::optional<ProbeCase> make_pool_launch(Device& device, const ProbeRequest& request, int variant) {
  if (variant > 0) return std::nullopt;
  ThreadPool& pool = as_cpu(device).pool();
  auto entered = std::make_shared<std::vector<Entered>>(static_cast<std::size_t>(pool.size()));
  auto started = std::make_shared<std::int64_t>(0);
  const std::int64_t regions = std::max<std::int64_t>(1, std::llround(kRegions * request.scale));

  ProbeCase probe;
  probe.variant = fmt::format("{} threads", pool.size());
  probe.amount = static_cast<double>(regions);
  probe.work.launches = regions;
  probe.run = [entered, started, regions, &pool] {
    for (std::int64_t region = 0; region < regions; ++region) {
      ++*started;
      pool.run([&entered](int worker) { ++(*entered)[static_cast<std::size_t>(worker)].regions; });
    }
  };
  probe.verify = [entered, started]() -> std::optional<std::string> {
    for (std::size_t worker = 0; worker < entered->size(); ++worker) {
      const std::int64_t count = (*entered)[worker].regions;
      if (count != *started) return fmt::format("thread {} entered {} of {} parallel regions", worker, count, *started);
    }
    return std::nullopt;
  };
  return probe;
}

Probe pool_probe() {
  return {.name = "launch.pool", .device = DeviceKind::cpu, .kind = CeilingKind::overhead, .make = make_pool_launch};
}

const ProbeRegistrar kRegistrar({pool_probe()});

}  // namespace
}  // namespace roofline
