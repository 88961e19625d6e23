// The roofs' names: shared where roofs lie on each other, and on nothing else that is drawn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "render/chart/chart.hpp"
#include "report/roofs.hpp"
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
  Report r = example::sample_report();
  auto& all = r.machine.ceilings;
  all.push_back(example::bandwidth(Level::l1, Pattern::read, 33.1e12));
  all.push_back(example::bandwidth(Level::shared, Pattern::read, 33.11e12));
  all.push_back(example::compute(Pipe::tensor_fp8, 1.78e15));
  all.push_back(example::compute(Pipe::tensor_int8, 1.92e15));
  all.push_back(example::compute(Pipe::int32, 33.3e12));
  all.push_back(example::compute(Pipe::tensor_fp64, 66.2e12));
  all.push_back(example::compute(Pipe::sfu, 4.16e12));
  return r;
}

TEST(ChartRoofs, CoincidingRoofsShareAName) {
  const std::vector<std::string> found = names(crowded_report());
  EXPECT_THAT(found, testing::Contains("BF16 · FP16 tensor 798 · 786 TFLOP/s"));
  EXPECT_THAT(found, testing::Contains("Shared memory · L1 read 33.1 TB/s"));
  EXPECT_THAT(found, testing::Contains("INT8 · FP8 tensor 1.92 POP/s · 1.78 PFLOP/s"));
  EXPECT_THAT(found, testing::Contains("FP64 · INT32 33.3 TFLOP/s · 33.3 TOP/s"));
  // Beside one that is in use, one that is not has its own name.
  EXPECT_THAT(found, testing::Contains("FP32 65 TFLOP/s"));
  EXPECT_THAT(found, testing::Contains("FP64 tensor 66.2 TFLOP/s"));
}

TEST(ChartRoofs, RoofsThatLieApartKeepTheirOwnNames) {
  const std::vector<std::string> found = names(example::cpu_sample_report());
  EXPECT_THAT(found,
              testing::IsSupersetOf({"FP32 207 GFLOP/s", "FP64 103 GFLOP/s", "DRAM read 24.6 GB/s · copy 21.3 GB/s",
                                     "L3 read 91 GB/s", "L2 read 196 GB/s", "L1 read 402 GB/s"}));
}

TEST(ChartRoofs, SharedLabelsSayWhatIsCommonOnce) {
  const Ceiling a = example::compute(Pipe::tensor_bf16, 917e12), b = example::compute(Pipe::tensor_fp16, 877e12),
                c = example::compute(Pipe::fp32, 1.2e15), d = example::compute(Pipe::int32, 917e12);
  const auto roof = [](const Ceiling& ceiling, const char* name) { return Roof{&ceiling, name, true, false, {}}; };
  const Roof bf16 = roof(a, "BF16 tensor"), fp16 = roof(b, "FP16 tensor"), fp32 = roof(c, "FP32"),
             i32 = roof(d, "INT32");
  EXPECT_EQ(shared_label({&bf16}), "BF16 tensor 917 TFLOP/s");
  EXPECT_EQ(shared_label({&bf16, &fp16}), "BF16 · FP16 tensor 917 · 877 TFLOP/s");
  EXPECT_EQ(shared_label({&fp32, &i32}), "FP32 · INT32 1.2 PFLOP/s · 917 TOP/s");
  EXPECT_EQ(shared_label({&i32, &bf16}), "INT32 · BF16 tensor 917 TOP/s · 917 TFLOP/s");
  EXPECT_EQ(sustained_label({&bf16, &fp16}), "917 · 877 sustained");
  EXPECT_EQ(sustained_label({&i32, &bf16}), "917 TOP/s · 917 TFLOP/s sustained");
}

