// What counters add to the chart: marks where the counts say, on the point's own height, clear of names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "render/chart/canvas.hpp"
#include "render/chart/chart.hpp"
#include "render/chart/svg_canvas.hpp"
#include "report/diagnosis/counted.hpp"
#include "tests/support/sample_report.hpp"

namespace roofline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::size_t kAttention = 13, kVectorGemm = 15;

struct Mark {
  Vec at;
  std::string title;
};

std::vector<Group> counted_groups(const Chart& chart) {
  for (const Layer& layer : chart.scene.layers) {
    if (layer.name == "counted") return layer.groups;
  }
  return {};
}

std::vector<Mark> marks_in(const Group& group) {
  std::vector<Mark> marks;
  for (const Item& item : group.items) {
    const auto* line = std::get_if<Line>(&item);
    if (line == nullptr || line->title.empty()) continue;
    marks.push_back({(line->points.front() + line->points.back()) * 0.5, line->title});
  }
  return marks;
}

/// The marks of a row, of class "hierarchy" or "pipes".
std::vector<Mark> marks_of(const Chart& chart, std::size_t row, const std::string& classes) {
  for (const Group& group : counted_groups(chart)) {
    if (group.classes == classes && group.data.front().second == std::to_string(row)) return marks_in(group);
  }
  return {};
}

std::string svg_of(const Chart& chart, bool for_page = true) {
  SvgCanvas canvas(for_page);
  return draw_scene(chart.scene, canvas);
}

TEST(ChartCounted, LevelsStandAtTheirIntensityOnThePointsHeight) {
  const Report report = example::counted_sample_report();
  const Chart chart = lay_out_chart(report, {});
  const Point& gemm = report.points[kVectorGemm];
  // 2·4096³ FLOP over 3·4096²·4 bytes is 682.7; counted are 150, 12 and 1.4 times those bytes.
  const std::vector<Mark> marks = marks_of(chart, kVectorGemm, "hierarchy");
  ASSERT_EQ(marks.size(), 3u);
  EXPECT_EQ(marks[0].title, "L1: 4.551 FLOP/byte, counted");
  EXPECT_EQ(marks[1].title, "L2: 56.89 FLOP/byte, counted");
  EXPECT_EQ(marks[2].title, "DRAM: 487.6 FLOP/byte, counted");
  const std::vector<Level> levels = {Level::l1, Level::l2, Level::hbm};
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const Vec expected = chart.at(counted_intensity(gemm, levels[i]), gemm.performance());
    EXPECT_NEAR(marks[i].at.x, expected.x, 0.01) << marks[i].title;
    EXPECT_NEAR(marks[i].at.y, expected.y, 0.01) << marks[i].title;
  }
}

TEST(ChartCounted, EveryPipeOfAKernelHasItsOwnMark) {
  const Report report = example::counted_sample_report();
  const Chart chart = lay_out_chart(report, {});
  const std::vector<Mark> marks = marks_of(chart, kAttention, "pipes");
  ASSERT_EQ(marks.size(), 2u);
  EXPECT_EQ(marks[0].title, "fp32: 34.4 TFLOP/s, counted");
  EXPECT_EQ(marks[1].title, "tensor.fp16: 344 TFLOP/s, counted");
  const Point& attention = report.points[kAttention];
  const double bytes = *counted_bytes(*attention.counters, Level::hbm);
  const double flops = attention.work.total_flops() / 10;
  const Vec expected = chart.at(flops / bytes, flops / attention.time->median);
  EXPECT_NEAR(marks[0].at.x, expected.x, 0.01);
  EXPECT_NEAR(marks[0].at.y, expected.y, 0.01);
  EXPECT_TRUE(marks_of(chart, kVectorGemm, "pipes").empty()) << "one pipe is the point itself";
}

TEST(ChartCounted, WhatThePointCoversIsNotDrawn) {
  Report report = example::counted_sample_report();
  report.points[kVectorGemm].counters = example::counters(report.points[kVectorGemm], 1.02, 1.02, 20);
  report.points[kVectorGemm].counters->values["fp32.fma"] = report.points[kVectorGemm].work.total_flops() / 2;
  const std::vector<Mark> marks = marks_of(lay_out_chart(report, {}), kVectorGemm, "hierarchy");
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_THAT(marks[0].title, StartsWith("L1: "));
}

TEST(ChartCounted, NothingWithoutCounters) {
  const Report report = example::sample_report();
  const Chart chart = lay_out_chart(report, {});
  EXPECT_TRUE(counted_groups(chart).empty());
  EXPECT_THAT(svg_of(chart), Not(HasSubstr("counted")));
}

TEST(ChartCounted, NothingOfItIsInThePicture) {
  const Report counted = example::counted_sample_report();
  const Chart chart = lay_out_chart(counted, {});
  EXPECT_GT(counted_groups(chart).size(), 10u);
  for (const Group& group : counted_groups(chart)) EXPECT_TRUE(group.hidden);
  EXPECT_THAT(svg_of(chart, true), HasSubstr("class=\"hierarchy s-family-"));
  EXPECT_THAT(svg_of(chart, false), Not(HasSubstr("hierarchy")));
  EXPECT_THAT(render_svg(counted), Not(HasSubstr("pipes")));
  // Names stand where they would without it.
  EXPECT_EQ(render_png(counted, {.scale = 1}), render_png(example::sample_report(), {.scale = 1}));
}

/// A hollow mark is an earlier run's, and shapes are families': what was counted is neither.
TEST(ChartCounted, MarksAreTicks) {
  const Report counted = example::counted_sample_report();
  for (const Group& group : counted_groups(lay_out_chart(counted, {}))) {
    for (const Item& item : group.items) {
      const auto* line = std::get_if<Line>(&item);
      ASSERT_NE(line, nullptr);
      EXPECT_FALSE(line->closed || line->fill);
    }
  }
}

/// Notes which classes it was asked to draw.
class ListingCanvas : public Canvas {
 public:
  void begin(const Scene& /*scene*/) override {}
  void begin_layer(const Layer& /*layer*/) override {}
  void begin_group(const Group& group) override { classes.push_back(group.classes); }
  void draw(const Line& /*line*/) override {}
  void draw(const Circle& /*circle*/) override {}
  void draw(const Text& /*text*/) override {}
  void end_group() override {}
  void end_layer() override {}
  std::string finish() override { return {}; }
  std::vector<std::string> classes;
};

TEST(ChartCounted, APictureSkipsWhatIsHidden) {
  Scene scene;
  scene.layers = {{"layer", {Group{.classes = "seen"}, Group{.classes = "unseen", .hidden = true}}}};
  ListingCanvas canvas;
  draw_scene(scene, canvas);
  EXPECT_THAT(canvas.classes, ElementsAre("seen"));
}

}  // namespace
}  // namespace roofline
