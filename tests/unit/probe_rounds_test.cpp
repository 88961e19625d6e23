// A probe in rounds: the variant that is fastest on its plateau wins, what is wrong never does, and a roof that was not
// reached says so.
#include "calibrate/probe_rounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "calibrate/sampling_plan.hpp"
#include "measure/audit.hpp"
#include "model/error.hpp"
#include "tests/support/fake_device.hpp"

namespace roofline {
namespace {

using ::testing::HasSubstr;

/// What a variant takes in a visit, counted from 0, whatever the real time is.
struct Variant {
  std::string name;
  double amount = 1e6;
  std::function<double(int visit, double scale)> seconds = [](int, double scale) { return 1e-3 * scale; };
  std::optional<std::string> wrong = {};
};

Probe probe_of(std::vector<Variant> variants) {
  Probe probe;
  probe.name = "fp32";
  probe.kind = CeilingKind::compute;
  probe.pipe = Pipe::fp32;
  const auto visits = std::make_shared<std::vector<int>>(variants.size());
  probe.make = [variants, visits](Device&, const ProbeRequest& request, int index) -> std::optional<ProbeCase> {
    if (index >= static_cast<int>(variants.size())) return std::nullopt;
    const Variant& variant = variants[static_cast<std::size_t>(index)];
    const int visit = (*visits)[static_cast<std::size_t>(index)]++;
    const double seconds = variant.seconds(visit, request.scale);
    ProbeCase made;
    made.variant = variant.name;
    made.amount = variant.amount * request.scale;
    made.work.flops[Pipe::fp32] = made.amount;
    made.run = [] {};
    made.batch = [seconds](std::int64_t launches) {
      return Reading{.seconds = seconds * static_cast<double>(launches), .clock_hz = 1e9};
    };
    made.verify = [wrong = variant.wrong] { return wrong; };
    return made;
  };
  return probe;
}

/// The same cases on a device whose clock is 1 GHz after the work; `clock_hz` of the scale is the one in it.
decltype(Probe::make) with_clock(decltype(Probe::make) make, std::function<double(double scale)> clock_hz) {
  return [=](Device& device, const ProbeRequest& request, int index) {
    static_cast<FakeDevice&>(device).set_core_hz(1e9);
    std::optional<ProbeCase> made = make(device, request, index);
    if (made) made->clock = [=] { return clock_hz(request.scale); };
    return made;
  };
}

class ProbeInRounds {
 public:
  explicit ProbeInRounds(Probe probe, bool quick = false)
      : probe_(std::move(probe)), effort_{.quick = quick, .sustain_s = 0}, rounds_(probe_, device_, effort_, [] {
          return false;
        }) {}

  ProbeRounds& visit(int times, double slowed_share = 0) {
    for (int i = 0; i < times; ++i) rounds_.visit(slowed_share);
    return rounds_;
  }
  const ProbeRounds* operator->() const { return &rounds_; }

