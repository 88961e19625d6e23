// Ops from folders that the project does not know (ROOFLINE_EXTRA_KERNELS): verified, timed and drawn by code that
// never heard of them. And the text of CONTRIBUTING.md, which must be that of the folder that the tests are built with.
#include <gtest/gtest.h>

#include "analyze/analyze.hpp"
#include "config/suite.hpp"
#include "host/files.hpp"
#include "render/render.hpp"
#include "tests/support/repository.hpp"

namespace roofline {
namespace {

/// Every implementation of every op from elsewhere, at the last shape that it finds worth testing.
std::string suite_of_extra_ops() {
  std::string text;
  for (const Op* op : all_ops()) {
    if (in_repository(*op) || implementations_of(*op, DeviceKind::cpu).empty()) continue;
    const Shape shape = op->test_shapes(DeviceKind::cpu).back();
    text += "  - op: " + std::string(op->name()) + "\n    impl: all\n    shape: {";
    for (const auto& [name, extent] : shape.extents()) {
      text += (text.back() == '{' ? "" : ", ") + name + ": " + std::to_string(extent);
    }
    text += "}\n";
  }
  return text.empty() ? text : "name: extra\nworkloads:\n" + text;
}

/// Roofs as a calibration would leave them: some for points to be drawn under.
Machine two_roofs() {
  Machine machine;
  machine.device.kind = DeviceKind::cpu;
  machine.device.name = "two roofs";
  const auto roof = [&](const std::string& name, CeilingKind kind, double value) {
    Ceiling ceiling;
    ceiling.name = name;
    ceiling.kind = kind;
    ceiling.value = value;
    ceiling.ci95 = {value, value};
    machine.ceilings.push_back(ceiling);
    return &machine.ceilings.back();
  };
  Ceiling* memory = roof("dram.copy", CeilingKind::bandwidth, 2e10);
  memory->level = Level::dram;
  memory->pattern = Pattern::copy;
  roof("fp32", CeilingKind::compute, 1e11)->pipe = Pipe::fp32;
  return machine;
}

TEST(ExtraKernels, AreThere) {
  const std::string_view folders(ROOFLINE_EXTRA_KERNELS);
  if (folders.find("tests/out_of_tree/gelu") == std::string_view::npos) {
    GTEST_SKIP() << "built without tests/out_of_tree/gelu";
  }
  ASSERT_NE(find_op("gelu"), nullptr);
  EXPECT_FALSE(in_repository(*find_op("gelu")));
  EXPECT_EQ(implementations_of(*find_op("gelu"), DeviceKind::cpu).size(), 2U);
}

TEST(ExtraKernels, AreAcceptedInSuitesVerifiedTimedAndDrawn) {
  const std::string text = suite_of_extra_ops();
  if (text.empty()) GTEST_SKIP() << "built without extra kernels that run on a CPU";
  AnalyzeOptions options;
  options.sampler = {.warm_up_s = 0.001, .min_time_s = 0.001, .max_time_s = 0.05};
  const Report report = analyze(parse_suite(text, "extra.yaml", DeviceKind::cpu), two_roofs(), options);
  const std::string svg = render_svg(report);
  for (const Point& point : report.points) {
    if (point.status == PointStatus::skipped) continue;  // an implementation that is not for fp32 or this CPU
    EXPECT_EQ(point.status, PointStatus::ok) << point.workload.label << ": " << point.reason;
    EXPECT_TRUE(point.verification && point.verification->passed) << point.workload.label;
    EXPECT_TRUE(point.time && point.time->median > 0) << point.workload.label;
    EXPECT_NE(svg.find(point.workload.op), std::string::npos) << point.workload.label;
  }
}

TEST(ExtraKernels, AreWhatContributingShows) {
  const std::string guide = read_file(ROOFLINE_SOURCE_DIR "/CONTRIBUTING.md");
  for (const std::string file : {"gelu.hpp", "gelu.cpp", "gelu.simd.cpp", "gelu.cu"}) {
    const std::string source = read_file(ROOFLINE_SOURCE_DIR "/tests/out_of_tree/gelu/" + file);
    EXPECT_NE(guide.find("```cpp\n" + source + "```\n"), std::string::npos)
        << "paste tests/out_of_tree/gelu/" << file << " into CONTRIBUTING.md";
  }
}

}  // namespace
}  // namespace roofline
