// What earlier calibrations reached is handed on, held against, and forgotten.
#include "calibrate/earlier.hpp"

#include <gtest/gtest.h>

#include "calibrate/machine_store.hpp"
#include "measure/audit.hpp"

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
  hold_against_earlier(now, kept, *seconds_since_1970(now.measured_at) + 60);
  return now.ceilings.front();
}

const std::string kMorning = "2026-11-23T08:00:00Z", kNoon = "2026-11-23T12:00:00Z", kEvening = "2026-11-23T20:00:00Z";

TEST(Earlier, ASlowMemoryIsSuspectOnceItWasFaster) {
  const Ceiling slow = held(calibrated(62e9, kNoon), calibrated(116e9, kMorning));
  ASSERT_TRUE(slow.earlier);
  EXPECT_EQ(slow.earlier->value, 116e9);
  EXPECT_EQ(slow.earlier->measured_at, kMorning);
  EXPECT_TRUE(slow.suspect());
  EXPECT_EQ(slow.audit.checks.back().detail, "0.534 of 116 Gbyte/s on 2026-11-23T08:00:00Z");
  EXPECT_FALSE(held(calibrated(114e9, kNoon), calibrated(116e9, kMorning)).suspect()) << "within 3 %";
  EXPECT_FALSE(held(calibrated(118e9, kNoon), calibrated(116e9, kMorning)).earlier);
}

TEST(Earlier, ASlowOneIsToldOfOnceItIsKnownToBeOne) {
  EXPECT_EQ(slower_earlier(calibrated(116e9, kNoon), calibrated(62e9, kMorning)),
            "the machine was slower in the calibration of 2026-11-23T08:00:00Z: dram.copy is 1.87 times what it was. "
            "Shares of that roof in reports that were made with that one are too large");
  EXPECT_EQ(slower_earlier(calibrated(116e9, kNoon), calibrated(114e9, kMorning)), "");
  EXPECT_EQ(slower_earlier(calibrated(62e9, kNoon), calibrated(116e9, kMorning)), "");
  EXPECT_EQ(slower_earlier(calibrated(116e9, kNoon), calibrated(62e9, kMorning, "node18")), "");
  Machine marked = calibrated(62e9, kNoon);
  hold_against_earlier(marked, calibrated(116e9, kMorning), *seconds_since_1970(kNoon));
  EXPECT_EQ(slower_earlier(calibrated(116e9, kEvening), marked), "") << "it has said so itself";
}

TEST(Earlier, TheMostIsHandedOn) {
  Machine noon = calibrated(62e9, kNoon);
  hold_against_earlier(noon, calibrated(116e9, kMorning), *seconds_since_1970(kNoon));
  const Ceiling evening = held(calibrated(63e9, kEvening), noon);
  ASSERT_TRUE(evening.earlier);
  EXPECT_EQ(evening.earlier->measured_at, kMorning) << "a second slow calibration does not make it normal";
  EXPECT_TRUE(evening.suspect());
  EXPECT_EQ(held(calibrated(110e9, kEvening), calibrated(111e9, kNoon)).earlier->value, 111e9);
}

TEST(Earlier, AMonthLaterItIsForgotten) {
  EXPECT_TRUE(held(calibrated(62e9, "2026-12-22T08:00:00Z"), calibrated(116e9, kMorning)).earlier);
  EXPECT_FALSE(held(calibrated(62e9, "2026-12-24T08:00:00Z"), calibrated(116e9, kMorning)).earlier);
  EXPECT_FALSE(held(calibrated(62e9, kNoon), calibrated(116e9, "yesterday")).earlier);
}

