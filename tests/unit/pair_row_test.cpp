// What a row is paired with: as much work of its roof's probe, whatever the row's mix of reads and writes.
#include "analyze/pair_row.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "device/cpu/cpu_device.hpp"
#include "tests/support/small_machine.hpp"

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

/// What a row above its roof is paired with.
TEST(RoofProbe, HasOtherVariants) {
  CpuDevice device(DeviceOptions{1}, best_isa(), small_machine());
  const auto variants_without = [&](const std::string& own) {
    std::vector<std::string> variants;
    Ceiling roof = roof_of("dram.read", Pattern::read, 1e9);
    roof.variant = own;
    RoofProbe::for_other_variants(roof, device, [&](RoofProbe& other) {
      EXPECT_GT(other.time(1).seconds, 0);
      variants.push_back(other.variant());
    });
    return variants;
  };
  const std::vector<std::string> all = variants_without("");
  ASSERT_GE(all.size(), 2U);
  const std::vector<std::string> others = variants_without(all.front());
  EXPECT_EQ(others, std::vector<std::string>(all.begin() + 1, all.end()));
  Ceiling none = roof_of("no such roof", Pattern::read, 1e9);
  RoofProbe::for_other_variants(none, device, [](RoofProbe&) { ADD_FAILURE(); });
}

}  // namespace
}  // namespace roofline
