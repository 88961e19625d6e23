// The roofs' names: shared where roofs lie on each other, and on nothing else that is drawn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "render/chart/chart.hpp"
#include "tests/support/sample_report.hpp"

namespace roofline {
namespace {

struct Drawn {
  std::vector<const Text*> names;
  std::vector<Quad> lines;  ///< as thick as they look; neither dotted limits nor what no one sees
};

Drawn drawn(const Chart& chart) {
  Drawn out;
  for (const Layer& layer : chart.scene.layers) {
    if (layer.name != "ceilings" && layer.name != "ridges") continue;
    for (const Group& group : layer.groups) {
      for (const Item& item : group.items) {
        if (const Text* text = std::get_if<Text>(&item)) out.names.push_back(text);
        const Line* line = std::get_if<Line>(&item);
        if (!line || !line->stroke || line->stroke->color.alpha < 1) continue;
        const bool limit = !line->stroke->dash.empty() && line->stroke->dash.front() < 2;
        if (!limit) out.lines.push_back(Quad::stroke(line->points[0], line->points[1], line->stroke->width));
      }
    }
  }
  return out;
}

std::vector<std::string> names(const Report& report, const ChartOptions& options = {}) {
  std::vector<std::string> out;
  const Chart chart = lay_out_chart(report, options);
  for (const Text* text : drawn(chart).names) out.push_back(text->text);
  return out;
}

/// The standard suite on a machine whose caches are equally fast, with what else an H200 has.
Report crowded_report() {
  Report r = sample::sample_report();
  auto& all = r.machine.ceilings;
  all.push_back(sample::bandwidth(Level::l1, Pattern::read, 33.1e12));
  all.push_back(sample::bandwidth(Level::shared, Pattern::read, 33.11e12));
  all.push_back(sample::compute(Pipe::tensor_fp8, 1.78e15));
  all.push_back(sample::compute(Pipe::tensor_int8, 1.92e15));
  all.push_back(sample::compute(Pipe::int32, 33.3e12));
  all.push_back(sample::compute(Pipe::tensor_fp64, 66.2e12));
  all.push_back(sample::compute(Pipe::sfu, 4.16e12));
  return r;
}

TEST(ChartRoofs, CoincidingRoofsShareAName) {
  const std::vector<std::string> found = names(crowded_report());
  EXPECT_THAT(found, testing::Contains("BF16 · FP16 tensor 798 · 786 TFLOP/s"));
  EXPECT_THAT(found, testing::Contains("Shared memory · L1 read 33.1 TB/s"));
  EXPECT_THAT(found, testing::Contains("INT8 · FP8 tensor 1.92 · 1.78 PFLOP/s"));
  EXPECT_THAT(found, testing::Contains("FP64 · INT32 33.3 TFLOP/s"));
  // Beside one that is in use, one that is not has its own name.
  EXPECT_THAT(found, testing::Contains("FP32 65 TFLOP/s"));
  EXPECT_THAT(found, testing::Contains("FP64 tensor 66.2 TFLOP/s"));
}

TEST(ChartRoofs, RoofsThatLieApartKeepTheirOwnNames) {
  const std::vector<std::string> found = names(sample::cpu_sample_report());
  EXPECT_THAT(found, testing::IsSupersetOf({"FP32 207 GFLOP/s", "FP64 103 GFLOP/s", "DRAM read 24.6 GB/s",
                                            "L3 read 91 GB/s", "L2 read 196 GB/s", "L1 read 402 GB/s"}));
}

TEST(ChartRoofs, SharedLabelsSayWhatIsCommonOnce) {
  const Ceiling a = sample::compute(Pipe::tensor_bf16, 917e12), b = sample::compute(Pipe::tensor_fp16, 877e12),
                c = sample::compute(Pipe::fp32, 1.2e15), d = sample::compute(Pipe::int32, 917e12);
  const auto roof = [](const Ceiling& ceiling, const char* name) { return Roof{&ceiling, name, true, false, {}}; };
  const Roof bf16 = roof(a, "BF16 tensor"), fp16 = roof(b, "FP16 tensor"), fp32 = roof(c, "FP32"),
             i32 = roof(d, "INT32");
  EXPECT_EQ(shared_label({&bf16}), "BF16 tensor 917 TFLOP/s");
  EXPECT_EQ(shared_label({&bf16, &fp16}), "BF16 · FP16 tensor 917 · 877 TFLOP/s");
  EXPECT_EQ(shared_label({&fp32, &i32}), "FP32 · INT32 1.2 PFLOP/s · 917 TFLOP/s");
  EXPECT_EQ(shared_label({&i32, &bf16}), "INT32 · BF16 tensor 917 TFLOP/s");
  EXPECT_EQ(sustained_label({&bf16, &fp16}), "917 · 877 sustained");
}

TEST(ChartRoofs, NamesCrossNoLineAndNoOtherName) {
  for (const auto& [width, height] : {std::pair{1200, 760}, {1920, 1080}, {800, 600}, {400, 300}}) {
    for (const Report& report : {crowded_report(), sample::cpu_sample_report(), sample::random_report(60)}) {
      const Chart chart = lay_out_chart(report, {.width = width, .height = height});
      const Drawn found = drawn(chart);
      for (const Text* name : found.names) {
        EXPECT_FALSE(overlaps_any(name->box(), found.lines)) << name->text << " at " << width;
        EXPECT_TRUE(chart.plot.contains(name->box().bounds())) << name->text << " at " << width;
        for (const Text* other : found.names)
          EXPECT_FALSE(other != name && overlap(name->box(), other->box())) << name->text << " | " << other->text;
      }
    }
  }
}

TEST(ChartRoofs, WhatNoPointUsesIsThinAndItsNameSmall) {
  const Report report = crowded_report();
  const Chart chart = lay_out_chart(report, {});
  std::size_t small = 0, large = 0;
  for (const Text* name : drawn(chart).names) {
    const bool idle = name->text.starts_with("INT8") || name->text.starts_with("Shared");
    const bool main = name->text.starts_with("BF16") || name->text.starts_with("HBM");
    small += idle && name->size < 11;
    large += main && name->size > 11;
  }
  EXPECT_EQ(small, 2u);
  EXPECT_EQ(large, 2u);
}

TEST(ChartRoofs, EveryRoofKeepsItsTitle) {
  const std::string svg = render_svg(crowded_report());
  for (const char* title : {"L1 read: 33.1 TB/s", "Shared memory read: 33.1 TB/s", "FP16 tensor: 786 TFLOP/s",
                            "BF16 tensor: 798 TFLOP/s", "FP8 tensor: 1.78 PFLOP/s", "INT8 tensor: 1.92 PFLOP/s"})
    EXPECT_THAT(svg, testing::HasSubstr(std::string("<title>") + title));
}

TEST(ChartRoofs, AllSizesHaveAPlot) {
  for (const auto& [width, height] : {std::pair{320, 240}, {640, 360}, {1080, 1920}, {3840, 2160}}) {
    for (const Report& report : {crowded_report(), sample::random_report(60)}) {
      const Chart chart = lay_out_chart(report, {.width = width, .height = height});
      EXPECT_GE(chart.plot.width, 0.45 * width) << width;
      EXPECT_GE(chart.plot.height, 0.3 * height) << height;
      const Rect page = {0, 0, chart.scene.width, chart.scene.height};
      for (const Text* text : chart.scene.texts())
        EXPECT_TRUE(page.contains(text->box().bounds())) << text->text << " leaves " << width << " x " << height;
    }
  }
}

}  // namespace
}  // namespace roofline
