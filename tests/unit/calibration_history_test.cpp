// The best of earlier calibrations is kept, compared with, and dropped after 30 days.
#include "calibrate/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calibrate/machine_store.hpp"
#include "measure/audit.hpp"
#include "tests/support/mentions.hpp"

namespace roofline {
namespace {

/// A CPU whose copy roof is `copy` bytes/s.
Machine calibrated(double copy, const std::string& measured_at, const std::string& host = "node17") {
  Machine machine;
  machine.device.identity = "cpu-test-2t";
  machine.device.attributes = {{"host name", host}};
  machine.measured_at = measured_at;
  machine.tool_version = "0.1.0";
  Ceiling ceiling;
  ceiling.name = "dram.copy";
  ceiling.kind = CeilingKind::bandwidth;
  ceiling.level = Level::dram;
  ceiling.pattern = Pattern::copy;
  ceiling.value = copy;
  machine.ceilings = {ceiling};
  return machine;
}

/// The copy roof of `now` beside that of `kept`, a minute after it was measured.
Ceiling held(Machine now, const Machine& kept) {
  compare_with_history(now, kept, *seconds_since_1970(now.measured_at) + 60);
  return now.ceilings.front();
}

const std::string kMorning = "2026-11-23T08:00:00Z", kNoon = "2026-11-23T12:00:00Z", kEvening = "2026-11-23T20:00:00Z";

TEST(History, ASlowMemoryIsSuspectOnceItWasFaster) {
  const Ceiling slow = held(calibrated(62e9, kNoon), calibrated(116e9, kMorning));
  ASSERT_TRUE(slow.past_best);
  EXPECT_EQ(slow.past_best->value, 116e9);
  EXPECT_EQ(slow.past_best->measured_at, kMorning);
  EXPECT_TRUE(slow.suspect());
  EXPECT_EQ(slow.audit.checks.back().name, kHistoryCheck);
  EXPECT_THAT(slow.audit.checks.back().detail, mentions("0.534", "116 Gbyte/s", kMorning));
  EXPECT_FALSE(held(calibrated(114e9, kNoon), calibrated(116e9, kMorning)).suspect()) << "within 3 %";
  EXPECT_FALSE(held(calibrated(118e9, kNoon), calibrated(116e9, kMorning)).past_best);
}

TEST(History, AMachineWhoseSpeedVariesMayHaveBeenFaster) {
  const auto against = [](double value, double median) {
    Machine now = calibrated(value, kNoon);
    now.ceilings.front().median_rate = median;
    return held(now, calibrated(116e9, kMorning));
  };
  EXPECT_TRUE(against(110e9, 110e9).suspect()) << "5 % less, and steady";
  EXPECT_FALSE(against(110e9, 106e9).suspect()) << "its rounds vary by 3.6 %";
  EXPECT_TRUE(against(110e9, 108.5e9).suspect()) << "by 1.4 %";
  EXPECT_TRUE(against(100e9, 60e9).suspect()) << "14 % less, however much it varies";
}

TEST(History, ReportsASlowCalibration) {
  EXPECT_THAT(was_slow(calibrated(116e9, kNoon), calibrated(62e9, kMorning)), mentions(kMorning, "dram.copy", "1.87"));
  EXPECT_EQ(was_slow(calibrated(116e9, kNoon), calibrated(114e9, kMorning)), "");
  EXPECT_EQ(was_slow(calibrated(62e9, kNoon), calibrated(116e9, kMorning)), "");
  EXPECT_EQ(was_slow(calibrated(116e9, kNoon), calibrated(62e9, kMorning, "node18")), "");
  Machine marked = calibrated(62e9, kNoon);
  compare_with_history(marked, calibrated(116e9, kMorning), *seconds_since_1970(kNoon));
  EXPECT_EQ(was_slow(calibrated(116e9, kEvening), marked), "") << "it has said so itself";
}

TEST(History, KeepsTheBest) {
  Machine noon = calibrated(62e9, kNoon);
  compare_with_history(noon, calibrated(116e9, kMorning), *seconds_since_1970(kNoon));
  const Ceiling evening = held(calibrated(63e9, kEvening), noon);
  ASSERT_TRUE(evening.past_best);
  EXPECT_EQ(evening.past_best->measured_at, kMorning) << "a second slow calibration does not make it normal";
  EXPECT_TRUE(evening.suspect());
  EXPECT_EQ(held(calibrated(110e9, kEvening), calibrated(111e9, kNoon)).past_best->value, 111e9);
}

TEST(History, WhatALaterCalibrationHasNoTimeForIsKeptWithItsDate) {
  Machine morning = calibrated(116e9, kMorning);
  const auto add = [](Machine& machine, const std::string& name, Regime regime) {
    Ceiling pipe;
    pipe.name = name;
    pipe.kind = CeilingKind::compute;
    pipe.regime = regime;
    pipe.value = 1e12;
    machine.ceilings.push_back(pipe);
  };
  for (const Regime regime : {Regime::burst, Regime::sustained}) {
    add(morning, "fp32", regime);
    add(morning, "fp64", regime);
  }
  add(morning, "int8", Regime::burst);
  morning.sweeps.emplace_back().name = "sweep.read";
  Machine noon = calibrated(115e9, kNoon);
  add(noon, "fp64", Regime::burst);
  noon.unmeasured = {{"fp32", "no time", true},
                     {"fp64 (sustained)", "no time", true},
                     {"int8", "no variant runs here"},
                     {"fp16", "no time", true},
                     {"sweep.read", "no time", true}};
  const Machine alone = noon;
  keep_earlier_ceilings(noon, morning);
  EXPECT_EQ(noon.ceilings.size(), 5U);
  EXPECT_EQ(noon.find("dram.copy")->value, 115e9) << "what was measured now stays";
  for (const auto& [name, regime] :
       {std::pair("fp32", Regime::burst), {"fp32", Regime::sustained}, {"fp64", Regime::sustained}}) {
    ASSERT_NE(noon.find(name, regime), nullptr) << name;
    EXPECT_EQ(noon.find(name, regime)->measured_at, kMorning) << name;
  }
  EXPECT_EQ(noon.find("fp64")->measured_at, "");
  EXPECT_EQ(noon.sweeps.at(0).measured_at, kMorning);
  ASSERT_EQ(noon.unmeasured.size(), 2U);
  EXPECT_EQ(noon.unmeasured[0].name, "int8");
  EXPECT_EQ(noon.unmeasured[1].name, "fp16");

  Machine evening = calibrated(116e9, kEvening);
  evening.unmeasured = {{"fp32", "no time", true}};
  keep_earlier_ceilings(evening, noon);
  ASSERT_NE(evening.find("fp32"), nullptr);
  EXPECT_EQ(evening.find("fp32")->measured_at, kMorning) << "the date of its measurement";

  const auto unchanged = [&](Machine now, const Machine& kept) {
    keep_earlier_ceilings(now, kept);
    return now.ceilings.size() == alone.ceilings.size();
  };
  Machine other = morning;
  other.device.attributes = {{"host name", "node18"}};
  EXPECT_TRUE(unchanged(alone, other)) << "another host";
  other = morning;
  other.tool_version = "0.0.9";
  EXPECT_TRUE(unchanged(alone, other));
  Machine quick = alone;
  quick.quick = true;
  EXPECT_TRUE(unchanged(quick, morning)) << "it replaces no full one";
}

TEST(History, AMonthLaterItIsForgotten) {
  EXPECT_TRUE(held(calibrated(62e9, "2026-12-22T08:00:00Z"), calibrated(116e9, kMorning)).past_best);
  EXPECT_FALSE(held(calibrated(62e9, "2026-12-24T08:00:00Z"), calibrated(116e9, kMorning)).past_best);
  EXPECT_FALSE(held(calibrated(62e9, kNoon), calibrated(116e9, "yesterday")).past_best);
}

TEST(History, OnlyWhatSpeaksOfThisMachineCounts) {
  EXPECT_FALSE(held(calibrated(62e9, kNoon), calibrated(116e9, kMorning, "node18")).past_best) << "one home, two hosts";
  Machine other = calibrated(116e9, kMorning);
  other.tool_version = "0.0.9";
  EXPECT_FALSE(held(calibrated(62e9, kNoon), other).past_best);
  other = calibrated(116e9, kMorning);
  other.ceilings[0].audit.checks = {{std::string(kResultCheck), CheckStatus::fail, "sum is 7"}};
  EXPECT_FALSE(held(calibrated(62e9, kNoon), other).past_best) << "it may never have been that fast";
  other.ceilings[0].audit.checks = {{std::string(kPlateauCheck), CheckStatus::fail, "1 of 9"}};
  EXPECT_TRUE(held(calibrated(62e9, kNoon), other).past_best) << "it was that fast at least";
}

/// An L3's copy roof, and the core clock that it was measured at.
Machine calibrated_l3(double copy, double core_hz, const std::string& measured_at) {
  Machine machine = calibrated(copy, measured_at);
  machine.ceilings[0].name = "l3.copy";
  machine.ceilings[0].level = Level::l3;
  machine.ceilings[0].clocks.core_hz = core_hz;
  return machine;
}

TEST(History, CachesAndPipesMayBeAsMuchLowerAsTheirClockIs) {
  const Machine morning = calibrated_l3(240e9, 4.2e9, kMorning);
  const Ceiling clocked = held(calibrated_l3(225e9, 3.95e9, kNoon), morning);
  ASSERT_TRUE(clocked.past_best);
  EXPECT_EQ(clocked.past_best->core_hz, 4.2e9);
  EXPECT_FALSE(clocked.suspect());
  EXPECT_THAT(clocked.audit.checks.back().detail,
              mentions("0.938", "240 Gbyte/s", kMorning, "0.997", "3.950 and 4.200 GHz"));
  EXPECT_TRUE(held(calibrated_l3(215e9, 3.95e9, kNoon), morning).suspect()) << "0.953 in a cycle";
  Machine pipe = calibrated_l3(200e9, 4.2e9, kNoon), faster_pipe = morning;
  for (Machine* machine : {&pipe, &faster_pipe}) {
    machine->ceilings[0].kind = CeilingKind::compute;
    machine->ceilings[0].pipe = Pipe::fp32;
  }
  EXPECT_TRUE(held(pipe, faster_pipe).suspect());
  pipe.ceilings[0].clocks.core_hz.reset();
  EXPECT_TRUE(held(pipe, faster_pipe).suspect()) << "no clock excuses nothing";

  EXPECT_EQ(was_slow(calibrated_l3(240e9, 4.2e9, kNoon), calibrated_l3(225e9, 3.95e9, kMorning)), "");
  EXPECT_THAT(was_slow(calibrated_l3(240e9, 4.2e9, kNoon), calibrated_l3(207e9, 4.2e9, kMorning)),
              mentions(kMorning, "l3.copy", "1.16"));
}

TEST(History, MainMemoryHasAClockOfItsOwn) {
  Machine morning = calibrated(116e9, kMorning), noon = calibrated(108e9, kNoon);
  morning.ceilings[0].clocks.core_hz = 4.2e9;
  noon.ceilings[0].clocks.core_hz = 3.8e9;
  EXPECT_TRUE(held(noon, morning).suspect());
}

TEST(History, OfAGpuOnlyMemoryIsHeld) {
  Machine morning = calibrated_l3(240e9, 1.98e9, kMorning), noon = calibrated_l3(200e9, 1.98e9, kNoon);
  for (Machine* machine : {&morning, &noon}) machine->device.kind = DeviceKind::cuda;
  EXPECT_FALSE(held(noon, morning).past_best);
  for (Machine* machine : {&morning, &noon}) machine->ceilings[0].level = Level::hbm;
  EXPECT_TRUE(held(noon, morning).suspect());
  for (Machine* machine : {&morning, &noon}) machine->ceilings[0].role = Role::reference;
  EXPECT_FALSE(held(noon, morning).past_best);
}

}  // namespace
}  // namespace roofline