 private:
  Probe probe_;
  FakeDevice device_;
  Effort effort_;
  ProbeRounds rounds_;
};

CheckStatus status_of(const Ceiling& ceiling, std::string_view name) {
  for (const Check& check : ceiling.audit.checks) {
    if (check.name == name) return check.status;
  }
  return CheckStatus::not_run;
}

TEST(ProbeRounds, AQuietProbeSettlesInAFewRounds) {
  ProbeInRounds probe(probe_of({{"slow", 1e6}, {"fast", 3e6}, {"middle", 2e6}}));
  EXPECT_FALSE(probe.visit(1).converged(0));
  EXPECT_TRUE(probe.visit(4).converged(0));
  EXPECT_EQ(probe->best(), 1);
  const MeasuredProbe measured = probe->measured(0).value();
  EXPECT_EQ(measured.ceiling.variant, "fast");
  EXPECT_NEAR(measured.ceiling.value, 3e9, 1);
  EXPECT_NEAR(measured.ceiling.median_rate.value(), 3e9, 1);
  EXPECT_EQ(measured.ceiling.rounds, 5);
  EXPECT_EQ(measured.ceiling.agreeing_rounds, 5);
  EXPECT_EQ(measured.ceiling.clocks.core_hz, 1e9);
  EXPECT_EQ(measured.ceiling.audit.status(), CheckStatus::pass);
  EXPECT_EQ(status_of(measured.ceiling, kDoublingCheck), CheckStatus::pass);
}

TEST(ProbeRounds, QuickOnesTakeTheFastestOfTheirVariants) {
  ProbeInRounds probe(probe_of({{"prefetched", 1e6}, {"plain", 1.6e6}}), true);
  EXPECT_EQ(probe.visit(2).best(), 1);
}

TEST(ProbeRounds, AVariantThatWasDisturbedAtFirstStillWins) {
  const auto late = [](int visit, double scale) { return (visit < 2 ? 5e-3 : 0.9e-3) * scale; };
  ProbeInRounds probe(probe_of({{"steady"}, {"disturbed", 1e6, late}}));
  EXPECT_EQ(probe.visit(2, 0.5).best(), 0);
  EXPECT_EQ(probe.visit(3, 0.5).best(), 1) << "half of the rounds were slowed: two are no reason to give a variant up";
}

TEST(ProbeRounds, ARoofThatStillRisesIsMarked) {
  const auto rising = [](int visit, double scale) { return 1e-3 * (2 - 0.1 * visit) * scale; };
  ProbeInRounds probe(probe_of({{"rising", 1e6, rising}}));
  const Ceiling ceiling = probe.visit(6).measured(0)->ceiling;
  EXPECT_FALSE(probe->converged(0));
  EXPECT_EQ(status_of(ceiling, kPlateauCheck), CheckStatus::provisional);
  EXPECT_TRUE(ceiling.provisional());
  EXPECT_LT(ceiling.median_rate.value(), 0.97 * ceiling.value);
}

TEST(ProbeRounds, TheLimitIsAtTheClockOfTheInstructions) {
  Probe probe = probe_of({{"fma", 3e6}});
  probe.limit = [](const Device&, std::optional<double> hz) { return Limit{.value = 4 * hz.value_or(0), .basis = ""}; };
  probe.make = with_clock(probe.make, [=](double) { return 0.8e9; });
  const Ceiling ceiling = ProbeInRounds(probe).visit(3).measured(0)->ceiling;
  EXPECT_DOUBLE_EQ(ceiling.limit->value, 4 * 0.8e9);
  EXPECT_EQ(ceiling.clocks.core_hz, 1e9) << "kernels' clocks are read after them, too";
}

/// The clock is highest in rounds that are slowed, which are not on the plateau: theirs would give a share of 95 %.
TEST(ProbeRounds, TheShareOfTheLimitIsFormedSampleBySample) {
  const auto hz = std::make_shared<double>(1e9);
  const auto at_a_clock_of_its_own = [hz](int visit, double scale) {
    constexpr std::array kClocks = {1e9, 0.996e9, 1.05e9};
    *hz = kClocks[static_cast<std::size_t>(visit % 3)];
    return 1e-3 * scale * 1e9 / *hz * (visit % 3 == 2 ? 1.3 : 1);
  };
  Probe probe = probe_of({{"fma", 4e6, at_a_clock_of_its_own}});
  probe.limit = [](const Device&, std::optional<double> core_hz) {
    return Limit{.value = 4 * core_hz.value_or(0), .basis = ""};
  };
  probe.make = with_clock(probe.make, [hz](double) { return *hz; });
  const Ceiling ceiling = ProbeInRounds(probe).visit(6).measured(0)->ceiling;
  EXPECT_NEAR(ceiling.value / ceiling.limit->value, 1, 1e-3);
}

/// Twice the work lasts longer, and the clock falls under it; the clock after it tells nothing of that.
TEST(ProbeRounds, TwiceTheWorkIsComparedAtTheClockOfTheInstructions) {
  const auto doubling_at = [](double clock_of_twice, double ratio = 2 / 0.9) {
    const auto slower = [=](int, double scale) { return 1e-3 * (scale > 1 ? ratio : 1); };
    Probe probe = probe_of({{"fma", 1e6, slower}});
    probe.limit = [](const Device&, std::optional<double> hz) { return Limit{.value = hz.value_or(0), .basis = ""}; };
    probe.make = with_clock(probe.make, [=](double scale) { return scale > 1 ? clock_of_twice : 1e9; });
    return status_of(ProbeInRounds(probe).visit(5).measured(0)->ceiling, kDoublingCheck);
  };
  EXPECT_EQ(doubling_at(0.9e9), CheckStatus::pass);
  EXPECT_EQ(doubling_at(1e9), CheckStatus::fail);
  EXPECT_EQ(doubling_at(0.8e9), CheckStatus::not_run) << "1.78 or 2.22 times: that clock may have been read too low";
  EXPECT_EQ(doubling_at(0.8e9, 2), CheckStatus::pass) << "by the clock right after";
  EXPECT_EQ(doubling_at(0.8e9, 1), CheckStatus::fail) << "dead code";
}

TEST(ProbeRounds, ARoofAtItsLimitIsBelievedHoweverRestlessTheMachine) {
  // Two visits of three are slowed; 1e9 a second is what a clock of 1 GHz allows.
  const auto restless = [](int visit, double scale) { return (visit % 3 == 0 ? 1.002e-3 : 1.3e-3) * scale; };
  Probe probe = probe_of({{"restless", 1e6, restless}});
  probe.limit = [](const Device&, std::optional<double> core_hz) {
    return std::optional(Limit{core_hz.value_or(0), "one a cycle"});
  };
  ProbeInRounds limited(probe);
  const Ceiling ceiling = limited.visit(9, 0.8).measured(0.8)->ceiling;
  EXPECT_NEAR(ceiling.value, 0.998e9, 1e5);
  EXPECT_EQ(status_of(ceiling, kPlateauCheck), CheckStatus::pass);
  EXPECT_EQ(ceiling.audit.status(), CheckStatus::pass);
  EXPECT_TRUE(limited->converged(0.8));
  probe.limit = [](const Device&, std::optional<double>) { return std::optional(Limit{1.05e9, "an assumption"}); };
  ProbeInRounds below(probe);
  EXPECT_EQ(status_of(below.visit(9, 0.8).measured(0.8)->ceiling, kPlateauCheck), CheckStatus::provisional);
}

TEST(ProbeRounds, ALimitOfAssumedPipesIsTheLeastPlausibleOneAboveTheValue) {
  constexpr double kKnown = 2.0 / 16;
  const auto limit_at = [=](double instructions_per_cycle, double assumed, double clock_in_work = 0) {
    Probe probe = probe_of({{.name = "steady", .amount = 1e6 * instructions_per_cycle}});
    probe.limit = [=](const Device&, std::optional<double> core_hz) {
      return Limit{.value = std::max(assumed, kKnown) * core_hz.value_or(0), .basis = "", .assumed_issue = assumed};
    };
    if (clock_in_work > 0) {
      probe.make = with_clock(probe.make, [=](double) { return clock_in_work; });
    }
    ProbeInRounds rounds(probe);
    return rounds.visit(4).measured(0)->ceiling.limit->value;
  };
  EXPECT_DOUBLE_EQ(limit_at(1.9, 2), 2e9);
  EXPECT_DOUBLE_EQ(limit_at(1.1, 2), 2e9);
  EXPECT_DOUBLE_EQ(limit_at(1.005, 2), 1e9) << "the clock is known within 1 %";
  EXPECT_DOUBLE_EQ(limit_at(0.46, 2), 0.5e9) << "one instruction in two cycles";
  EXPECT_DOUBLE_EQ(limit_at(0.24, 2), 0.25e9);
  EXPECT_DOUBLE_EQ(limit_at(0.04, 0), kKnown * 1e9) << "known, not assumed";
  EXPECT_DOUBLE_EQ(limit_at(3.9, 4), 4e9) << "four pipes";
  EXPECT_DOUBLE_EQ(limit_at(1.95, 4), 2e9);
  EXPECT_DOUBLE_EQ(limit_at(2.5, 4), 3e9);
  EXPECT_DOUBLE_EQ(limit_at(kKnown * 0.98, kKnown), kKnown * 1e9) << "a product of tiles in several cycles";
  EXPECT_DOUBLE_EQ(limit_at(kKnown * 0.49, kKnown), kKnown * 0.5e9);
  EXPECT_DOUBLE_EQ(limit_at(2.3, 2), 2e9) << "which the check reports";
  EXPECT_DOUBLE_EQ(limit_at(0.46, 2, 0.95e9), 0.475e9);
  EXPECT_DOUBLE_EQ(limit_at(0.46, 2, 0.83e9), 0.5e9) << "0.55 in a cycle of a clock that was read too low";
  EXPECT_DOUBLE_EQ(limit_at(1.8, 2, 0.9e9), 1.8e9);
}

TEST(ProbeRounds, DeadCodeIsSuspect) {
  ProbeInRounds probe(probe_of({{"dead", 1e6, [](int, double) { return 1e-3; }}}));
  const Ceiling ceiling = probe.visit(5).measured(0)->ceiling;
  EXPECT_EQ(status_of(ceiling, kDoublingCheck), CheckStatus::fail);
}

TEST(ProbeRounds, DoublingIsNotJudgedBeforeBothPlateausAreReached) {
  // Twice the work is met by a neighbour, every time so far.
  const auto met = [](int, double scale) { return scale == 2 ? 5e-3 : 1e-3; };
  ProbeInRounds probe(probe_of({{"met", 1e6, met}}));
  EXPECT_EQ(status_of(probe.visit(3).measured(0)->ceiling, kDoublingCheck), CheckStatus::not_run);
  EXPECT_EQ(status_of(probe.visit(9).measured(0.6)->ceiling, kDoublingCheck), CheckStatus::not_run);
}

TEST(ProbeRounds, AWrongVariantNeverWins) {
  ProbeInRounds probe(probe_of({{"right"}, {.name = "wrong", .amount = 9e6, .wrong = "sum is 7"}}));
  EXPECT_EQ(probe.visit(3).measured(0)->ceiling.variant, "right");
  ProbeInRounds wrong(probe_of({{.name = "wrong", .wrong = "sum is 7"}}));
  EXPECT_FALSE(wrong.visit(1).measured(0));
  EXPECT_THAT(wrong->failure(), testing::AllOf(testing::StartsWith("wrong: "), HasSubstr("sum is 7")));
  ProbeInRounds none(probe_of({}));
  EXPECT_FALSE(none.visit(1).measured(0));
  EXPECT_THAT(none->failure(), HasSubstr("no variant"));
}

}  // namespace
}  // namespace roofline