TEST(ChartRoofs, NamesCrossNoLineAndNoOtherName) {
  for (const auto& [width, height] : {std::pair{1200, 760}, {1920, 1080}, {800, 600}, {400, 300}}) {
    for (const Report& report : {crowded_report(), example::cpu_sample_report(), example::random_report(60)}) {
      const Chart chart = lay_out_chart(report, {.width = width, .height = height});
      const Drawn found = drawn(chart);
      for (const Text* name : found.names) {
        // In a small picture the name of a roof that limits points may have to cross one.
        if (width >= 1200) {
          EXPECT_FALSE(overlaps_any(name->box(), found.lines)) << name->text << " at " << width;
        }
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
    small += idle && name->size <= 11;
    large += main && name->size > 11;
  }
  EXPECT_EQ(small, 2u);
  EXPECT_EQ(large, 2u);
}

/// What limits points: by name, in whatever picture.
TEST(ChartRoofs, RoofsThatLimitPointsAreAlwaysNamed) {
  Report crowd = crowded_report();
  for (Point& p : crowd.points) p.workload.label = "a_kernel_with_quite_a_long_name_" + p.workload.label;
  for (const auto& [width, height] : {std::pair{480, 320}, {560, 480}, {700, 500}, {1200, 760}, {1440, 900}}) {
    for (const Report& report : {crowd, crowded_report(), example::sample_report(), example::cpu_sample_report()}) {
      const Chart chart = lay_out_chart(report, {.width = width, .height = height});
      std::string all;
      for (const Text* text : chart.scene.texts())
        if (text->classes == "ceiling-name") all += text->text + "\n";
      for (const auto* roofs : {&chart.roofs.memory, &chart.roofs.compute, &chart.roofs.patterns}) {
        for (const Roof& roof : *roofs) {
          // "HBM read · copy", "BF16 · FP16 tensor": the first word of a pipe, the last of a pattern.
          const bool pattern = roof.to > 0;
          const std::string word =
              pattern ? roof.name.substr(roof.name.rfind(' ') + 1) : roof.name.substr(0, roof.name.find(' '));
          if (!roof.limits) continue;
          EXPECT_THAT(all, testing::HasSubstr(word)) << roof.name << " at " << width;
        }
      }
    }
  }
}

/// A machine that writes faster than it reads: data sheets, and so ridges, are of reading.
TEST(ChartRoofs, TheMainSlopeIsReading) {
  Report report = example::sample_report();
  report.machine.ceilings[1].value = 4.9e12;
  const Roofs roofs = roofs_of(report);
  EXPECT_EQ(roofs.main_memory()->ceiling->name, "hbm.read");
  std::erase_if(report.machine.ceilings, [](const Ceiling& c) { return c.name == "hbm.read"; });
  EXPECT_EQ(roofs_of(report).main_memory()->ceiling->name, "hbm.write");
}

TEST(ChartRoofs, RidgesAreOfThePipesThatLimit) {
  Report report = example::sample_report();
  EXPECT_EQ(ridge_label(roofs_of(report)), "ridge: fp32 14, tf32 90, fp16 168, bf16 171 FLOP/byte");
  EXPECT_EQ(ridge_range(roofs_of(report)), "ridges 14–171 FLOP/byte");
  const auto keep = [&](auto wanted) {
    Report some = report;
    std::erase_if(some.points, [&](const Point& p) { return !wanted(p); });
    return ridge_label(roofs_of(some));
  };
  // INT8 stands there in the machine and limits nothing.
  report.machine.ceilings.push_back(example::compute(Pipe::tensor_int8, 1.92e15));
  EXPECT_EQ(keep([](const Point& p) { return p.workload.op == "gemm" && p.workload.dtype == DType::bf16; }),
            "ridge: bf16 171 FLOP/byte");
  // Memory limits all: the ridge of what they run on.
  EXPECT_EQ(keep([](const Point& p) { return p.workload.op == "relu"; }), "ridge: fp32 14 FLOP/byte");
  report.machine.ceilings.clear();
  EXPECT_EQ(keep([](const Point&) { return true; }), "");
}

TEST(ChartRoofs, RidgesOfOneValueStandTogether) {
  Report report = example::sample_report();
  report.machine.ceilings.push_back(example::compute(Pipe::tensor_fp64, 66.2e12));
  report.points.push_back(example::gemm(report.machine, "cublas", DType::fp64, 4096, 60e12));
  std::erase_if(report.points, [](const Point& p) {
    return p.workload.op != "gemm" || (p.workload.dtype != DType::fp64 && p.workload.dtype != DType::fp32);
  });
  EXPECT_THAT(ridge_label(roofs_of(report)), testing::HasSubstr("fp32 · fp64 14"));
}

/// The line of copying is drawn where points hang on it, and nowhere else.
TEST(ChartRoofs, PatternsAreDrawnWherePointsHangOnThem) {
  Report report = example::sample_report();
  const Roofs roofs = roofs_of(report);
  ASSERT_EQ(roofs.patterns.size(), 1u);
  EXPECT_EQ(roofs.patterns[0].ceiling->name, "hbm.copy");
  EXPECT_NEAR(roofs.patterns[0].from, 0.125, 1e-9);  // relu fp32
  EXPECT_NEAR(roofs.patterns[0].to, 2.5, 1e-9);      // layernorm fp16
  const Chart chart = lay_out_chart(report, {});
  const RoofSpan span = roof_span(chart, chart.roofs, chart.roofs.patterns[0], 4.255e12);
  EXPECT_GT(chart.x.value(span.a.x), 0.05);
  EXPECT_LT(chart.x.value(span.a.x), 0.125);
  EXPECT_GT(chart.x.value(span.b.x), 2.5);
  EXPECT_LT(chart.x.value(span.b.x), 10);
  EXPECT_NEAR(chart.y.value(span.b.y) / (4.255e12 * chart.x.value(span.b.x)), 1, 1e-9);
  std::erase_if(report.points, [](const Point& p) { return p.bound.limiting_ceiling == "hbm.copy"; });
  EXPECT_TRUE(roofs_of(report).patterns.empty());
  // Too near to be told apart: it stays with its level.
  report = example::sample_report();
  report.machine.ceilings[2].value = 4.65e12;
  EXPECT_TRUE(roofs_of(report).patterns.empty());
}

TEST(ChartRoofs, TheRegionsAreWritten) {
  const Report report = example::sample_report();
  const Chart chart = lay_out_chart(report, {});
  std::map<std::string, Vec> words;
  for (const Text* text : chart.scene.texts())
    if (text->classes == "region") words[text->text] = text->box().bounds().center();
  ASSERT_EQ(words.size(), 2u);
  EXPECT_LT(chart.x.value(words.at("memory-bound").x), 65.0 / 4.671);
  EXPECT_GT(chart.x.value(words.at("compute-bound").x), 798 / 4.671);
}

TEST(ChartRoofs, EveryRoofKeepsItsTitle) {
  const std::string svg = render_svg(crowded_report());
  for (const char* title : {"L1 read: 33.1 TB/s", "Shared memory read: 33.1 TB/s", "FP16 tensor: 786 TFLOP/s",
                            "BF16 tensor: 798 TFLOP/s", "FP8 tensor: 1.78 PFLOP/s", "INT8 tensor: 1.92 POP/s"})
    EXPECT_THAT(svg, testing::HasSubstr(std::string("<title>") + title));
}

TEST(ChartRoofs, AllSizesHaveAPlot) {
  for (const auto& [width, height] : {std::pair{320, 240}, {640, 360}, {1080, 1920}, {3840, 2160}}) {
    for (const Report& report : {crowded_report(), example::random_report(60)}) {
      const Chart chart = lay_out_chart(report, {.width = width, .height = height});
      EXPECT_GE(chart.plot.width, 0.45 * width) << width;
      EXPECT_GE(chart.plot.height, 0.3 * height) << height;
      const Rect page = {0, 0, chart.scene.width, chart.scene.height};
      for (const Text* text : chart.scene.texts())
        EXPECT_TRUE(page.contains(text->box().bounds())) << text->text << " leaves " << width << " x " << height;
    }
  }
}

TEST(Unmeasured, OneReasonIsOneEntry) {
  const std::vector<Unmeasured> found =
      by_reason({{"nvlink.read", "only one GPU"}, {"fp8", "this GPU has none"}, {"nccl.broadcast", "only one GPU"}});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "nvlink.read, nccl.broadcast");
  EXPECT_EQ(found[0].reason, "only one GPU");
  EXPECT_EQ(found[1].name, "fp8");
}

}  // namespace
}  // namespace roofline
