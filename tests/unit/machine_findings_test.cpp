// One line for a cause, however many ceilings it has; none for what nobody is held against.
#include "report/machine_findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "measure/audit.hpp"
#include "tests/support/mentions.hpp"
#include "tests/support/sample_report.hpp"

namespace roofline {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Machine cpu() {
  Machine machine = example::h200();
  machine.device.kind = DeviceKind::cpu;
  machine.time_s = 60;
  for (Ceiling& ceiling : machine.ceilings) ceiling.audit = example::passed("fine");
  return machine;
}

void fail(Ceiling& ceiling, std::string_view check) {
  ceiling.audit.checks.push_back({std::string(check), CheckStatus::fail, "by 7 %"});
}

void leave_open(Ceiling& ceiling, std::int64_t rounds) {
  ceiling.rounds = rounds;
  ceiling.audit.checks.push_back({std::string(kPlateauCheck), CheckStatus::provisional, "1 of 1 rounds"});
}

TEST(MachineFindings, ASoundMachineHasNone) { EXPECT_THAT(machine_findings(cpu()), IsEmpty()); }

TEST(MachineFindings, CeilingsOfAnEarlierCalibrationAreCountedWithItsDate) {
  Machine machine = cpu();
  for (const std::size_t i : {0U, 2U}) machine.ceilings[i].measured_at = "2026-11-29T04:00:00Z";
  const Findings found = machine_findings(machine);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, FindingKind::earlier_ceilings);
  EXPECT_THAT(found[0].text, mentions("2", "2026-11-29T04:00:00Z"));
}

TEST(MachineFindings, ManyCeilingsOfOneCauseAreOneSentence) {
  Machine machine = cpu();
  for (std::size_t i = 0; i < 9; ++i) {
    fail(machine.ceilings[i], i % 2 == 0 ? kPlateauCheck : kIntervalCheck);
    fail(machine.ceilings[i], kDoublingCheck);
  }
  EXPECT_THAT(
      machine_findings(machine),
      ElementsAre(finding(FindingKind::noisy_ceilings,
                          "hbm.read, hbm.write, hbm.copy, hbm.triad, l2.read, fp64 and 3 more", "--time 120s.")));
}

TEST(MachineFindings, AnotherCauseIsAnotherSentence) {
  Machine machine = cpu();
  fail(machine.ceilings[0], kPlateauCheck);
  fail(machine.ceilings[4], kLimitCheck);
  fail(machine.ceilings[4], kPlateauCheck);
  EXPECT_THAT(machine_findings(machine),
              ElementsAre(finding(FindingKind::noisy_ceilings, "hbm.read", "--time 120s"),
                          finding(FindingKind::failed_check, "l2.read", std::string(kLimitCheck),
                                  "`roofline machine --verbose`")));
  EXPECT_THAT(failed_checks(machine), Contains("l2.read: " + std::string(kLimitCheck) + ": by 7 %"));
}

TEST(MachineFindings, WhatIsSustainedWantsLongerLoad) {
  Machine machine = example::h200();
  for (Ceiling& ceiling : machine.ceilings) {
    ceiling.audit = example::passed("fine");
    if (ceiling.regime == Regime::sustained && ceiling.role == Role::roof) fail(ceiling, kSteadyCheck);
  }
  ASSERT_EQ(machine_findings(machine).size(), 1U);
  EXPECT_THAT(machine_findings(machine)[0], finding(FindingKind::noisy_ceilings, "--sustain 10s."));
}

TEST(MachineFindings, AMachineThatWasFasterBeforeSaysWhenAndByHowMuch) {
  Machine machine = cpu();
  for (std::size_t i = 0; i < 2; ++i) {
    Ceiling& ceiling = machine.ceilings[i];
    ceiling.past_best = PastBest{ceiling.value / (i == 0 ? 0.53 : 0.9), "2026-11-23T19:46:50Z"};
    ceiling.audit.checks.push_back(audit_history(ceiling));
    fail(ceiling, kPlateauCheck);
  }
  EXPECT_THAT(machine_findings(machine), ElementsAre(finding(FindingKind::slower_than_earlier, "hbm.read and hbm.write",
                                                             "53.0 %", "2026-11-23T19:46:50Z")));
  Machine foreign = cpu();
  fail(foreign.ceilings[0], kHistoryCheck);
  EXPECT_THAT(machine_findings(foreign), ::testing::SizeIs(1)) << "a file that has the check and not the value";
}

TEST(MachineFindings, PipesThatAreLowerByTheirClockSaySoOfTheMachineAndNotOfPoints) {
  Machine machine = cpu();
  Ceiling& fp32 = *std::find_if(machine.ceilings.begin(), machine.ceilings.end(),
                                [](const Ceiling& ceiling) { return ceiling.name == "fp32"; });
  fp32.clocks.core_hz = 4.0e9;
  fp32.past_best = PastBest{fp32.value / 0.95, "2026-11-23T19:46:50Z", 4.2e9};
  fp32.audit.checks.push_back(audit_history(fp32));
  EXPECT_FALSE(fp32.suspect());
  EXPECT_THAT(machine_findings(machine), ElementsAre(finding(FindingKind::lower_clock, "fp32", "95.0 %",
                                                             "2026-11-23T19:46:50Z", "4.00 GHz", "4.20")));
  Report report = example::sample_report();
  report.machine = machine;
  EXPECT_THAT(machine_findings(report), IsEmpty());
  fp32.past_best->value = fp32.value / 0.98;
  EXPECT_THAT(machine_findings(machine), IsEmpty()) << "within 3 %";
}

