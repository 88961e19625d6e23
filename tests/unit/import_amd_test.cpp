// rocprofv3 as JSON and CSV of counters, and folders of rocprof-compute.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/rocm_counters.hpp"
#include "tests/support/import_files.hpp"

namespace roofline {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

/// Two dispatches of one kernel and a copy; `counted`: records of counter collection, `counters`: their names.
std::string rocprof_json_file(std::string_view counters, std::string_view counted, std::string_view kernel_id = "7") {
  return fmt::format(R"x({{"rocprofiler-sdk-tool": [{{
    "metadata": {{"pid": 9, "init_time": 1, "fini_time": 2}},
    "agents": [
      {{"id": {{"handle": 100}}, "type": 1, "name": "AMD EPYC", "product_name": "AMD EPYC"}},
      {{"id": {{"handle": 102}}, "type": 2, "name": "gfx942", "product_name": "AMD Instinct MI300X", "cu_count": 304}}],
    "counters": [{}],
    "kernel_symbols": [{{"kernel_id": 7, "kernel_name": "_Z4axpyPfS_.kd", "formatted_kernel_name": "axpy(float*, float*)"}}],
    "callback_records": {{"counter_collection": [{}]}},
    "buffer_records": {{
      "kernel_dispatch": [
        {{"correlation_id": {{"internal": 1}}, "start_timestamp": 1000, "end_timestamp": 4000, "dispatch_info": {{
          "agent_id": {{"handle": 102}}, "queue_id": {{"handle": 3}}, "kernel_id": {}, "dispatch_id": 1,
          "group_segment_size": 64, "workgroup_size": {{"x": 256, "y": 1, "z": 1}},
          "grid_size": {{"x": 1000, "y": 2, "z": 1}}}}}},
        {{"correlation_id": {{"internal": 2}}, "start_timestamp": 5000, "end_timestamp": 10000, "dispatch_info": {{
          "agent_id": {{"handle": 102}}, "queue_id": {{"handle": 3}}, "kernel_id": 7, "dispatch_id": 2,
          "group_segment_size": 64, "workgroup_size": {{"x": 256, "y": 1, "z": 1}},
          "grid_size": {{"x": 1000, "y": 2, "z": 1}}}}}}],
      "memory_copy": [{{"start_timestamp": 100, "end_timestamp": 300, "bytes": 4096,
        "src_agent_id": {{"handle": 100}}, "dst_agent_id": {{"handle": 102}}}}]}}}}]}})x",
                     counters, counted, kernel_id);
}

constexpr std::string_view kCounterNames =
    R"({"id":{"handle":1},"name":"FETCH_SIZE"},{"id":{"handle":2},"name":"WRITE_SIZE"},
       {"id":{"handle":3},"name":"SQ_INSTS_VALU_MFMA_MOPS_F16"})";

std::string counted_dispatch(int dispatch, std::string_view values) {
  return fmt::format(R"({{"dispatch_data": {{"start_timestamp": 1000, "end_timestamp": 4000, "dispatch_info": {{
      "agent_id": {{"handle": 102}}, "kernel_id": 7, "dispatch_id": {}, "workgroup_size": {{"x": 256, "y": 1, "z": 1}},
      "grid_size": {{"x": 1000, "y": 2, "z": 1}}, "group_segment_size": 64}}}}, "records": [{}]}})",
                     dispatch, values);
}

std::string value_record(int counter, double value) {
  return fmt::format(R"({{"counter_id":{{"handle":{}}},"value":{}}})", counter, value);
}

TEST(RocprofJson, KernelsAndCopiesAreNamedByTheirIds) {
  const ImportedProfile profile = import_text("results.json", rocprof_json_file("", ""));
  ASSERT_EQ(profile.trace.kernels.size(), 2U);
  const spool::Kernel& kernel = profile.trace.kernels[0];
  EXPECT_EQ(kernel.end - kernel.start, 3000U);
  EXPECT_EQ(kernel.stream, 3U);
  EXPECT_EQ(kernel.static_shared, 64U);
  const spool::Kind& kind = profile.trace.kind(kernel.kind);
  EXPECT_EQ(profile.trace.text(kind.name), "_Z4axpyPfS_");
  EXPECT_EQ(kind.grid[0], 4U) << "a grid is in work-items";
  EXPECT_EQ(kind.grid[1], 2U);
  ASSERT_EQ(profile.devices.size(), 1U) << "a CPU is no device of the report";
  EXPECT_EQ(profile.devices[0].name, "AMD Instinct MI300X");
  ASSERT_EQ(profile.trace.copies.size(), 1U);
  EXPECT_EQ(profile.trace.copies[0].bytes, 4096U);
  EXPECT_EQ(profile.trace.copies[0].to, spool::Memory::device);
  EXPECT_TRUE(profile.trace.models.empty());
}