TEST(Earlier, OnlyWhatSpeaksOfThisMachineCounts) {
  EXPECT_FALSE(held(calibrated(62e9, kNoon), calibrated(116e9, kMorning, "node18")).earlier) << "one home, two hosts";
  Machine other = calibrated(116e9, kMorning);
  other.tool_version = "0.0.9";
  EXPECT_FALSE(held(calibrated(62e9, kNoon), other).earlier);
  other = calibrated(116e9, kMorning);
  other.ceilings[0].audit.checks = {{"result verified", CheckStatus::fail, "sum is 7"}};
  EXPECT_FALSE(held(calibrated(62e9, kNoon), other).earlier) << "it may never have been that fast";
  other.ceilings[0].audit.checks = {{std::string(kPlateauCheck), CheckStatus::fail, "1 of 9"}};
  EXPECT_TRUE(held(calibrated(62e9, kNoon), other).earlier) << "it was that fast at least";
}

/// An L3's copy roof, and the core clock that it was measured at.
Machine calibrated_l3(double copy, double core_hz, const std::string& measured_at) {
  Machine machine = calibrated(copy, measured_at);
  machine.ceilings[0].name = "l3.copy";
  machine.ceilings[0].level = Level::l3;
  machine.ceilings[0].clocks.core_hz = core_hz;
  return machine;
}

TEST(Earlier, CachesAndPipesMayBeAsMuchLowerAsTheirClockIs) {
  const Machine morning = calibrated_l3(240e9, 4.2e9, kMorning);
  const Ceiling clocked = held(calibrated_l3(225e9, 3.95e9, kNoon), morning);
  ASSERT_TRUE(clocked.earlier);
  EXPECT_EQ(clocked.earlier->core_hz, 4.2e9);
  EXPECT_FALSE(clocked.suspect());
  EXPECT_EQ(clocked.audit.checks.back().detail,
            "0.938 of 240 Gbyte/s on 2026-11-23T08:00:00Z; 0.997 of it in a cycle, at 3.950 and 4.200 GHz");
  EXPECT_TRUE(held(calibrated_l3(215e9, 3.95e9, kNoon), morning).suspect()) << "0.953 in a cycle";
  Machine pipe = calibrated_l3(200e9, 4.2e9, kNoon), faster_pipe = morning;
  for (Machine* machine : {&pipe, &faster_pipe}) {
    machine->ceilings[0].kind = CeilingKind::compute;
    machine->ceilings[0].pipe = Pipe::fp32;
  }
  EXPECT_TRUE(held(pipe, faster_pipe).suspect());
  pipe.ceilings[0].clocks.core_hz.reset();
  EXPECT_TRUE(held(pipe, faster_pipe).suspect()) << "no clock excuses nothing";

  EXPECT_EQ(slower_earlier(calibrated_l3(240e9, 4.2e9, kNoon), calibrated_l3(225e9, 3.95e9, kMorning)), "");
  EXPECT_EQ(slower_earlier(calibrated_l3(240e9, 4.2e9, kNoon), calibrated_l3(207e9, 4.2e9, kMorning)),
            "the machine was slower in the calibration of 2026-11-23T08:00:00Z: l3.copy is 1.16 times what it was. "
            "Shares of that roof in reports that were made with that one are too large");
}

TEST(Earlier, MainMemoryHasAClockOfItsOwn) {
  Machine morning = calibrated(116e9, kMorning), noon = calibrated(108e9, kNoon);
  morning.ceilings[0].clocks.core_hz = 4.2e9;
  noon.ceilings[0].clocks.core_hz = 3.8e9;
  EXPECT_TRUE(held(noon, morning).suspect());
}

TEST(Earlier, OfAGpuOnlyMemoryIsHeld) {
  Machine morning = calibrated_l3(240e9, 1.98e9, kMorning), noon = calibrated_l3(200e9, 1.98e9, kNoon);
  for (Machine* machine : {&morning, &noon}) machine->device.kind = DeviceKind::cuda;
  EXPECT_FALSE(held(noon, morning).earlier);
  for (Machine* machine : {&morning, &noon}) machine->ceilings[0].level = Level::hbm;
  EXPECT_TRUE(held(noon, morning).suspect());
  for (Machine* machine : {&morning, &noon}) machine->ceilings[0].role = Role::reference;
  EXPECT_FALSE(held(noon, morning).earlier);
}

}  // namespace
}  // namespace roofline
