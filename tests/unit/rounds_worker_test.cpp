// The order of a calibration in its worker, with probes of the test's own on the real device.
#include "calibrate/rounds_worker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "host/host.hpp"

namespace roofline {
namespace {

struct Calibrated {
  std::vector<std::string> order;  ///< of the cases that were made
  MessageReader results;
};

/// A roof, and a sweep of `points` points that comes first and takes 20 ms per launch.
Calibrated calibrate_with_sweep_of(int points) {
  Calibrated calibrated;
  Probe roof;
  roof.name = "fp32";
  roof.kind = CeilingKind::compute;
  roof.pipe = Pipe::fp32;
  roof.make = [&](Device&, const ProbeRequest& request, int variant) -> std::optional<ProbeCase> {
    if (variant > 0) return std::nullopt;
    calibrated.order.emplace_back("roof");
    ProbeCase made;
    made.amount = 1e6 * request.scale;
    made.work.flops[Pipe::fp32] = made.amount;
    made.run = [] {};
    made.batch = [scale = request.scale](std::int64_t launches) {
      return Reading{.seconds = 1e-3 * scale * static_cast<double>(launches), .clock_hz = {}};
    };
    return made;
  };
  Probe sweep;
  sweep.name = "sweep.read";
  sweep.level = Level::dram;
  sweep.sweep = SweepAxis::working_set;
  sweep.comes_first = [](const Device&) { return true; };
  sweep.make = [&](Device&, const ProbeRequest&, int variant) -> std::optional<ProbeCase> {
    if (variant >= points) return std::nullopt;
    calibrated.order.emplace_back("sweep");
    ProbeCase made;
    made.amount = 1e6;
    made.x = 1e6 * (variant + 1);
    made.run = [] {};
    made.batch = [](std::int64_t launches) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return Reading{.seconds = 20e-3 * static_cast<double>(launches), .clock_hz = {}};
    };
    return made;
  };
  CalibrateOptions options;
  options.device = {.kind = DeviceKind::cpu, .index = 0, .options = {.threads = 1, .cpus = {}}};
  options.effort = {.quick = false, .sustain_s = 0, .time_s = 2};
  const std::set<std::string> lost;
  RoundsWorker worker(options, {&roof, &sweep}, lost, wall_seconds());
  const Send send = [&](std::string_view message) { calibrated.results.read(message); };
  while (worker.run(send) == AfterJob::next) {
  }
  return calibrated;
}

TEST(RoundsWorker, TheSweepThatOthersDependOnComesFirst) {
  const Calibrated calibrated = calibrate_with_sweep_of(1);
  EXPECT_EQ(calibrated.order.front(), "sweep");
  EXPECT_TRUE(calibrated.results.sweeps.contains("sweep.read"));
  EXPECT_TRUE(calibrated.results.measured.contains("fp32"));
}

TEST(RoundsWorker, ASweepThatTakesTooLongLeavesTimeToTheRoofs) {
  const Calibrated calibrated = calibrate_with_sweep_of(100000);
  EXPECT_EQ(calibrated.order.front(), "sweep");
  EXPECT_TRUE(calibrated.results.measured.contains("fp32"));
  EXPECT_FALSE(calibrated.results.sweeps.contains("sweep.read"));
  ASSERT_EQ(calibrated.results.machine.unmeasured.size(), 1U);
  EXPECT_EQ(calibrated.results.machine.unmeasured.front().name, "sweep.read");
}

/// A probe of main memory that takes 1 ms per launch and notes its first case in `order`.
Probe noted_probe(Pattern pattern, Role role, std::vector<std::string>& order) {
  Probe probe;
  probe.name = std::string(to_string(pattern)) + (role == Role::roof ? "" : ", reference");
  probe.level = Level::dram;
  probe.pattern = pattern;
  probe.role = role;
  probe.scalable = false;
  probe.make = [name = probe.name, &order](Device&, const ProbeRequest&, int variant) -> std::optional<ProbeCase> {
    if (variant > 0) return std::nullopt;
    if (std::find(order.begin(), order.end(), name) == order.end()) order.push_back(name);
    ProbeCase made;
    made.amount = 1e6;
    made.run = [] {};
    made.batch = [](std::int64_t launches) {
      return Reading{.seconds = 1e-3 * static_cast<double>(launches), .clock_hz = {}};
    };
    return made;
  };
  return probe;
}

TEST(RoundsWorker, RoofsInPlaceComeAfterTheOthersAndBeforeReferences) {
  std::vector<std::string> order;
  const Probe reference = noted_probe(Pattern::copy, Role::reference, order);
  const Probe update = noted_probe(Pattern::update, Role::roof, order);
  const Probe copy = noted_probe(Pattern::copy, Role::roof, order);
  const Probe accumulate = noted_probe(Pattern::accumulate, Role::roof, order);
  const Probe read = noted_probe(Pattern::read, Role::roof, order);
  CalibrateOptions options;
  options.device = {.kind = DeviceKind::cpu, .index = 0, .options = {.threads = 1, .cpus = {}}};
  options.effort = {.quick = false, .sustain_s = 0, .time_s = 2};
  const std::set<std::string> lost;
  RoundsWorker worker(options, {&reference, &update, &copy, &accumulate, &read}, lost, wall_seconds());
  while (worker.run([](std::string_view) {}) == AfterJob::next) {
  }
  EXPECT_EQ(order, (std::vector<std::string>{"copy", "read", "update", "accumulate", "copy, reference"}));
}

}  // namespace
}  // namespace roofline
