// Bytes of which a file has the sum alone: their directions are not known, and not made up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "import/roofs.hpp"
#include "model/counters.hpp"
#include "report/json/json.hpp"
#include "report/memory_flow.hpp"
#include "tests/support/import_files.hpp"

namespace roofline {
namespace {

using testing::Not;

/// A launch with operations of 0 and these metrics of DRAM, in bytes.
Report ncu_with_bytes(const std::vector<std::pair<std::string, int>>& metrics) {
  const std::string op = "smsp__sass_thread_inst_executed_op_";
  std::string names = "ID,Kernel Name,gpu__time_duration.sum,sm__inst_executed_pipe_tensor.sum," + op +
                      "fadd_pred_on.sum," + op + "fmul_pred_on.sum," + op + "ffma_pred_on.sum";
  std::string units = ",,ns,inst,inst,inst,inst", values = "0,k,100000,0,1000,1000,1000";
  for (const auto& [name, bytes] : metrics) {
    names += "," + name;
    units += ",byte";
    values += fmt::format(",{}", bytes);
  }
  const TemporaryFile file("a.csv", names + "\n" + units + "\n" + values + "\n");
  return report_of_file(file.path(), data_sheet_machine({.name = "NVIDIA A100-SXM4-80GB"}));
}

const Traffic& main_traffic(const Report& report) { return report.points.at(0).work.bytes.at(Level::hbm); }

TEST(UnsplitBytes, OfNcuAreNoReads) {
  const Report sum = ncu_with_bytes({{"dram__bytes.sum", 64000}});
  EXPECT_TRUE(main_traffic(sum).unsplit);
  EXPECT_EQ(main_traffic(sum).total(), 64000);
  EXPECT_FALSE(sum.points[0].counters->find("dram.read_bytes"));
  EXPECT_EQ(sum.points[0].profiled->not_counted, "");
  EXPECT_TRUE(std::isfinite(sum.points[0].bound.arithmetic_intensity));
  for (const MemoryFlow& flow : memory_flows(sum.points[0], sum.machine)) EXPECT_FALSE(std::isfinite(flow.write));
}

TEST(UnsplitBytes, OnePartAndTheSumGiveTheOther) {
  for (const char* part : {"dram__bytes_read.sum", "dram__bytes_write.sum"}) {
    const Report report = ncu_with_bytes({{"dram__bytes.sum", 64000}, {part, 48000}});
    const Traffic& traffic = main_traffic(report);
    EXPECT_FALSE(traffic.unsplit) << part;
    EXPECT_EQ(std::max(traffic.read, traffic.write), 48000) << part;
    EXPECT_EQ(traffic.total(), 64000) << part;
  }
}

TEST(UnsplitBytes, AreWrittenAndReadAsSuch) {
  const Report report = ncu_with_bytes({{"dram__bytes.sum", 64000}});
  const nlohmann::ordered_json json = report_to_json(report);
  EXPECT_EQ(json["results"][0]["work"]["traffic"]["hbm"], (nlohmann::ordered_json{{"unsplit", 64000.0}}));
  const Report back = parse_report(json.dump(), "report.json");
  EXPECT_TRUE(main_traffic(back).unsplit);
  EXPECT_EQ(main_traffic(back).total(), 64000);
  const Report split = ncu_with_bytes({{"dram__bytes_read.sum", 48000}, {"dram__bytes_write.sum", 16000}});
  const nlohmann::ordered_json traffic = report_to_json(split)["results"][0]["work"]["traffic"]["hbm"];
  EXPECT_EQ(traffic, (nlohmann::ordered_json{{"read", 48000.0}, {"write", 16000.0}}));
}

/// A state of 1 ms whose author named so many reads and writes of 8 MB.
std::string nvbench_state(const std::string& kind, const std::vector<std::pair<std::string, std::string>>& named) {
  const auto summary = [](const std::string& tag, const std::string& value) {
    return R"({"tag": ")" + tag + R"(", "data": [{"name": "value", "type": "float64", "value": ")" + value + R"("}]})";
  };
  std::string summaries = summary("nv/" + kind + "/time/gpu/mean", "0.001");
  if (kind == "cold") summaries += "," + summary("nv/cold/bw/global/bytes_per_second", "8000000000");
  for (const auto& [tag, bytes] : named) summaries += "," + summary(tag, bytes);
  return R"({"meta": {"version": {"nvbench": {}}}, "devices": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB"}],
             "benchmarks": [{"name": "copy", "states": [{"name": "a", "device": 0, "is_skipped": false,
             "summaries": [)" +
         summaries + "]}]}]}";
}

Report nvbench_report(const std::string& kind, const std::vector<std::pair<std::string, std::string>>& named) {
  const TemporaryFile file("a.json", nvbench_state(kind, named));
  return report_of_file(file.path(), data_sheet_machine({.name = "NVIDIA A100-SXM4-80GB"}));
}

TEST(UnsplitBytes, OfNvbenchAreSplitWhereAllAreNamed) {
  const Report both = nvbench_report(
      "cold", {{"nv/gmem/reads/In", "6000000"}, {"nv/gmem/writes/Out", "1500000"}, {"nv/gmem/writes/Flags", "500000"}});
  EXPECT_FALSE(main_traffic(both).unsplit);
  EXPECT_EQ(main_traffic(both).read, 6e6);
  EXPECT_EQ(main_traffic(both).write, 2e6);
  const Report one = nvbench_report("cold", {{"nv/gmem/reads/In", "6000000"}});
  EXPECT_TRUE(main_traffic(one).unsplit) << "2 MB are not named";
  EXPECT_NEAR(main_traffic(one).total(), 8e6, 1);
  EXPECT_THAT(one.points[0].profiled->sources, Not(testing::StrEq(both.points[0].profiled->sources)));
}

TEST(NvbenchCaches, AreColdBeforeColdTimes) {
  EXPECT_EQ(nvbench_report("cold", {}).points.at(0).workload.cache, CacheMode::cold);
  EXPECT_EQ(nvbench_report("batch", {}).points.at(0).workload.cache, CacheMode::hot);
}

}  // namespace
}  // namespace roofline