TEST(MachineFindings, AVaryingSpeedIsReportedOnceThereAreEnoughRounds) {
  Machine machine = cpu();
  for (Ceiling& ceiling : machine.ceilings) ceiling.rounds = 5;
  machine.ceilings[0].median_rate = 0.98 * machine.ceilings[0].value;
  EXPECT_THAT(machine_findings(machine), IsEmpty());
  machine.ceilings[1].median_rate = 0.61 * machine.ceilings[1].value;
  EXPECT_THAT(machine_findings(machine), ElementsAre(finding(FindingKind::varying_speed, "hbm.write", "61.0 %")));
  machine.ceilings[2].median_rate = 0.8 * machine.ceilings[2].value;
  machine.ceilings[3].median_rate = 0.9 * machine.ceilings[3].value;
  EXPECT_THAT(machine_findings(machine),
              ElementsAre(finding(FindingKind::varying_speed, "3 roofs", "80.0 %", "hbm.write, reached 61.0 %")));
  for (Ceiling& ceiling : machine.ceilings) ceiling.rounds = 2;
  EXPECT_THAT(machine_findings(machine), IsEmpty()) << "two rounds that differ show nothing about the machine";
}

TEST(MachineFindings, TheLoadThatMadeARoofSuspectIsNamedWithItsAmount) {
  Machine machine = cpu();
  fail(machine.ceilings[0], kPlateauCheck);
  machine.ceilings[0].contention = Contention{.wall_s = 10, .cpus = 2, .cores = 2, .others_s = 18};
  EXPECT_THAT(machine_findings(machine),
              ElementsAre(finding(FindingKind::noisy_ceilings, "hbm.read", "1.8 of 2", "idle machine")));
}

TEST(MachineFindings, WhatIsNotYetConfirmedIsNoFault) {
  Machine machine = cpu();
  machine.time_s = 30;
  leave_open(machine.ceilings[0], 1);
  leave_open(machine.ceilings[1], 2);
  EXPECT_TRUE(machine.ceilings[0].provisional());
  EXPECT_FALSE(machine.ceilings[0].suspect());
  EXPECT_THAT(machine_findings(machine),
              ElementsAre(finding(FindingKind::provisional_ceilings, "hbm.read and hbm.write", "1 to 2 rounds",
                                  "`roofline calibrate` (60 s)")));
  machine.time_s = 60;
  EXPECT_THAT(machine_findings(machine), ElementsAre(finding(FindingKind::provisional_ceilings, "--time 120s")));
  fail(machine.ceilings[1], kLimitCheck);
  EXPECT_THAT(machine_findings(machine), ElementsAre(finding(FindingKind::failed_check, "hbm.write"),
                                                     finding(FindingKind::provisional_ceilings, "hbm.read is")));
}

TEST(MachineFindings, RoundsThatDisagreeAreNotTooFew) {
  Machine machine = cpu();
  leave_open(machine.ceilings[0], 12);
  EXPECT_THAT(machine_findings(machine),
              ElementsAre(finding(FindingKind::provisional_ceilings, "12 rounds, which do not agree")));
}

TEST(MachineFindings, SetsThatTheCacheMayHoldAreNamedWithTheirSize) {
  Machine machine = cpu();
  leave_open(machine.ceilings[0], 1);
  machine.ceilings[1].audit.checks.push_back(audit_working_set(3.2e9, {503e6}, std::nullopt, kPastLastLevel));
  EXPECT_THAT(machine_findings(machine),
              ElementsAre(finding(FindingKind::provisional_ceilings, "hbm.write is", "6.362 x"),
                          finding(FindingKind::provisional_ceilings, "hbm.read is")));
}

TEST(MachineFindings, WhatNoKernelIsHeldAgainstIsNotWarnedAbout) {
  Report report = example::sample_report();
  for (Ceiling& ceiling : report.machine.ceilings) {
    ceiling.audit = example::passed("fine");
    if (ceiling.role == Role::reference || ceiling.name == "l2.read") fail(ceiling, kPlateauCheck);
  }
  EXPECT_THAT(machine_findings(report), IsEmpty());
  for (Ceiling& ceiling : report.machine.ceilings) {
    if (ceiling.name == "hbm.copy") fail(ceiling, kPlateauCheck);
  }
  ASSERT_EQ(machine_findings(report).size(), 1U);
  EXPECT_THAT(machine_findings(report)[0], finding(FindingKind::noisy_ceilings, "hbm.copy"));
  for (Point& point : report.points) point = example::without_time(point, PointStatus::skipped, "cancelled");
  EXPECT_THAT(machine_findings(report), IsEmpty());
}

}  // namespace
}  // namespace roofline
