// The suites and the suite schema that come with roofline, against the ops that they name.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "config/suite.hpp"
#include "config/suite_schema.hpp"
#include "host/files.hpp"
#include "model/error.hpp"
#include "op/registry.hpp"
#include "tests/support/repository.hpp"

namespace roofline {
namespace {

TEST(SuiteSchema, IsTheOneOfTheOpsInKernels) {
  EXPECT_EQ(suite_schema_text(repository_ops()), read_file(ROOFLINE_SOURCE_DIR "/docs/schema/suite.schema.json"))
      << "renew it with a roofline that has no other ops: roofline ops --schema > docs/schema/suite.schema.json";
}

TEST(SuiteSchema, KnowsWhateverOpsItIsGiven) {
  for (const Op* op : all_ops()) {
    const auto schema = nlohmann::json::parse(suite_schema_text(std::span(&op, 1)));
    const auto& workload = schema["$defs"]["workload"];
    const std::string name(op->name());
    EXPECT_EQ(workload["properties"]["op"]["anyOf"][0]["enum"], nlohmann::json::array({name}));
    EXPECT_EQ(workload["allOf"][0]["then"]["properties"]["shape"]["$ref"], "#/$defs/shape_" + name);
    EXPECT_EQ(schema["$defs"]["extents_" + name]["properties"].size(), op->parameters().size()) << name;
  }
}

TEST(SuiteCorpus, SuitesOfEveryVersionAreRead) {
  for (const DeviceKind device : {DeviceKind::cpu, DeviceKind::cuda}) {
    EXPECT_FALSE(load_suite(ROOFLINE_SOURCE_DIR "/tests/corpus/suite-0.1.0.yaml", device).entries.empty());
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
    if (device == DeviceKind::cpu) {
      EXPECT_EQ(entry.skip_reason, "") << entry.workload.label;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Configs, ShippedSuite,
                         testing::Combine(testing::Values("ops", "quick"),
                                          testing::Values(DeviceKind::cpu, DeviceKind::cuda)));

Suite shipped(const std::string& name, DeviceKind device) {
  return load_suite(std::string(ROOFLINE_SOURCE_DIR) + "/configs/" + name + ".yaml", device);
}

TEST(LadderSuite, HasEveryImplementationOfTheOpsThatItNames) {
  for (const DeviceKind device : {DeviceKind::cpu, DeviceKind::cuda}) {
    std::map<std::string, std::set<std::string>> listed;
    for (const SuiteEntry& entry : shipped("ladder", device).entries) {
      listed[entry.workload.op].insert(entry.workload.implementation);
    }
    EXPECT_GE(listed.size(), 14U);
    for (const auto& [op, implementations] : listed) {
      for (const Implementation& implementation : implementations_of(*find_op(op), device)) {
        // Some libraries have no fp32, fp16 or bf16 of their own.
        const bool common = std::any_of(implementation.dtypes.begin(), implementation.dtypes.end(), [](DType dtype) {
          return dtype == DType::fp32 || dtype == DType::fp16 || dtype == DType::bf16;
        });
        if (common) {
          EXPECT_TRUE(implementations.contains(implementation.name)) << op << ' ' << implementation.name;
        }
      }
    }
  }
}

TEST(SweepSuite, VariesOnlyTheShape) {
  for (const DeviceKind device : {DeviceKind::cpu, DeviceKind::cuda}) {
    std::set<std::tuple<std::string, std::string, DType>> series;
    const Suite suite = shipped("sweep", device);
    for (const SuiteEntry& entry : suite.entries) {
      series.insert({entry.workload.op, entry.workload.implementation, entry.workload.dtype});
    }
    EXPECT_EQ(series.size(), 3U) << "relu, softmax, gemm";
    EXPECT_GE(suite.entries.size(), 4 * series.size());
  }
}

TEST(LlmSuite, HasTheWeightsOfALayer) {
  double prefill = 0, decode = 0;
  for (const SuiteEntry& entry : shipped("llm", DeviceKind::cuda).entries) {
    const Workload& w = entry.workload;
    if (w.op != "gemm") continue;
    const bool many_tokens = w.label.starts_with("prefill ");
    (many_tokens ? prefill : decode) += static_cast<double>(w.shape["n"]) * static_cast<double>(w.shape["k"]);
    EXPECT_EQ(w.shape["m"], many_tokens ? 4096 : 32) << w.label;
  }
  // Llama 3 8B: q and o of 4096 x 4096, k and v of 4096 x 1024, three matrices of 4096 x 14336.
  const double weights = 2.0 * 4096 * 4096 + 2.0 * 4096 * 1024 + 3.0 * 4096 * 14336;
  EXPECT_EQ(prefill, weights);
  EXPECT_EQ(decode, weights);
}

TEST(LlmSuite, HasTheElementwiseStepsOfALayer) {
  std::map<std::string, int> rows;
  for (const SuiteEntry& entry : shipped("llm", DeviceKind::cuda).entries) {
    const Workload& w = entry.workload;
    const bool prefill = w.label.starts_with("prefill ");
    const std::int64_t tokens = prefill ? 4096 : 32;
    const std::map<std::string, Shape> expected = {
        {"add", {{"n", tokens * 4096}}},
        {"swiglu", {{"n", tokens * 14336}}},
        // Of queries and of keys; at decode each sequence has one token.
        {"rope", {{"batch", prefill ? 1 : 32}, {"seq", prefill ? 4096 : 1}, {"heads", 32 + 8}, {"head_dim", 128}}}};
    const auto found = expected.find(w.op);
    if (found == expected.end()) continue;
    EXPECT_EQ(w.shape, found->second) << w.label;
    ++rows[w.op];
  }
  for (const char* op : {"add", "swiglu", "rope"}) EXPECT_EQ(rows[op], 2) << op;
}

TEST(PeersSuite, HasTheShapesThatAreCompared) {
  std::map<std::string, int> rows;
  for (const SuiteEntry& entry : shipped("peers", DeviceKind::cuda).entries) ++rows[entry.workload.op];
  for (const char* op : {"layernorm", "rmsnorm", "softmax"}) EXPECT_EQ(rows[op], 6) << op;
  EXPECT_EQ(rows["attention"], 16);
  EXPECT_GE(rows["gemm"], 13);
  for (const char* op : {"relu", "copy", "reduction", "decode", "conv2d"}) EXPECT_GE(rows[op], 1) << op;

  std::map<std::string, int> on_cpu;
  for (const SuiteEntry& entry : shipped("peers", DeviceKind::cpu).entries) ++on_cpu[entry.workload.op];
  EXPECT_EQ(on_cpu["gemm"], 3);
  for (const char* op : {"attention", "conv2d"}) EXPECT_EQ(on_cpu[op], 2) << op;
  for (const char* op : {"relu", "reduction", "layernorm", "softmax"}) EXPECT_EQ(on_cpu[op], 1) << op;
}

}  // namespace
}  // namespace roofline
