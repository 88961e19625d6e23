// Faults of published bandwidth figures (docs/method.md has the list), committed on a real GPU: the audit must name
// each, and find nothing in the honest probes that they are made from.
#include <gmock/gmock.h>

#include <functional>
#include <limits>

#include "device/cuda/check.hpp"
#include "device/cuda/handles.hpp"
#include "measure/audit.hpp"
#include "quick_audit.hpp"

namespace roofline {
namespace {

using ::testing::HasSubstr;
using WrongMemoryProbeTest = GpuTest;

/// The probe of that name, each of whose cases `change` has had its way with.
Probe changed(const std::string& name, std::function<void(ProbeCase&)> change) {
  Probe probe = probe_named(name);
  probe.make = [honest = probe.make, change = std::move(change)](Device& device, const ProbeRequest& request,
                                                                 int variant) {
    auto made = honest(device, request, variant);
    if (made) change(*made);
    return made;
  };
  return probe;
}

TEST_F(WrongMemoryProbeTest, TheHonestOnesPass) {
  for (const char* name : {"hbm.read", "hbm.triad", "l2.read", "l2.write", "l2.copy", "l1.read", "shared.read",
                           "pcie.h2d", "latency.l2"}) {
    std::string found = failures(measured_quickly(gpu(), probe_named(name)).ceiling);
    // The host's bus has other tenants, and a quick look has few samples: a probe may have a bad moment, but not three
    // in a row.
    for (int again = 0; !found.empty() && again < 2; ++again)
      found = failures(measured_quickly(gpu(), probe_named(name)).ceiling);
    EXPECT_EQ(found, "") << name;
  }
}

TEST_F(WrongMemoryProbeTest, ABufferThatFitsL2SoldAsHbm) {
  Probe probe = changed("l2.read", [](ProbeCase& made) {
    made.nearer_cache_bytes = std::numeric_limits<double>::quiet_NaN();
    made.work.bytes[Level::hbm] = made.work.bytes[Level::l2];
  });
  const Probe& honest = probe_named("hbm.read");
  probe.name = honest.name;
  probe.level = honest.level;
  probe.limit = honest.limit;
  const Ceiling ceiling = measured_quickly(gpu(), probe).ceiling;
  EXPECT_THAT(failures(ceiling), HasSubstr(std::string(kWorkingSetCheck)));
  if (ceiling.limit) {
    EXPECT_THAT(failures(ceiling), HasSubstr("limit"));
    EXPECT_GT(ceiling.value, ceiling.limit->value) << "shown as it was measured";
  }
}

TEST_F(WrongMemoryProbeTest, ATriadCountedAsTwoStreams) {
  const Probe probe = changed("hbm.triad", [](ProbeCase& made) { made.amount *= 2.0 / 3; });
  EXPECT_THAT(failures(measured_quickly(gpu(), probe).ceiling), HasSubstr(std::string(kAccountingCheck)));
}

/// Every launch by itself, and its stop event only once the host has seen it end: what the host takes for that
/// is in the interval.
Reading time_with_the_host(const ProbeCase& work, cudaStream_t stream, std::int64_t launches) {
  const Event start = make_event();
  const Event stop = make_event();
  double seconds = 0;
  for (std::int64_t i = 0; i < launches; ++i) {
    check(cudaEventRecord(start.get(), stream), "recording the start");
    work.run();
    check(cudaStreamSynchronize(stream), "too early");
    check(cudaEventRecord(stop.get(), stream), "recording the stop");
    check(cudaEventSynchronize(stop.get()), "waiting");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start.get(), stop.get()), "reading the time");
    seconds += static_cast<double>(milliseconds) * 1e-3;
  }
  return {.seconds = seconds, .clock_hz = std::nullopt};
}

TEST_F(WrongMemoryProbeTest, AStopEventRecordedAfterAHostSynchronise) {
  const Probe& honest = probe_named("l1.read");
  Probe probe = honest;
  probe.make = [&](Device& device, const ProbeRequest& request, int variant) {
    // Launches of 30 us, as such tools time them.
    auto made = honest.make(device, ProbeRequest{.quick = true, .scale = 0.06 * request.scale}, variant);
    if (made) {
      made->batch = [work = *made, stream = gpu().stream()](std::int64_t launches) {
        return time_with_the_host(work, stream, launches);
      };
    }
    return made;
  };
  const Ceiling ceiling = measured_quickly(gpu(), probe).ceiling;
  const Check* const check = check_of(ceiling, kDoublingCheck);
  ASSERT_NE(check, nullptr);
  EXPECT_NE(check->status, CheckStatus::pass) << check->detail;  // open where the host's times scatter too much to tell
}

}  // namespace
}  // namespace roofline
