// The audit rules on the faults that they are there to catch, and on ceilings that are sound.
#include "measure/audit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <limits>
#include <optional>
#include <string_view>

#include "tests/support/mentions.hpp"
#include "tests/support/values.hpp"

namespace roofline {
namespace {

using ::testing::HasSubstr;

Summary timed(double median, double relative_half_width = 0.003) {
  Summary time;
  time.median = median;
  time.ci95 = {median * (1 - relative_half_width), median * (1 + relative_half_width)};
  time.samples = 64;
  return time;
}

TEST(Audit, ComputeProbesMustLieFarAboveTheRidge) {
  // A "tensor peak" that loads its operands from memory: 170.7 FLOP/byte under a ridge of 153.
  const Check fed_from_memory = audit_intensity(CeilingKind::compute, 170.7, 153);
  EXPECT_EQ(fed_from_memory.status, CheckStatus::fail);
  EXPECT_THAT(fed_from_memory.detail, HasSubstr("170.7"));
  EXPECT_THAT(fed_from_memory.detail, HasSubstr("1530"));
  EXPECT_EQ(audit_intensity(CeilingKind::compute, 1530, 153).status, CheckStatus::pass);
  EXPECT_EQ(audit_intensity(CeilingKind::compute, kInfinity, 153).status, CheckStatus::pass);
}

TEST(Audit, MemoryProbesMustLieFarBelowTheRidge) {
  EXPECT_EQ(audit_intensity(CeilingKind::bandwidth, 1.0 / 12, 10).status, CheckStatus::pass);
  EXPECT_EQ(audit_intensity(CeilingKind::bandwidth, 0, 10).status, CheckStatus::pass);
  EXPECT_EQ(audit_intensity(CeilingKind::bandwidth, 1.5, 10).status, CheckStatus::fail);
}

TEST(Audit, WithoutARidgeThereIsNoVerdict) {
  EXPECT_EQ(audit_intensity(CeilingKind::compute, 1000, kNaN).status, CheckStatus::not_run);
  EXPECT_EQ(audit_intensity(CeilingKind::overhead, 0, 10).status, CheckStatus::not_run);
}

TEST(Audit, TwiceTheWorkMustTakeTwiceTheTime) {
  EXPECT_EQ(audit_doubling(timed(1e-3), timed(2.01e-3)).status, CheckStatus::pass);
  EXPECT_EQ(audit_doubling(timed(1e-3), timed(1.961e-3)).status, CheckStatus::pass);
  EXPECT_EQ(audit_doubling(timed(1e-3), timed(1.0e-3)).status, CheckStatus::fail) << "eliminated as dead code";
  EXPECT_EQ(audit_doubling(timed(1e-3), timed(1.8e-3)).status, CheckStatus::fail) << "a fixed cost";
  const Check spilled = audit_doubling(timed(1e-3), timed(2.4e-3));
  EXPECT_EQ(spilled.status, CheckStatus::fail) << "a buffer that fitted the cache only once";
  EXPECT_THAT(spilled.detail, HasSubstr("2.4 x"));
}

TEST(Audit, DoublingInCyclesForgivesALowerClockAndNothingElse) {
  Summary once = timed(1.0);
  Summary throttled = timed(2.2);
  once.clock_hz = 1.98e9;
  throttled.clock_hz = 1.8e9;
  EXPECT_EQ(audit_doubling(once, throttled).status, CheckStatus::fail);
  EXPECT_EQ(audit_doubling_in_cycles(once, throttled).status, CheckStatus::pass);
  EXPECT_THAT(audit_doubling_in_cycles(once, throttled).detail, HasSubstr("1980 MHz, then 1800 MHz"));
  throttled.clock_hz = 1.98e9;
  EXPECT_EQ(audit_doubling_in_cycles(once, throttled).status, CheckStatus::fail);
  throttled.clock_hz.reset();
  EXPECT_EQ(audit_doubling_in_cycles(once, throttled).status, CheckStatus::fail);
}

TEST(Audit, DoublingIsNotJudgedWithinTheNoise) {
  const Check noisy = audit_doubling(timed(1e-3, 0.03), timed(2.1e-3, 0.03));
  EXPECT_EQ(noisy.status, CheckStatus::not_run);
  EXPECT_THAT(noisy.detail, HasSubstr("undecided"));
  EXPECT_EQ(audit_doubling(timed(1e-3), timed(kNaN)).status, CheckStatus::not_run);
  EXPECT_EQ(audit_doubling(timed(0), timed(1e-3)).status, CheckStatus::not_run);
}

TEST(Audit, WorkingSetsMustLeaveTheNearerCache) {
  const Check resident = audit_working_set(96 * kMiB, {60 * kMiB});
  EXPECT_EQ(resident.status, CheckStatus::fail);
  EXPECT_THAT(resident.detail, HasSubstr("1.6 x"));
  EXPECT_EQ(audit_working_set(240 * kMiB, {60 * kMiB}).status, CheckStatus::pass);
}

TEST(Audit, WhatMayPartlyStayInALastLevelCacheIsProvisional) {
  const auto status = [](double bytes, const NearerCache& cache) {
    return audit_working_set(bytes, cache, std::nullopt, kPastLastLevel).status;
  };
  EXPECT_EQ(status(3000 * kMiB, {480 * kMiB}), CheckStatus::provisional);
  EXPECT_EQ(status(1000 * kMiB, {480 * kMiB}), CheckStatus::fail) << "most of it may stay";
  EXPECT_EQ(status(7680 * kMiB, {480 * kMiB}), CheckStatus::pass);
  const NearerCache measured{147 * kMiB, 480 * kMiB};
  EXPECT_EQ(status(3000 * kMiB, measured), CheckStatus::pass);
  EXPECT_THAT(audit_working_set(3000 * kMiB, measured, std::nullopt, kPastLastLevel).detail,
              AllOf(HasSubstr("147 MiB"), HasSubstr("480 MiB")));
}

TEST(Audit, WorkingSetsOfACacheMustFitIntoIt) {
  EXPECT_EQ(audit_working_set(1 * kMiB, {kMiB / 32}, 2 * kMiB).status, CheckStatus::pass);
  EXPECT_EQ(audit_working_set(3 * kMiB, {kMiB / 32}, 2 * kMiB).status, CheckStatus::fail);
  EXPECT_EQ(audit_working_set(kMiB / 64, {0}, kMiB / 32).status, CheckStatus::pass) << "L1 has no nearer cache";
  EXPECT_EQ(audit_working_set(kMiB, {0}).status, CheckStatus::not_run);
}

TEST(Audit, NothingExceedsTheLimitBeyondItsInterval) {
  const Limit limit{4.814e12, "2 x 3201 MHz x 6016 bit"};
  const Check sound = audit_limit(4.671e12, {4.66e12, 4.68e12}, limit, "byte/s");
  EXPECT_EQ(sound.status, CheckStatus::pass);
  EXPECT_THAT(sound.detail, HasSubstr("97.03 %"));
  EXPECT_THAT(sound.detail, HasSubstr("4.814 Tbyte/s = 2 x 3201 MHz x 6016 bit"));

  EXPECT_EQ(audit_limit(4.82e12, {4.80e12, 4.84e12}, limit, "byte/s").status, CheckStatus::pass) << "within noise";
  EXPECT_EQ(audit_limit(4.85e12, {}, limit, "byte/s", 0, 0.01).status, CheckStatus::pass) << "as good as its clock";
  EXPECT_EQ(audit_limit(4.87e12, {}, limit, "byte/s", 0, 0.01).status, CheckStatus::fail);
  const Check impossible = audit_limit(9.6e12, {9.5e12, 9.7e12}, limit, "byte/s");
  EXPECT_EQ(impossible.status, CheckStatus::fail);
  EXPECT_THAT(impossible.detail, HasSubstr("199.42 %")) << "never clamped";
  EXPECT_EQ(audit_limit(4.9e12, {}, limit, "byte/s").status, CheckStatus::fail) << "no interval excuses it";
  EXPECT_EQ(audit_limit(4.7e12, {}, limit, "byte/s").status, CheckStatus::pass);
  EXPECT_EQ(audit_limit(4.7e12, {}, std::nullopt, "byte/s").status, CheckStatus::not_run);
  EXPECT_EQ(audit_limit(kNaN, {}, limit, "byte/s").status, CheckStatus::fail);
}

TEST(Audit, TheIntervalMustBeNarrow) {
  EXPECT_EQ(audit_interval(100, {99.2, 100.9}).status, CheckStatus::pass);
  EXPECT_EQ(audit_interval(100, {98.9, 100.1}).status, CheckStatus::fail);
  EXPECT_EQ(audit_interval(100, {99.9, 101.1}).status, CheckStatus::fail);
  EXPECT_EQ(audit_interval(100, {}).status, CheckStatus::fail);
}

TEST(Audit, TheResultMustBeRight) {
  EXPECT_EQ(audit_result(std::nullopt).status, CheckStatus::pass);
  const Check wrong = audit_result("element 7 is 0, expected 3.5");
  EXPECT_EQ(wrong.status, CheckStatus::fail);
  EXPECT_EQ(wrong.detail, "element 7 is 0, expected 3.5");
}

TEST(Audit, DriftingTimesAreNotSteady) {
  Summary time = timed(1e-3);
  EXPECT_EQ(audit_steadiness(time).status, CheckStatus::pass);
  time.drifting = true;
  EXPECT_EQ(audit_steadiness(time).status, CheckStatus::fail);
  EXPECT_EQ(audit_steadiness(Summary{}).status, CheckStatus::fail) << "nothing was measured";
}

TEST(Audit, TheMeasuredClockMayScatterUnderALimit) {
  const Limit limit{114.9e9, "lanes x 3591 MHz measured"};
  EXPECT_EQ(audit_limit(115.0e9, {114.99e9, 115.01e9}, limit, "FLOP/s").status, CheckStatus::pass) << "0.09 % above";
  EXPECT_EQ(audit_limit(115.4e9, {115.39e9, 115.41e9}, limit, "FLOP/s").status, CheckStatus::fail) << "0.44 % above";
}

TEST(Audit, AnHonestProbeReachesMostOfAFirmLimit) {
  const Limit limit{66.9e12, "132 SMs x 256 FLOP/cycle x 1980 MHz"};
  EXPECT_EQ(audit_limit(65.0e12, {64.9e12, 65.1e12}, limit, "FLOP/s", 0.93).status, CheckStatus::pass);
  const Check low = audit_limit(42.1e12, {42.0e12, 42.2e12}, limit, "FLOP/s", 0.93);
  EXPECT_EQ(low.status, CheckStatus::fail);
  EXPECT_THAT(low.detail, mentions("93 %"));
  EXPECT_EQ(audit_limit(42.1e12, {42.0e12, 42.2e12}, limit, "FLOP/s").status, CheckStatus::pass) << "not firm";
}

Ceiling triad_of(double amount) {
  Ceiling ceiling;
  ceiling.kind = CeilingKind::bandwidth;
  ceiling.level = Level::hbm;
  ceiling.pattern = Pattern::triad;
  ceiling.amount = amount;
  return ceiling;
}

TEST(Audit, WhatIsCountedIsTheWorkModel) {
  Work work;
  work.bytes[Level::hbm] = {.read = 2e9, .write = 1e9};
  EXPECT_EQ(audit_accounting(triad_of(3e9), work).status, CheckStatus::pass);
  EXPECT_EQ(audit_accounting(triad_of(2e9), work).status, CheckStatus::fail) << "two streams counted";
  EXPECT_EQ(audit_accounting(triad_of(4e9), work).status, CheckStatus::fail) << "four streams counted";
  work.bytes[Level::hbm] = {.read = 1.5e9, .write = 1.5e9};
  EXPECT_EQ(audit_accounting(triad_of(3e9), work).status, CheckStatus::fail) << "the traffic of a copy";
  EXPECT_EQ(audit_accounting(triad_of(3e9), Work{}).status, CheckStatus::fail) << "no traffic at all";
  Ceiling link = triad_of(3e9);
  link.pattern = Pattern::h2d;
  EXPECT_EQ(audit_accounting(link, work).status, CheckStatus::pass) << "a link has no share of writes";

  Ceiling pipe;
  pipe.kind = CeilingKind::compute;
  pipe.pipe = Pipe::sfu;
  pipe.amount = 1e9;
  EXPECT_EQ(audit_accounting(pipe, work).status, CheckStatus::fail);
  work.flops[Pipe::sfu] = 1e9;
  EXPECT_EQ(audit_accounting(pipe, work).status, CheckStatus::pass);
  pipe.kind = CeilingKind::overhead;
  EXPECT_EQ(audit_accounting(pipe, work).status, CheckStatus::not_run);
}

TEST(Audit, OperandsMustCarryInformation) {
  EXPECT_EQ(audit_operands({}).status, CheckStatus::fail);
  EXPECT_EQ(audit_operands(std::vector<std::byte>(1024, std::byte{0x3f})).status, CheckStatus::fail) << "a constant";
  std::vector<std::byte> few(4096);
  for (std::size_t i = 0; i < few.size(); ++i) few[i] = std::byte{static_cast<unsigned char>(i % 8)};
  EXPECT_EQ(audit_operands(few).status, CheckStatus::fail) << "eight values: 3 bits";
  std::uint64_t state = 1;
  for (std::byte& byte : few) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    byte = std::byte{static_cast<unsigned char>(state >> 56)};
  }
  const Check random = audit_operands(few);
  EXPECT_EQ(random.status, CheckStatus::pass);
  EXPECT_THAT(random.detail, HasSubstr("7.9"));
}

TEST(Audit, TheInstructionMustStandInTheCode) {
  EXPECT_EQ(audit_instruction("HGMMA", 64, "wgmma_kernel in sm_90a").status, CheckStatus::pass);
  const Check missing = audit_instruction("HGMMA", 0, "wgmma_kernel in sm_90a");
  EXPECT_EQ(missing.status, CheckStatus::fail);
  EXPECT_THAT(missing.detail, mentions("HGMMA", " 0 ", "wgmma_kernel in sm_90a"));
  const Check unseen = audit_instruction("HGMMA", std::nullopt, "compiled by the driver");
  EXPECT_EQ(unseen.status, CheckStatus::not_run);
  EXPECT_EQ(unseen.detail, "compiled by the driver");
}

TEST(Audit, ACycleIsACycleInEveryRegime) {
  Ceiling burst, sustained;
  burst.value = 535e9;
  sustained.value = 514e9;
  EXPECT_EQ(audit_cycles(sustained, burst).status, CheckStatus::not_run) << "no clocks";
  burst.clocks.core_hz = 4.2e9;
  sustained.clocks.core_hz = 4.06e9;
  EXPECT_EQ(audit_cycles(sustained, burst).status, CheckStatus::pass);
  EXPECT_THAT(audit_cycles(sustained, burst).detail, mentions("0.994", "4.060 and 4.200 GHz"));
  sustained.value = 370e9;
  EXPECT_EQ(audit_cycles(sustained, burst).status, CheckStatus::fail) << "a neighbour, not a limiter";
  sustained.value = 560e9;
  EXPECT_EQ(audit_cycles(sustained, burst).status, CheckStatus::not_run) << "a clock that was read wrongly";
}

TEST(Audit, ALimiterMayHuntAboutOneLevel) {
  Summary time = timed(1e-3);
  time.q05 = 0.981e-3;
  time.q95 = 1.052e-3;
  const Check hunting = audit_regulation(time, "power cap", -0.013);
  EXPECT_EQ(hunting.status, CheckStatus::pass);
  EXPECT_THAT(hunting.detail, mentions("power cap", "-1.30 %", "-1.9 % to +5.2 %"));
  EXPECT_EQ(audit_regulation(time, "power cap", 0.031).status, CheckStatus::fail) << "still falling";
  EXPECT_EQ(audit_regulation(time, "power cap", 0.031, true).status, CheckStatus::pass) << "by its clock alone";
}

TEST(Audit, NoiseIsAFaultOnlyBesideAMeasuredLoad) {
  const auto audited = [](std::initializer_list<std::string_view> failed, std::optional<Contention> load) {
    Ceiling ceiling;
    ceiling.contention = load;
    ceiling.audit.checks = {{std::string(kResultCheck), CheckStatus::pass, ""}};
    for (const std::string_view check : failed) {
      ceiling.audit.checks.push_back({std::string(check), CheckStatus::fail, ""});
    }
    settle_noise_checks(ceiling);
    return ceiling.audit.status();
  };
  const Contention busy{.wall_s = 10, .cpus = 2, .cores = 2, .others_s = 18};
  EXPECT_EQ(audited({}, busy), CheckStatus::pass);
  for (const std::string_view check : {kPlateauCheck, kIntervalCheck, kSteadyCheck, kRegulatedCheck, kCyclesCheck}) {
    EXPECT_EQ(audited({check}, std::nullopt), CheckStatus::provisional) << check;
    EXPECT_EQ(audited({check}, busy), CheckStatus::fail) << check;
    EXPECT_EQ(audited({check, kLimitCheck}, std::nullopt), CheckStatus::fail) << check;
  }
  EXPECT_EQ(audited({kIntervalCheck, kDoublingCheck}, std::nullopt), CheckStatus::provisional);
  EXPECT_EQ(audited({kDoublingCheck}, std::nullopt), CheckStatus::fail) << "a steady time that is not doubled";
}

}  // namespace
}  // namespace roofline
