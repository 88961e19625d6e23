// A point's derived values against figures worked out by hand.
#include "report/report.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace roofline {
namespace {

/// 8e9 FLOPs and 4e9 bytes of DRAM traffic whose attainable time is 2 s, timed at `median` seconds.
Point timed_point(double median) {
  Point point;
  point.work.flops[Pipe::fp32] = 8e9;
  point.work.bytes[Level::dram] = {.read = 3e9, .write = 1e9};
  point.bound.label = BoundLabel::memory;
  point.bound.limiting_ceiling = "dram.triad";
  point.bound.attainable_time_s = 2;
  point.bound.resources = {
      {.ceiling = "dram.triad", .kind = CeilingKind::bandwidth, .amount = 4e9, .time_s = 2, .ci95 = {1.9, 2.1}}};
  point.time = Summary{};
  point.time->median = median;
  return point;
}

TEST(Point, RatesAreWorkOverTheMedian) {
  const Point point = timed_point(4);
  EXPECT_DOUBLE_EQ(point.performance(), 2e9);
  EXPECT_DOUBLE_EQ(point.bandwidth(Level::dram), 1e9);
  EXPECT_EQ(point.bandwidth(Level::hbm), 0);
  EXPECT_DOUBLE_EQ(point.fraction_of_roof(), 0.5);
}

TEST(Point, WithoutATimeThereAreNoRates) {
  Point point = timed_point(4);
  point.time.reset();
  EXPECT_EQ(point.performance(), 0);
  EXPECT_EQ(point.bandwidth(Level::dram), 0);
  EXPECT_TRUE(std::isnan(point.fraction_of_roof()));
  EXPECT_FALSE(point.above_roof());
}

TEST(Point, AMedianOfZeroNeverDivides) {
  const Point point = timed_point(0);
  EXPECT_EQ(point.performance(), 0);
  EXPECT_EQ(point.bandwidth(Level::dram), 0);
  EXPECT_TRUE(std::isnan(point.fraction_of_roof()));
}

TEST(Point, WithoutACeilingThereIsNoFraction) {
  Point point = timed_point(4);
  point.bound = Bound{};
  EXPECT_TRUE(std::isnan(point.fraction_of_roof()));
  EXPECT_FALSE(point.above_roof());
}

TEST(Point, AFractionAboveOneIsNotClamped) { EXPECT_DOUBLE_EQ(timed_point(1).fraction_of_roof(), 2); }

/// Timed when the machine had half of the speed that it was calibrated at.
Point paired_point(double fraction, double half_width) {
  Point point = timed_point(4);
  point.paired = PairedFraction{.ceiling = "dram.triad",
                                .fraction = fraction,
                                .ci95 = {fraction - half_width, fraction + half_width},
                                .pairs = 40};
  return point;
}

TEST(Point, APairedFractionReplacesThatOfTheCalibratedRoof) {
  Point point = paired_point(0.96, 0.01);
  EXPECT_DOUBLE_EQ(point.fraction_of_roof(), 0.96);
  EXPECT_DOUBLE_EQ(point.bandwidth(Level::dram), 1e9) << "rates stay those of the time";
  point.bound.limiting_ceiling = "dram.copy";
  EXPECT_DOUBLE_EQ(point.fraction_of_roof(), 0.5) << "paired with another roof's probe";
  point = paired_point(0.96, 0.01);
  point.time.reset();
  EXPECT_TRUE(std::isnan(point.fraction_of_roof()));
}

TEST(Point, APairedFractionIsAboveTheRoofByItsOwnInterval) {
  EXPECT_TRUE(paired_point(1.04, 0.03).above_roof()) << "below the calibrated roof at that moment";
  EXPECT_FALSE(paired_point(1.04, 0.05).above_roof());
  Point faster_now = paired_point(0.97, 0.01);
  faster_now.time->median = 1;
  EXPECT_FALSE(faster_now.above_roof()) << "the machine is faster than when it was calibrated";
}

TEST(Point, AboveItsRoofOnlyWhereTheIntervalsDoNotExplainIt) {
  Point point = timed_point(1.95);  // fraction 1.026, but the roof's interval starts at 1.9 s
  EXPECT_FALSE(point.above_roof());
  point = timed_point(1.8);
  EXPECT_TRUE(point.above_roof());
  point.time->ci95 = {1.7, 1.92};  // the launch may have taken longer than the roof's 1.9 s
  EXPECT_FALSE(point.above_roof());
  point = timed_point(2.5);
  EXPECT_FALSE(point.above_roof());
}

TEST(Point, AboveARoofWithoutAnIntervalTheRoofCountsAsExact) {
  Point point = timed_point(1.95);
  point.bound.resources[0].ci95 = {};
  EXPECT_TRUE(point.above_roof());
}

TEST(Point, ColdAndFasterThanMemoryCanBeIsNotCold) {
  Machine machine;
  machine.device.kind = DeviceKind::cpu;
  Ceiling& memory = machine.ceilings.emplace_back();
  memory.level = Level::dram;
  Point point = timed_point(4);  // 4 GB
  EXPECT_FALSE(not_cold(point, machine)) << "no limit is known";
  memory.limit = Limit{.value = 1.01e9, .basis = "one channel"};
  EXPECT_FALSE(not_cold(point, machine));
  memory.limit->value = 0.99e9;
  EXPECT_TRUE(not_cold(point, machine));
  point.time->ci95 = {3.9, 4.1};  // it may have taken longer
  EXPECT_FALSE(not_cold(point, machine));
  point.time->ci95 = {3.9, 4.01};
  EXPECT_TRUE(not_cold(point, machine));
  point.workload.cache = CacheMode::hot;
  EXPECT_FALSE(not_cold(point, machine));
  point = timed_point(4);
  point.time.reset();
  EXPECT_FALSE(not_cold(point, machine));
}

TEST(PointStatus, NamesAreInverse) {
  for (const PointStatus status : {PointStatus::ok, PointStatus::skipped, PointStatus::failed}) {
    EXPECT_EQ(parse_point_status(to_string(status)), status);
  }
  EXPECT_EQ(to_string(PointStatus::skipped), "skipped");
  EXPECT_FALSE(parse_point_status("OK"));
  EXPECT_FALSE(parse_point_status(""));
}

}  // namespace
}  // namespace roofline