TEST(RocprofJson, CountersGiveWorkAndInstancesAreSummed) {
  const std::string values =
      fmt::format("{},{},{},{}", value_record(1, 2), value_record(2, 1), value_record(3, 10), value_record(3, 30));
  const ImportedProfile profile =
      import_text("results.json", rocprof_json_file(kCounterNames, counted_dispatch(1, values)));
  EXPECT_EQ(profile.trace.kernels.size(), 2U) << "a counted dispatch is in the kernel trace, too";
  ASSERT_EQ(profile.trace.models.size(), 1U);
  const ProcessTrace::Model& model = profile.trace.models.begin()->second;
  EXPECT_EQ(model.source, WorkSource::counted);
  EXPECT_EQ(model.work.flops.at(Pipe::tensor_fp16), 40 * 512.0);
  EXPECT_EQ(model.work.bytes.at(Level::hbm).read, 2048.0);
  EXPECT_EQ(model.work.bytes.at(Level::hbm).write, 1024.0);
}

TEST(RocprofJson, WithoutAKernelTraceCountedDispatchesAreTheKernels) {
  const ImportedProfile profile =
      import_text("results.json", rocprof_json_file(kCounterNames, counted_dispatch(3, value_record(3, 1))));
  EXPECT_EQ(profile.trace.kernels.size(), 3U);
}

TEST(RocprofJson, UnknownIdsAreRefused) {
  EXPECT_THAT(refusal_of("results.json", rocprof_json_file("", "", "8")), HasSubstr("byte"));
  EXPECT_THAT(refusal_of("results.json", rocprof_json_file("", counted_dispatch(1, value_record(5, 1)))),
              HasSubstr("byte"));
  EXPECT_THAT(refusal_of("results.json", R"({"rocprofiler-sdk-tool": []})"), HasSubstr("no kernel"));
}

TEST(RocmCounters, BytesOfRequestsFollowTheChip) {
  const RocmMeans mi200 = {
      {"TCC_EA_RDREQ_sum", 10}, {"TCC_EA_RDREQ_32B_sum", 4}, {"TCC_EA_WRREQ_sum", 5}, {"TCC_EA_WRREQ_64B_sum", 2}};
  const RocmWork old = rocm_work(mi200, "gfx90a");
  EXPECT_TRUE(old.has_bytes);
  EXPECT_FALSE(old.has_flops);
  EXPECT_EQ(old.work.bytes.at(Level::hbm).read, 4 * 32 + 6 * 64.0);
  EXPECT_EQ(old.work.bytes.at(Level::hbm).write, 2 * 64 + 3 * 32.0);

  RocmMeans mi300 = {
      {"TCC_EA0_RDREQ_sum", 10}, {"TCC_EA0_RDREQ_32B_sum", 2}, {"TCC_EA0_WRREQ_sum", 5}, {"TCC_EA0_WRREQ_64B_sum", 5}};
  EXPECT_FALSE(rocm_work(mi300, "gfx942").has_bytes) << "without TCC_BUBBLE, 128-byte requests are not known";
  mi300["TCC_BUBBLE_sum"] = 3;
  EXPECT_EQ(rocm_work(mi300, "gfx942").work.bytes.at(Level::hbm).read, 3 * 128 + 5 * 64 + 2 * 32.0);
}

TEST(RocmCounters, PartsOfMoreThanTheWholeAreNoWork) {
  const RocmMeans means = {{"TCC_EA_RDREQ_sum", 10},
                           {"TCC_EA_RDREQ_32B_sum", 4},
                           {"TCC_EA_WRREQ_sum", 0},
                           {"TCC_EA_WRREQ_64B_sum", 9},
                           {"SQ_INSTS_VALU_MFMA_MOPS_F16", 1}};
  EXPECT_FALSE(rocm_work(means, "gfx90a").why_not.empty());
}

