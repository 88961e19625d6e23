// From a probe to a ceiling: the best variant is kept, what is wrong is refused, what looks wrong is suspect.
#include "calibrate/measure_probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "measure/audit.hpp"
#include "model/error.hpp"
#include "tests/support/fake_device.hpp"

namespace roofline {
namespace {

using ::testing::HasSubstr;

/// A variant that takes `seconds` for `amount`, whatever the real time is.
struct Simulated {
  std::string name;
  double amount = 0;
  double seconds = 0;
  double seconds_when_doubled = 0;
  std::optional<std::string> wrong = {};
};

Probe probe_of(std::vector<Simulated> variants) {
  Probe probe;
  probe.name = "fp32";
  probe.kind = CeilingKind::compute;
  probe.pipe = Pipe::fp32;
  probe.make = [variants](Device&, const ProbeRequest& request, int index) -> std::optional<ProbeCase> {
    if (index >= static_cast<int>(variants.size())) return std::nullopt;
    const Simulated variant = variants[static_cast<std::size_t>(index)];
    const double seconds = request.scale == 2 ? variant.seconds_when_doubled : variant.seconds;
    ProbeCase made;
    made.variant = variant.name;
    made.amount = variant.amount * request.scale;
    made.work.flops[Pipe::fp32] = made.amount;
    made.run = [] {};
    made.batch = [seconds](std::int64_t launches) {
      return Reading{.seconds = seconds * static_cast<double>(launches), .clock_hz = 1e9};
    };
    made.verify = [variant] { return variant.wrong; };
    return made;
  };
  probe.limit = [](const Device&, std::optional<double> clock) {
    return Limit{.value = 4 * clock.value_or(0), .basis = "4 x clock"};
  };
  return probe;
}

ProbeOutcome measure(const Probe& probe) {
  FakeDevice device;
  return measure_probe(probe, device, Effort{.quick = false, .sustain_s = 0}, [] { return false; });
}

const Check* find(const Audit& audit, std::string_view name) {
  for (const Check& check : audit.checks) {
    if (check.name == name) return &check;
  }
  return nullptr;
}

TEST(MeasureProbe, KeepsTheFastestVariant) {
  const ProbeOutcome outcome =
      measure(probe_of({{"slow", 1e6, 1e-3, 2e-3}, {"fast", 3e6, 1e-3, 2e-3}, {"middle", 2e6, 1e-3, 2e-3}}));
  ASSERT_TRUE(std::holds_alternative<MeasuredProbe>(outcome)) << std::get<std::string>(outcome);
  const MeasuredProbe& measured = std::get<MeasuredProbe>(outcome);
  const Ceiling& ceiling = measured.ceiling;
  EXPECT_EQ(ceiling.variant, "fast");
  EXPECT_NEAR(ceiling.value, 3e9, 3e9 * 1e-6);
  EXPECT_NEAR(ceiling.ci95.low, 3e9, 3e9 * 1e-3);
  EXPECT_EQ(ceiling.clocks.core_hz, 1e9);
  EXPECT_EQ(ceiling.limit->basis, "4 x clock");
  EXPECT_FALSE(ceiling.suspect());
  EXPECT_TRUE(std::isinf(measured.intensity));
  EXPECT_EQ(measured.pipe, Pipe::fp32);
}

/// The rate depends on the pages that the buffers get, of the case and of twice its work.
TEST(MeasureProbe, TheFastestOfSeveralPlacementsCounts) {
  for (const int placements : {1, 4}) {
    Probe probe = probe_of({{"copy", 3e6, 1e-3, 2e-3}});
    probe.placements = placements;
    probe.make = [made = 0](Device&, const ProbeRequest& request, int index) mutable -> std::optional<ProbeCase> {
      if (index > 0) return std::nullopt;
      constexpr std::array kSlower = {1.1, 1.0, 1.05, 1.1, 1.15, 1.2, 1.0, 1.1};
      const double slower = kSlower.at(static_cast<std::size_t>(made++));
      ProbeCase of;
      of.amount = 3e6 * request.scale;
      of.work.flops[Pipe::fp32] = of.amount;
      of.run = [] {};
      of.batch = [seconds = 1e-3 * request.scale * slower](std::int64_t launches) {
        return Reading{.seconds = seconds * static_cast<double>(launches), .clock_hz = 1e9};
      };
      of.verify = [] { return std::nullopt; };
      return of;
    };
    probe.kind = CeilingKind::bandwidth;
    const Ceiling ceiling = std::get<MeasuredProbe>(measure(probe)).ceiling;
    EXPECT_NEAR(ceiling.value, placements == 1 ? 3e9 / 1.1 : 3e9, 3e9 * 1e-6);
    EXPECT_EQ(find(ceiling.audit, kDoublingCheck)->status, placements == 1 ? CheckStatus::fail : CheckStatus::pass);
  }
}

TEST(MeasureProbe, AWrongVariantNeverWins) {
  const ProbeOutcome outcome = measure(probe_of({{"right", 1e6, 1e-3, 2e-3}, {"wrong", 9e6, 1e-3, 2e-3, "sum is 7"}}));
  EXPECT_EQ(std::get<MeasuredProbe>(outcome).ceiling.variant, "right");
  EXPECT_THAT(std::get<std::string>(measure(probe_of({{"wrong", 9e6, 1e-3, 2e-3, "sum is 7"}}))),
              HasSubstr("sum is 7"));
}

TEST(MeasureProbe, DeadCodeIsSuspect) {
  // The compiler removed the loop: twice the work takes no longer.
  const Ceiling ceiling = std::get<MeasuredProbe>(measure(probe_of({{"dead", 3e6, 1e-3, 1.01e-3}}))).ceiling;
  EXPECT_TRUE(ceiling.suspect());
  EXPECT_EQ(find(ceiling.audit, kDoublingCheck)->status, CheckStatus::fail);
}

TEST(MeasureProbe, AValueAboveTheLimitIsSuspectAndNotClamped) {
  const Ceiling ceiling = std::get<MeasuredProbe>(measure(probe_of({{"magic", 8e6, 1e-3, 2e-3}}))).ceiling;
  EXPECT_TRUE(ceiling.suspect());
  EXPECT_NEAR(ceiling.value, 8e9, 8e9 * 1e-6);
  EXPECT_EQ(find(ceiling.audit, kLimitCheck)->status, CheckStatus::fail);
}

TEST(MeasureProbe, TheLimitIsAtTheClockOfTheInstructions) {
  FakeDevice device;
  device.set_core_hz(1e9);
  const auto measured_with = [&](std::function<std::optional<double>()> clock) {
    Probe probe = probe_of({{"fma", 3e6, 1e-3, 2e-3}});
    probe.make = [before = probe.make, clock](Device& on, const ProbeRequest& request, int index) {
      std::optional<ProbeCase> made = before(on, request, index);
      if (made) made->clock = clock;
      return made;
    };
    const Effort effort{.quick = false, .sustain_s = 0};
    return std::get<MeasuredProbe>(measure_probe(probe, device, effort, [] { return false; })).ceiling;
  };
  const Ceiling lowered = measured_with([] { return 0.8e9; });
  EXPECT_DOUBLE_EQ(lowered.limit->value, 4 * 0.8e9);
  EXPECT_EQ(lowered.clocks.core_hz, 1e9) << "kernels' clocks are read after them, too";
  EXPECT_DOUBLE_EQ(measured_with({}).limit->value, 4e9);
  EXPECT_DOUBLE_EQ(measured_with([] { return 0.5e9; }).limit->value, 4e9) << "3e9 is too much for 0.5 GHz";
  EXPECT_DOUBLE_EQ(measured_with([] { return std::optional<double>(); }).limit->value, 4e9) << "no chain decides";
}

/// Three operations a cycle, of which `share` are left, at a clock that falls by a tenth and never settles.
Ceiling sustained_at_a_falling_clock(double share, std::int64_t burst_rounds) {
  Probe probe = probe_of({{"fma", 3e6, 1e-3, 2e-3}});
  const auto made_before = probe.make;
  const auto launched = std::make_shared<double>(0);
  probe.make = [=](Device& device, const ProbeRequest& request, int index) {
    std::optional<ProbeCase> made = made_before(device, request, index);
    made->batch = [=](std::int64_t launches) {
      *launched += static_cast<double>(launches);
      const double clock_hz = 1e9 * (0.9 + 0.1 * std::exp(-*launched / 2e5));
      return Reading{.seconds = 3e6 / (3 * share * clock_hz) * static_cast<double>(launches), .clock_hz = clock_hz};
    };
    return made;
  };
  Ceiling burst;
  burst.value = 3e9;
  burst.clocks.core_hz = 1e9;
  burst.rounds = burst_rounds;
  FakeDevice device;
  const Effort effort{.quick = false, .sustain_s = 0.2};
  return measure_sustained(
             probe, device, effort, [] { return false; }, 0, burst)
      .value();
}

TEST(MeasureProbe, ASustainedRoofIsWhatTheClockLeaves) {
  const Ceiling regulated = sustained_at_a_falling_clock(1, 5);
  EXPECT_EQ(find(regulated.audit, kSteadyCheck), nullptr) << "turbo is shared with neighbours, and never settles";
  EXPECT_EQ(find(regulated.audit, kIntervalCheck), nullptr);
  EXPECT_EQ(find(regulated.audit, kCyclesCheck)->status, CheckStatus::pass);
  EXPECT_LE(regulated.ci95.low, regulated.value);
  EXPECT_GE(regulated.ci95.high, regulated.value);
  const Ceiling slowed = sustained_at_a_falling_clock(0.7, 5);
  EXPECT_EQ(find(slowed.audit, kCyclesCheck)->status, CheckStatus::provisional) << "no clock takes 30 % a cycle";
  EXPECT_NE(find(slowed.audit, kSteadyCheck), nullptr);
  EXPECT_NE(find(sustained_at_a_falling_clock(1, 0).audit, kSteadyCheck), nullptr) << "a GPU's limiter has a name";
}

TEST(MeasureProbe, ReasonsForNoCeiling) {
  Probe unsupported = probe_of({{"any", 1e6, 1e-3, 2e-3}});
  unsupported.unsupported = [](const Device&) { return "needs a tensor core"; };
  EXPECT_EQ(std::get<std::string>(measure(unsupported)), "needs a tensor core");
  EXPECT_THAT(std::get<std::string>(measure(probe_of({}))), HasSubstr("no variant"));

  Probe throwing = probe_of({{"any", 1e6, 1e-3, 2e-3}});
  throwing.make = [](Device&, const ProbeRequest&, int) -> std::optional<ProbeCase> { throw Error("out of memory"); };
  EXPECT_EQ(std::get<std::string>(measure(throwing)), "out of memory");

  Probe poisoning = probe_of({{"any", 1e6, 1e-3, 2e-3}});
  poisoning.make = [](Device&, const ProbeRequest&, int) -> std::optional<ProbeCase> { throw PoisonedDevice("lost"); };
  EXPECT_THROW(measure(poisoning), PoisonedDevice);
}

}  // namespace
}  // namespace roofline
