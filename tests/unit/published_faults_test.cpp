// Every fault of published roofline tools (docs/method.md has the list), committed here by a probe on purpose: the
// audit must name it. Those that need a GPU to go wrong are in tests/gpu.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "calibrate/measure_probe.hpp"
#include "measure/audit.hpp"
#include "model/error.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/mentions.hpp"
#include "tests/support/values.hpp"

namespace roofline {
namespace {

using ::testing::HasSubstr;

/// A probe of one variant that takes `fixed_s` plus `seconds` for each unit of scale, whatever it counts.
struct Fault {
  double amount = 1e9;
  double seconds = 1e-3;
  double fixed_s = 0;
  Work work = {};
  double working_set = 0;
  std::function<std::vector<std::byte>()> operands = {};
};

Probe probe_of(const Fault& simulated, CeilingKind kind) {
  Probe probe;
  probe.name = kind == CeilingKind::compute ? "fp32" : "dram.read";
  probe.kind = kind;
  if (kind == CeilingKind::compute) {
    probe.pipe = Pipe::fp32;
  } else {
    probe.level = Level::dram;
    probe.pattern = Pattern::read;
  }
  probe.make = [=](Device&, const ProbeRequest& request, int index) -> std::optional<ProbeCase> {
    if (index > 0) return std::nullopt;
    const double seconds = simulated.fixed_s + simulated.seconds * request.scale;
    ProbeCase made;
    made.amount = simulated.amount * request.scale;
    made.work = simulated.work;
    for (auto& [pipe, count] : made.work.flops) count *= request.scale;
    for (auto& [level, traffic] : made.work.bytes) {
      traffic = {traffic.read * request.scale, traffic.write * request.scale};
    }
    made.working_set_bytes = simulated.working_set;
    made.operands = simulated.operands;
    made.run = [] {};
    made.batch = [seconds](std::int64_t launches) {
      return Reading{.seconds = seconds * static_cast<double>(launches), .clock_hz = 1e9};
    };
    return made;
  };
  return probe;
}

MeasuredProbe measure_fault(const Probe& probe, double last_level_cache = kMiB) {
  FakeDevice device(last_level_cache);
  Effort effort;
  effort.sustain_s = 0;
  ProbeOutcome outcome = measure_probe(probe, device, effort, [] { return false; });
  if (const auto* reason = std::get_if<std::string>(&outcome)) throw Error(*reason);
  return std::get<MeasuredProbe>(outcome);
}

/// The failed checks' names and details, in one line.
std::string failures(const Ceiling& ceiling) {
  std::string names;
  for (const Check& check : ceiling.audit.checks) {
    if (check.status == CheckStatus::fail) names += check.name + ": " + check.detail + "; ";
  }
  return names;
}

/// A line of failures() with that check and these figures.
template <class... Figures>
auto failed(std::string_view check, const Figures&... figures) {
  return mentions(std::string(check) + ": ", figures...);
}

Fault honest_compute() {
  Fault simulated;
  simulated.work.flops[Pipe::fp32] = simulated.amount;
  return simulated;
}

Fault honest_read() {
  Fault simulated;
  simulated.work.bytes[Level::dram] = {.read = simulated.amount, .write = 0};
  simulated.working_set = 64 * kMiB;
  return simulated;
}

TEST(PublishedFaults, AnHonestProbeIsNotSuspect) {
  EXPECT_EQ(failures(measure_fault(probe_of(honest_compute(), CeilingKind::compute)).ceiling), "");
  EXPECT_EQ(failures(measure_fault(probe_of(honest_read(), CeilingKind::bandwidth)).ceiling), "");
}

TEST(PublishedFaults, ATensorPeakThatLoadsItsOperandsFromMemory) {
  // 170.7 FLOP/byte on a machine whose ridge is 143: what it measures is the bandwidth times 170.7.
  Fault simulated = honest_compute();
  simulated.work.bytes[Level::dram] = {.read = simulated.amount / 170.7, .write = 0};
  const MeasuredProbe measured = measure_fault(probe_of(simulated, CeilingKind::compute));
  EXPECT_NEAR(measured.intensity, 170.7, 0.1);
  const Check check = audit_intensity(CeilingKind::compute, measured.intensity, 686e12 / 4.8e12);
  EXPECT_EQ(check.status, CheckStatus::fail);
  EXPECT_THAT(check.detail, HasSubstr("170.7"));
}

TEST(PublishedFaults, FmaChainsTooShortReachTooLittleOfTheLimit) {
  Probe probe = probe_of(honest_compute(), CeilingKind::compute);
  probe.least_of_limit = 0.9;
  probe.limit = [](const Device&, std::optional<double> clock) {
    return Limit{.value = 1e12 / 0.63 * (*clock / 1e9), .basis = "lanes x clock"};
  };
  EXPECT_THAT(failures(measure_fault(probe).ceiling), failed(kLimitCheck, "63.00 %"));
}

TEST(PublishedFaults, AmongVariantsTheLongerChainsWinAndAreNamed) {
  Probe probe = probe_of(honest_compute(), CeilingKind::compute);
  const auto make = probe.make;
  probe.make = [make](Device& device, const ProbeRequest& request, int index) {
    auto made = index < 3 ? make(device, request, 0) : std::nullopt;
    if (made) {
      made->variant = index == 1 ? "8 chains" : "2 chains";
      if (index != 1) made->amount *= 0.63;
    }
    return made;
  };
  EXPECT_EQ(measure_fault(probe).ceiling.variant, "8 chains");
}

TEST(PublishedFaults, ABufferThatFitsTheCache) {
  Fault simulated = honest_read();
  simulated.working_set = 48 * kMiB;
  const Ceiling ceiling = measure_fault(probe_of(simulated, CeilingKind::bandwidth), 72 * kMiB).ceiling;
  EXPECT_THAT(failures(ceiling), failed(kWorkingSetCheck));
}

TEST(PublishedFaults, ATriadCountedAsTwoStreams) {
  Fault simulated = honest_read();
  simulated.work.bytes[Level::dram] = {.read = 2e9 / 3, .write = 1e9 / 3};
  simulated.amount = 2e9 / 3;
  Probe probe = probe_of(simulated, CeilingKind::bandwidth);
  probe.pattern = Pattern::triad;
  EXPECT_THAT(failures(measure_fault(probe).ceiling), failed(kAccountingCheck)) << "not what the model says";
  simulated.work.bytes[Level::dram] = {.read = 1e9 / 3, .write = 1e9 / 3};
  probe = probe_of(simulated, CeilingKind::bandwidth);
  probe.pattern = Pattern::triad;
  EXPECT_THAT(failures(measure_fault(probe).ceiling), failed(kAccountingCheck, "50.0 %", "33.3 %"))
      << "and a model of two streams is no triad";
}

TEST(PublishedFaults, AnImpossibleValueIsShownAndNotClamped) {
  Probe probe = probe_of(honest_compute(), CeilingKind::compute);
  probe.limit = [](const Device&, std::optional<double>) { return Limit{.value = 0.7e12, .basis = "half the truth"}; };
  const Ceiling ceiling = measure_fault(probe).ceiling;
  EXPECT_NEAR(ceiling.value, 1e12, 1e9);
  EXPECT_THAT(failures(ceiling), failed(kLimitCheck, "142.86 %"));
}

TEST(PublishedFaults, ASpecificationWithTheSparseRate) {
  // Twice the dense rate: the best that can be measured is half of it.
  Probe probe = probe_of(honest_compute(), CeilingKind::compute);
  probe.least_of_limit = 0.9;
  probe.limit = [](const Device&, std::optional<double>) {
    return Limit{.value = 2.02e12, .basis = "data sheet, with sparsity"};
  };
  EXPECT_THAT(failures(measure_fault(probe).ceiling), failed(kLimitCheck, "90 %"));
}

TEST(PublishedFaults, HostLatencyWithinTheInterval) {
  // The stop event is recorded after a host synchronise: 60 us of the host's time in every 1 ms.
  Fault simulated = honest_compute();
  simulated.fixed_s = 60e-6;
  EXPECT_THAT(failures(measure_fault(probe_of(simulated, CeilingKind::compute)).ceiling),
              failed(kDoublingCheck, "1.943 x"));
}

TEST(PublishedFaults, ALaunchErrorThatIsNeverPrinted) {
  Probe probe = probe_of(honest_compute(), CeilingKind::compute);
  const auto make = probe.make;
  probe.make = [make](Device& device, const ProbeRequest& request, int index) {
    auto made = make(device, request, index);
    if (made) made->run = [] { throw Error("launching the kernel: invalid configuration argument"); };
    return made;
  };
  FakeDevice device;
  Effort effort;
  const ProbeOutcome outcome = measure_probe(probe, device, effort, [] { return false; });
  EXPECT_THAT(std::get<std::string>(outcome), HasSubstr("invalid configuration argument"));
}

TEST(PublishedFaults, ZerosAsData) {
  Fault simulated = honest_compute();
  simulated.operands = [] { return std::vector<std::byte>(4096); };
  EXPECT_THAT(failures(measure_fault(probe_of(simulated, CeilingKind::compute)).ceiling),
              failed(kOperandsCheck, "0.00 bits"));
  simulated.operands = [] {
    std::mt19937 generator(1);
    std::uniform_real_distribution<float> any(-1, 1);
    std::vector<std::byte> bytes(4096);
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(float)) {
      const float value = any(generator);
      std::memcpy(bytes.data() + i, &value, sizeof value);
    }
    return bytes;
  };
  EXPECT_EQ(failures(measure_fault(probe_of(simulated, CeilingKind::compute)).ceiling), "");
}

TEST(PublishedFaults, CodeThatTheCompilerRemoved) {
  Fault simulated = honest_compute();
  simulated.seconds = 0;
  simulated.fixed_s = 1e-3;
  EXPECT_THAT(failures(measure_fault(probe_of(simulated, CeilingKind::compute)).ceiling),
              failed(kDoublingCheck, " 1 x"));
}

TEST(PublishedFaults, OneBurstSoldAsThePeak) {
  // A kernel that loses a fifth of its clock under load that goes on: both figures are there, each with its regime.
  Probe probe = probe_of(honest_compute(), CeilingKind::compute);
  probe.sustained = true;
  probe.scalable = false;
  const auto make = probe.make;
  probe.make = [make](Device& device, const ProbeRequest& request, int index) {
    auto made = make(device, request, index);
    if (!made) return made;
    made->batch = [](std::int64_t launches) {
      const double slower = launches >= 10 ? 1.25 : 1;
      const double seconds = 1e-3 * slower * static_cast<double>(launches);
      return Reading{.seconds = seconds, .clock_hz = 1.98e9 / slower};
    };
    return made;
  };
  FakeDevice device;
  Effort effort;
  effort.sustain_s = 0.4;
  const ProbeOutcome outcome = measure_probe(probe, device, effort, [] { return false; });
  const auto& measured = std::get<MeasuredProbe>(outcome);
  ASSERT_TRUE(measured.sustained);
  EXPECT_EQ(measured.ceiling.regime, Regime::burst);
  EXPECT_EQ(measured.sustained->regime, Regime::sustained);
  EXPECT_NEAR(measured.ceiling.value, 1e12, 1e10);
  EXPECT_NEAR(measured.sustained->value, 0.8e12, 1e10);
  EXPECT_NEAR(*measured.sustained->clocks.core_hz, 1.98e9 / 1.25, 1e7);
  EXPECT_EQ(audit_duration(0.02, 2).status, CheckStatus::fail) << "20 ms are not sustained";
  EXPECT_EQ(audit_duration(2.01, 2).status, CheckStatus::pass);
}

}  // namespace
}  // namespace roofline