TEST(RocmCounters, FlopsNeedAllInstructionsOfAType) {
  RocmMeans means = {{"SQ_INSTS_VALU_ADD_F32", 1}, {"SQ_INSTS_VALU_MUL_F32", 2}, {"SQ_INSTS_VALU_FMA_F32", 3}};
  EXPECT_FALSE(rocm_work(means, "gfx90a").has_flops);
  means["SQ_INSTS_VALU_TRANS_F32"] = 4;
  EXPECT_EQ(rocm_work(means, "gfx90a").work.flops.at(Pipe::fp32), 64 * (1 + 2 + 2 * 3 + 4.0));
  EXPECT_FALSE(rocm_work(means, "gfx1100").has_flops) << "RDNA's instructions have 32 or 64 lanes";
  means["SQ_INSTS_VALU_MFMA_MOPS_F6F4"] = 1;
  EXPECT_FALSE(rocm_work(means, "gfx950").why_not.empty());
}

TEST(RocprofCounters, LinesOfADispatchAreOneLaunch) {
  const ImportedProfile profile = import_text(
      "counter_collection.csv",
      "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Grid_Size\",\"Kernel_Name\",\"Workgroup_Size\","
      "\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n"
      "1,1,4,1,1024,\"axpy(float*)\",256,\"FETCH_SIZE\",4,1000,3000\n"
      "1,1,4,1,1024,\"axpy(float*)\",256,\"WRITE_SIZE\",2,1000,3000\n"
      "2,2,4,1,1024,\"axpy(float*)\",256,\"FETCH_SIZE\",8,4000,5000\n"
      "2,2,4,1,1024,\"axpy(float*)\",256,\"WRITE_SIZE\",2,4000,5000\n");
  ASSERT_EQ(profile.trace.kernels.size(), 2U);
  EXPECT_EQ(profile.trace.kind(profile.trace.kernels[0].kind).grid[0], 4U);
  ASSERT_EQ(profile.trace.models.size(), 1U);
  EXPECT_EQ(profile.trace.models.begin()->second.work.bytes.at(Level::hbm).read, 6 * 1024.0) << "a mean";
}

/// Two runs of two dispatches, for a group of counters each. A run with the same counters is one more.
TEST(RocprofCounters, PassesOverTheSameDispatchesAreJoined) {
  const std::string header =
      "\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Grid_Size\",\"Kernel_Name\",\"Workgroup_Size\","
      "\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n";
  const auto run = [&header](int process, std::string_view counter, int start) {
    std::string text = header;
    for (const int dispatch : {1, 2}) {
      text += fmt::format("{},4,1,{},1024,\"axpy(float*)\",256,\"{}\",{},{},{}\n", dispatch, process, counter,
                          4 * dispatch, start + 1000 * dispatch, start + 1000 * dispatch + 500);
    }
    return text;
  };
  const ImportedProfile joined = import_text("passes.csv", run(7, "FETCH_SIZE", 0) + run(8, "WRITE_SIZE", 10000));
  ASSERT_EQ(joined.trace.kernels.size(), 2U);
  EXPECT_EQ(joined.trace.kernels[1].end - joined.trace.kernels[0].start, 1500U) << "of the first pass";
  ASSERT_EQ(joined.trace.models.size(), 1U);
  const Traffic& bytes = joined.trace.models.begin()->second.work.bytes.at(Level::hbm);
  EXPECT_EQ(bytes.read, 6 * 1024.0);
  EXPECT_EQ(bytes.write, 6 * 1024.0);

  const ImportedProfile repeated = import_text("repeated.csv", run(7, "FETCH_SIZE", 0) + run(8, "FETCH_SIZE", 10000));
  EXPECT_EQ(repeated.trace.kernels.size(), 4U);
}

