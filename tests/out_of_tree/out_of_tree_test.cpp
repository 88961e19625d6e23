// An op from a folder that the project does not know: listed, verified and timed by code that never heard
// of it. And the text of CONTRIBUTING.md, which must be that folder's.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "device/cpu/cpu_device.hpp"
#include "op/case.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(OutOfTree, EveryOpIsListedVerifiedAndTimed) {
  CpuDevice device({});
  bool found = false;
  for (const Op* op : all_ops()) {
    if (op->parameters().size() != 1) continue;  // the ops whose shape is a length: axpy must be among them
    found = found || op->name() == "axpy";
    for (const auto& rung : implementations_of(*op, DeviceKind::cpu)) {
      Workload w{.op = std::string(op->name()), .implementation = rung.name, .shape = {}, .label = ""};
      w.shape.set(op->parameters().front().name, 100'003);
      Case instance(*op, rung, w, device);
      const Verification result = instance.verify();
      ASSERT_TRUE(result.passed) << op->name() << ": " << result.failure;
      const Samples samples = sample(instance.bench(), {.settle_s = 0.01, .min_time_s = 0.01, .max_time_s = 0.1});
      EXPECT_GT(samples.summary.median, 0) << op->name();
    }
  }
  EXPECT_TRUE(found);
}

TEST(OutOfTree, ContributingShowsTheVeryFile) {
  const std::string guide = read_file(ROOFLINE_SOURCE_DIR "/CONTRIBUTING.md");
  const std::string source = read_file(ROOFLINE_SOURCE_DIR "/tests/out_of_tree/axpy/axpy.cpp");
  EXPECT_NE(guide.find("```cpp\n" + source + "```\n"), std::string::npos)
      << "paste tests/out_of_tree/axpy/axpy.cpp into CONTRIBUTING.md";
}

}  // namespace
}  // namespace roofline
