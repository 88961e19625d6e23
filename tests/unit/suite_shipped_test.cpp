// The suites and the suite schema that come with roofline, against the ops that are registered.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "config/suite.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

/// The schema that editors complete from: no extent in it may be stale. Ops that it doesn't know are
/// allowed by it, so that a new op stays one folder.
TEST(SuiteSchema, KnowsTheExtentsOfItsOps) {
  std::ifstream file(std::string(ROOFLINE_SOURCE_DIR) + "/docs/schema/suite.schema.json");
  const auto definitions = nlohmann::json::parse(file)["$defs"];
  const auto& ops = definitions["workload"]["properties"]["op"]["anyOf"][0]["enum"];
  EXPECT_GE(ops.size(), 6U);
  for (const std::string op : ops) {
    ASSERT_NE(find_op(op), nullptr) << op;
    std::set<std::string> registered;
    for (const ShapeParameter& parameter : find_op(op)->parameters()) registered.insert(parameter.name);
    std::set<std::string> completed;
    for (const auto& [name, schema] : definitions["shape_" + op]["anyOf"][0]["properties"].items()) {
      completed.insert(name);
    }
    EXPECT_EQ(completed, registered) << op;
  }
}

/// The suites that come with the program: the textbook table in each, on either kind of device.
class ShippedSuite : public testing::TestWithParam<std::tuple<std::string, DeviceKind>> {};

TEST_P(ShippedSuite, HoldsTheTextbookTable) {
  const auto& [name, device] = GetParam();
  const Suite suite = load_suite(std::string(ROOFLINE_SOURCE_DIR) + "/configs/" + name + ".yaml", device);
  EXPECT_EQ(suite.name, name);
  for (const char* op : {"relu", "reduction", "layernorm", "softmax", "attention", "gemm"}) {
    for (const DType dtype : {DType::fp32, DType::fp16}) {
      const bool found = std::any_of(suite.entries.begin(), suite.entries.end(), [&](const SuiteEntry& e) {
        return e.workload.op == op && e.workload.dtype == dtype;
      });
      EXPECT_TRUE(found) << op << " " << to_string(dtype);
    }
  }
  for (const SuiteEntry& entry : suite.entries) {
    const bool fp32 = entry.workload.dtype == DType::fp32;
    if (device == DeviceKind::cpu && fp32) {
      EXPECT_EQ(entry.skip_reason, "") << entry.workload.label;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Configs, ShippedSuite,
                         testing::Combine(testing::Values("ops", "quick"),
                                          testing::Values(DeviceKind::cpu, DeviceKind::cuda)));

}  // namespace
}  // namespace roofline