/// A folder that is gone with it.
class ComputeFolder {
 public:
  explicit ComputeFolder(std::string_view times = "1000,3000")
      : counters_("pmc_perf.csv",
                  fmt::format("Dispatch_ID,Kernel_Name,GPU_ID,Grid_Size,Workgroup_Size,SQ_INSTS_VALU_MFMA_MOPS_BF16,"
                              "TCC_EA_RDREQ_sum,TCC_EA_RDREQ_32B_sum,TCC_EA_WRREQ_sum,TCC_EA_WRREQ_64B_sum,"
                              "Start_Timestamp,End_Timestamp\n"
                              "0,\"gemm(float*) [clone .kd]\",2,1024,256,1000,100,0,50,50,{}\n",
                              times)) {
    std::ofstream(file("sysinfo.csv"))
        << "workload_name,gpu_model,gpu_arch,cu_per_gpu,gpu_l2\nw,MI200,gfx90a,104,8192\n";
    std::ofstream(file("roofline.csv")) << "device,HBMBw,HBMBwLow,hbmBwHigh,L2Bw,FP32Flops,MFMABF16Flops\n"
                                           "0,1388.5,1388,1389,5016,20942,170488\n";
  }
  fs::path file(std::string_view name) const { return counters_.path().parent_path() / name; }
  fs::path folder() const { return counters_.path().parent_path(); }

 private:
  TemporaryFile counters_;
};

