// The audit rules on the faults that they are there to catch, and on ceilings that are sound.
#include "measure/audit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace roofline {
namespace {

using ::testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kMiB = 1024.0 * 1024.0;

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
  const Check resident = audit_working_set(96 * kMiB, 60 * kMiB);
  EXPECT_EQ(resident.status, CheckStatus::fail);
  EXPECT_THAT(resident.detail, HasSubstr("1.6 x"));
  EXPECT_EQ(audit_working_set(240 * kMiB, 60 * kMiB).status, CheckStatus::pass);
}

TEST(Audit, WorkingSetsOfACacheMustFitIntoIt) {
  EXPECT_EQ(audit_working_set(1 * kMiB, kMiB / 32, 2 * kMiB).status, CheckStatus::pass);
  EXPECT_EQ(audit_working_set(3 * kMiB, kMiB / 32, 2 * kMiB).status, CheckStatus::fail);
  EXPECT_EQ(audit_working_set(kMiB / 64, 0, kMiB / 32).status, CheckStatus::pass) << "L1 has no nearer cache";
  EXPECT_EQ(audit_working_set(kMiB, 0).status, CheckStatus::not_run);
}

TEST(Audit, NothingExceedsTheLimitBeyondItsInterval) {
  const Limit limit{4.814e12, "2 x 3201 MHz x 6016 bit"};
  const Check sound = audit_limit(4.671e12, {4.66e12, 4.68e12}, limit, "byte/s");
  EXPECT_EQ(sound.status, CheckStatus::pass);
  EXPECT_THAT(sound.detail, HasSubstr("97.03 %"));
  EXPECT_THAT(sound.detail, HasSubstr("4.814 Tbyte/s = 2 x 3201 MHz x 6016 bit"));

  EXPECT_EQ(audit_limit(4.82e12, {4.80e12, 4.84e12}, limit, "byte/s").status, CheckStatus::pass) << "within noise";
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

}  // namespace
}  // namespace roofline
