// What a row is paired with: as much work of its roof's probe, whatever the row's mix of reads and writes.
#include "analyze/pair_row.hpp"

#include <gtest/gtest.h>

namespace roofline {
namespace {

Ceiling roof_of(std::string name, Pattern pattern, double value) {
  Ceiling ceiling;
  ceiling.name = std::move(name);
  ceiling.level = Level::dram;
  ceiling.pattern = pattern;
  ceiling.value = value;
  return ceiling;
}

Machine machine_of(double copy, double triad) {
  Machine machine;
  machine.ceilings = {roof_of("dram.copy", Pattern::copy, copy), roof_of("dram.triad", Pattern::triad, triad)};
  return machine;
}

Bound bound_of_mix(const Machine& machine, double read, double write) {
  Work work;
  work.bytes[Level::dram] = {.read = read, .write = write};
  work.launches = 0;
  return bound_of(work, machine);
}

TEST(EqualLaunches, OfAMeasuredMixDoAsMuchWork) {
  const Machine machine = machine_of(20e9, 16e9);
  const Bound bound = bound_of_mix(machine, 3e9, 3e9);
  EXPECT_EQ(equal_launches(bound.resources.front(), machine.ceilings[0], 1.5e9), 4);
}

/// On a machine at its calibrated speed, they take the attainable time.
TEST(EqualLaunches, BetweenTwoMixesTakeTheAttainableTime) {
  const Machine machine = machine_of(20e9, 16e9);
  const Bound bound = bound_of_mix(machine, 3.3e9, 2.7e9);  // 0.45 written: 0.7 of the way to the copy
  ASSERT_EQ(bound.limiting_ceiling, "dram.copy");
  const double launches = equal_launches(bound.resources.front(), machine.ceilings[0], 1.5e9);
  EXPECT_DOUBLE_EQ(launches * 1.5e9 / 20e9, bound.attainable_time_s);
  EXPECT_NEAR(launches, 4 * (0.7 + 0.3 * 20 / 16), 1e-9);
}

}  // namespace
}  // namespace roofline
