// Logarithmic axes: values to pixels and back, ticks, and ranges that follow from the machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "render/chart/chart.hpp"
#include "tests/support/sample_report.hpp"

namespace roofline {
namespace {

std::vector<std::string> labels(const LogAxis& axis, bool si) {
  std::vector<std::string> out;
  for (const Tick& t : axis.ticks(si))
    if (!t.label.empty()) out.push_back(t.label);
  return out;
}

TEST(ChartAxis, MapsDecadesEvenlyAndBack) {
  const LogAxis axis({0.1, 1000}, 100, 500);
  EXPECT_DOUBLE_EQ(axis.pixel(0.1), 100);
  EXPECT_DOUBLE_EQ(axis.pixel(10), 300);
  EXPECT_DOUBLE_EQ(axis.pixel(1000), 500);
  EXPECT_NEAR(axis.value(axis.pixel(42.5)), 42.5, 1e-9);
  EXPECT_DOUBLE_EQ(axis.pixels_per_decade(), 100);
}

TEST(ChartAxis, LabelsIntensitiesPlainlyAndRatesWithPrefixes) {
  EXPECT_THAT(labels(LogAxis({0.05, 3000}, 0, 1000), false), testing::ElementsAre("0.1", "1", "10", "100", "1 k"));
  EXPECT_THAT(labels(LogAxis({1e11, 2e15}, 600, 0), true),
              testing::ElementsAre("100 G", "1 T", "10 T", "100 T", "1 P"));
}

TEST(ChartAxis, LabelsNeverCrowd) {
  for (const double pixels : {60.0, 200.0, 900.0}) {
    const LogAxis axis({1e-4, 1e15}, 0, pixels);
    double last = -100;
    for (const Tick& t : axis.ticks(true)) {
      if (t.label.empty()) continue;
      EXPECT_GE(axis.pixel(t.value) - last, 33) << t.label << " of " << pixels;
      last = axis.pixel(t.value);
    }
  }
}

TEST(ChartAxis, FollowsFromTheMachineNotFromThePoints) {
  const Report report = example::sample_report();
  const Chart all = lay_out_chart(report, {});
  Report fewer = report;
  fewer.points.erase(fewer.points.begin() + 3, fewer.points.begin() + 12);
  const Chart some = lay_out_chart(fewer, {});
  EXPECT_EQ(all.x.range().low, some.x.range().low);
  EXPECT_EQ(all.x.range().high, some.x.range().high);
  EXPECT_EQ(all.y.range().low, some.y.range().low);
  EXPECT_EQ(all.y.range().high, some.y.range().high);
}

TEST(ChartAxis, PointsOutsideExtendIt) {
  Report report = example::sample_report();
  report.points.push_back(example::ok_point(report.machine, example::workload("spmv", "cuda", DType::fp32, {{"n", 1}}),
                                            "x", Work{{{Pipe::fp32, 1e6}}, {}, {{Level::hbm, {1e9, 0}}}, 1}, 1e-2));
  const Chart chart = lay_out_chart(report, {});
  EXPECT_LT(chart.x.range().low, 1e-3);
  EXPECT_LT(chart.y.range().low, 1e8);
}

TEST(ChartAxis, RooflineMeetsItsRidge) {
  const Report report = example::sample_report();
  const Chart chart = lay_out_chart(report, {});
  ASSERT_FALSE(chart.roofs.ridges().empty());
  EXPECT_NEAR(chart.roofs.ridges().back().intensity, 798e12 / 4.671e12, 1e-9);
  EXPECT_EQ(chart.roofs.main_memory()->ceiling->name, "hbm.read");
  EXPECT_EQ(chart.roofs.main_compute()->ceiling->name, "tensor.bf16");
  EXPECT_EQ(chart.roofs.main_memory()->others.size(), 2u);  // write and triad
  EXPECT_EQ(chart.roofs.patterns.size(), 1u);               // copy, which points hang on
}

TEST(ChartAxis, CeilingsThatNoPointUsesRecede) {
  const Report report = example::sample_report();
  const Chart chart = lay_out_chart(report, {});
  for (const Roof& roof : chart.roofs.compute) EXPECT_EQ(roof.used, roof.ceiling->name != "fp64") << roof.name;
  for (const Roof& roof : chart.roofs.memory) EXPECT_EQ(roof.used, roof.ceiling->level == Level::hbm) << roof.name;
}

}  // namespace
}  // namespace roofline