TEST(RocprofCompute, AFolderHasRowsAndItsOwnRoofs) {
  const ComputeFolder folder;
  for (const fs::path& given :
       {folder.folder(), folder.file("pmc_perf.csv"), folder.file("sysinfo.csv"), folder.file("roofline.csv")}) {
    const ImportedProfile profile = read_profile_file(given);
    ASSERT_EQ(profile.trace.kernels.size(), 1U) << given;
    EXPECT_EQ(profile.trace.kernels[0].end - profile.trace.kernels[0].start, 2000U);
    EXPECT_EQ(profile.trace.text(profile.trace.kind(profile.trace.kernels[0].kind).name), "gemm(float*)");
    ASSERT_EQ(profile.trace.models.size(), 1U);
    const Work& work = profile.trace.models.begin()->second.work;
    EXPECT_EQ(work.flops.at(Pipe::tensor_bf16), 512'000.0);
    EXPECT_EQ(work.bytes.at(Level::hbm).total(), 150 * 64.0);
    EXPECT_EQ(profile.devices.at(0).name, "AMD MI200");
    ASSERT_TRUE(profile.roofs);
    EXPECT_EQ(profile.roofs->find("hbm.copy")->value, 1388.5e9);
    EXPECT_EQ(profile.roofs->find("hbm.copy")->ci95.low, 1388e9);
    EXPECT_EQ(profile.roofs->compute(Pipe::tensor_bf16)->value, 170488e9);
  }
}

TEST(RocprofCompute, ARowStandsUnderTheRoofsOfItsFolder) {
  const ComputeFolder folder;
  const ImportedProfile profile = read_profile_file(folder.folder());
  std::vector<std::string> joined;
  const Report report = report_of_imports({profile}, {.machine = *profile.roofs}, {}, joined);
  ASSERT_EQ(report.points.size(), 1U);
  EXPECT_EQ(report.points[0].bound.limiting_ceiling, "hbm.copy");
  EXPECT_NEAR(report.points[0].fraction_of_roof(), 9600 / 2e-6 / 1388.5e9, 1e-9);
}

TEST(RocprofCompute, TimesOfASpreadsheetAreNone) {
  const ComputeFolder folder("8.1097E+14,8.1098E+14");
  const ImportedProfile profile = read_profile_file(folder.folder());
  EXPECT_EQ(profile.time_defects.without_time.count, 1);
  EXPECT_EQ(profile.trace.kernels.at(0).end, 0U);
  EXPECT_EQ(read_profile_file(ComputeFolder("1000.0,3000.0").folder()).time_defects.without_time.count, 0);
}

TEST(RocprofCompute, AFolderWithoutItsFilesIsRefused) {
  const TemporaryFile other("notes.txt", "x");
  EXPECT_THROW(read_profile_file(other.path().parent_path()), UsageError);
  EXPECT_THAT(refusal_of("pmc_perf.csv", "Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp\n0,k,1\n"),
              HasSubstr("line 2"));
  EXPECT_THAT(refusal_of("roofline.csv", "device,HBMBw,L2Bw\n0,0,0\n"), HasSubstr("line 2"));
}

TEST(RocprofCompute, RoofsAloneAreAReport) {
  const ImportedProfile profile = import_text("roofline.csv", "device,HBMBw,L2Bw,FP32Flops\n0,1388,5016,20942\n");
  std::vector<std::string> joined;
  const Report report = report_of_imports({profile}, {.machine = *profile.roofs}, {}, joined);
  EXPECT_TRUE(report.points.empty());
  EXPECT_EQ(report.machine.ceilings.size(), 3U);
}

/// Times of a dispatch may be those of the one before; only its number tells that it is another one.
TEST(Rocprof, DispatchesWithTheSameTimesAreLaunches) {
  const std::string header =
      "\"Index\",\"KernelName\",\"gpu-id\",\"queue-id\",\"queue-index\",\"pid\",\"tid\",\"grd\",\"wgr\",\"DispatchNs\","
      "\"BeginNs\",\"EndNs\",\"CompleteNs\",\"DurationNs\"\n";
  const auto dispatch = [](int index) {
    return fmt::format("{},\"solve.kd\",0,0,{},9,9,1024,256,1000,5000,9000,9500,4000\n", index, index);
  };
  const ImportedProfile two = import_text("results.csv", header + dispatch(0) + dispatch(1));
  ASSERT_EQ(two.trace.kernels.size(), 2U);
  EXPECT_EQ(two.time_defects.repeated.count, 0);
  EXPECT_EQ(two.trace.kernels[0].end - two.trace.kernels[0].start, 2000U) << "they share the time";
  const ImportedProfile one = import_text("results.csv", header + dispatch(0) + dispatch(0));
  EXPECT_EQ(one.trace.kernels.size(), 1U) << "a line that is there twice";
}

TEST(RocprofTrace, KernelsAndCopiesAreThoseOfTheirTracks) {
  const auto event = [](int track, std::string_view name, std::string_view times) {
    return fmt::format(R"(,{{"ph":"X","name":"{}","pid":"{}","tid":"1","ts":"5","dur":"2","args":{{{},"dev-id":"4",
                       "stream-id":"1"}}}})",
                       name, track, times);
  };
  const std::string text =
      R"({"traceEvents":[{},{"args":{"name":"CPU HIP API"},"ph":"M","pid":2,"name":"process_name"},
      {"args":{"name":"COPY"},"ph":"M","pid":1,"name":"process_name"},
      {"args":{"name":"GPU4"},"ph":"M","pid":10,"name":"process_name"})" +
      event(10, "add(float*)", R"("BeginNs":"5000","EndNs":"7431")") +
      event(10, "_Z4axpyPfS_.kd", R"("BeginNs":"8000","EndNs":"9000")") +
      event(1, "CopyHostToDevice", R"("BeginNs":"1000","EndNs":"3000")") +
      event(2, "hipMalloc", R"("BeginNs":"100","EndNs":"9900")") +
      R"(],"otherData":{"Agent1.Node":"4","Agent1.DeviceType":"CPU","Agent5.Node":"4","Agent5.DeviceType":"GPU",
      "Agent5.Name":"gfx942","Agent5.MarketingName":"AMDInstinctMI300A","Agent5.ComputeUnit":"228"}})";
  const ImportedProfile profile = import_text("results.json", text);
  ASSERT_EQ(profile.trace.kernels.size(), 2U);
  EXPECT_EQ(profile.trace.kernels[0].end - profile.trace.kernels[0].start, 2431U) << "not whole microseconds";
  EXPECT_EQ(profile.trace.text(profile.trace.kind(profile.trace.kernels[1].kind).name), "_Z4axpyPfS_");
  ASSERT_EQ(profile.trace.copies.size(), 1U);
  EXPECT_EQ(profile.trace.copies[0].to, spool::Memory::device);
  EXPECT_EQ(profile.time_defects.without_size.count, 1);
  EXPECT_EQ(profile.devices.at(0).name, "AMD Instinct MI300A");
  EXPECT_EQ(profile.devices.at(0).index, 4U);
  EXPECT_EQ(profile.devices.at(0).sms, 228U);
}

}  // namespace
}  // namespace roofline
