// The slow GPU in the rack: what differs beyond intervals and threshold is named, and identical machines are the same.
#include "model/compare_machines.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace roofline {
namespace {

Ceiling ceiling(const std::string& name, double value, double half_width = 0.001, Regime regime = Regime::burst) {
  Ceiling made;
  made.name = name;
  made.value = value;
  made.ci95 = {value * (1 - half_width), value * (1 + half_width)};
  made.regime = regime;
  return made;
}

Machine rack_machine(double hbm = 4.67e12, double half_width = 0.001) {
  Machine machine;
  machine.ceilings = {ceiling("hbm.read", hbm, half_width), ceiling("tensor.bf16", 1000e12),
                      ceiling("tensor.bf16", 650e12, 0.001, Regime::sustained)};
  return machine;
}

TEST(CompareMachines, TheSameMachineIsTheSame) {
  const auto changes = compare_machines(rack_machine(), rack_machine());
  ASSERT_EQ(changes.size(), 3U);
  for (const CeilingChange& change : changes) {
    EXPECT_EQ(change.change, Change::same);
    EXPECT_DOUBLE_EQ(change.ratio, 1);
  }
  EXPECT_EQ(changes[2].regime, Regime::sustained);
  EXPECT_DOUBLE_EQ(changes[2].before, 650e12) << "regimes are matched, not only names";
}

TEST(CompareMachines, ThreePerCentLessIsSlowerAndMoreIsFaster) {
  EXPECT_EQ(compare_machines(rack_machine(), rack_machine(4.67e12 * 0.97))[0].change, Change::slower);
  EXPECT_EQ(compare_machines(rack_machine(4.67e12 * 0.97), rack_machine())[0].change, Change::faster);
  EXPECT_NEAR(compare_machines(rack_machine(), rack_machine(4.67e12 * 0.97))[0].ratio, 0.97, 1e-12);
}

TEST(CompareMachines, WithinTheThresholdOrTheIntervalsNothingChanged) {
  EXPECT_EQ(compare_machines(rack_machine(), rack_machine(4.67e12 * 0.995))[0].change, Change::same);
  EXPECT_EQ(compare_machines(rack_machine(), rack_machine(4.67e12 * 0.995), 0.001)[0].change, Change::slower);
  const auto noisy = compare_machines(rack_machine(4.67e12, 0.03), rack_machine(4.67e12 * 0.96, 0.03));
  EXPECT_EQ(noisy[0].change, Change::same) << "the intervals overlap";
}

TEST(CompareMachines, WhatOnlyOneHasIsNamed) {
  Machine more = rack_machine();
  more.ceilings.push_back(ceiling("nvlink.read", 400e9));
  const auto gained = compare_machines(rack_machine(), more);
  EXPECT_EQ(gained.back().change, Change::only_now);
  EXPECT_TRUE(std::isnan(gained.back().before));
  const auto lost = compare_machines(more, rack_machine());
  EXPECT_EQ(lost.back().name, "nvlink.read");
  EXPECT_EQ(lost.back().change, Change::only_before);
  EXPECT_TRUE(std::isnan(lost.back().ratio));
}

}  // namespace
}  // namespace roofline
