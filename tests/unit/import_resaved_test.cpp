// Tables as people have them: in UTF-16, with semicolons and decimal commas, several in one file, and of old versions.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>

#include "import/roofs.hpp"
#include "report/diagnosis/diagnosis.hpp"
#include "report/gpu_units.hpp"
#include "tests/support/import_files.hpp"

namespace roofline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// As PowerShell's redirection writes it; the text is ASCII.
std::string as_utf16(std::string_view text, bool big) {
  std::string bytes = big ? "\xfe\xff" : "\xff\xfe";
  for (const char character : text) bytes += big ? std::string{'\0', character} : std::string{character, '\0'};
  return bytes;
}

double kernel_ns(const ImportedProfile& profile) {
  double sum = 0;
  for (const spool::Kernel& kernel : profile.trace.kernels) sum += static_cast<double>(kernel.end - kernel.start);
  return sum;
}

constexpr std::string_view kResavedSums =
    "Time (%),Total Time (ns),Instances,Avg (ns),Name\n"
    "60.0,3000,3,1000.0,\"void gemm<float, 4>(float *, int)\"\n"
    "40.0,2000,1,2000.0,scale\n";
constexpr std::string_view kBenchmark =
    R"({"context":{"library_build_type":"release"},"benchmarks":[{"name":"BM_a","run_name":"BM_a","run_type":"iteration",
       "real_time":5,"cpu_time":5,"time_unit":"us"}]})";

TEST(Resaved, Utf16IsReadInEveryFormatOfText) {
  for (const bool big : {false, true}) {
    EXPECT_EQ(kernel_ns(import_text("sums.csv", as_utf16(kResavedSums, big))), 5000);
    EXPECT_EQ(kernel_ns(import_text("b.json", as_utf16(kBenchmark, big))), 5000);
  }
  EXPECT_EQ(kernel_ns(import_text("sums.csv", "\xef\xbb\xbf" + std::string(kResavedSums))), 5000);
}

TEST(Resaved, DecimalCommasAreToldByTheWholeTable) {
  const auto table = [](std::string_view unit, std::string_view share, std::string_view total) {
    return fmt::format("Time (%);Total Time ({});Instances;Avg (ns);Name\n{};{};2;0;\"gemm<a, b>\"\n", unit, share,
                       total);
  };
  EXPECT_EQ(kernel_ns(import_text("a.csv", table("ms", "95,0", "1,234"))), 1'234'000);
  EXPECT_EQ(kernel_ns(import_text("a.csv", table("ms", "95,0", "1.234"))), 1'234'000'000) << "thousands of ms";
  EXPECT_EQ(kernel_ns(import_text("a.csv", table("ms", "95.0", "1.234"))), 1'234'000);
  EXPECT_EQ(kernel_ns(import_text("a.csv", table("ns", "95.0", "1,234"))), 1234) << "thousands of ns";
  EXPECT_THAT(refusal_of("a.csv", table("ms", "95", "1.234")), AllOf(HasSubstr("line 2"), HasSubstr("1.234")));
}

TEST(Resaved, TabsSeparateWhatWasCopiedFromASpreadsheet) {
  EXPECT_EQ(kernel_ns(import_text("a.csv", "Time (%)\tTotal Time (ns)\tInstances\tName\n100.0\t3000\t3\tgemm\n")),
            3000);
}

TEST(NsysSums, EventsOfTheHostAreNoKernels) {
  const std::string mpi =
      "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Source,Name\n"
      "90.0,900000,3,300000.0,300000.0,1,2,3,MPI,MPI_Allreduce\n";
  EXPECT_THAT(refusal_of("mpi.csv", mpi), Not(IsEmpty()));
  EXPECT_EQ(kernel_ns(import_text("all.csv", fmt::format("{}\n{}", mpi, kResavedSums))), 5000);
}

constexpr std::string_view kCounterHeader =
    "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Grid_Size\",\"Kernel_Name\","
    "\"Workgroup_Size\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n";

std::string counter_line(int process, int dispatch, std::string_view counter, std::string_view value, int start) {
  return fmt::format("1,{1},4,1,{0},1024,\"axpy(float*)\",256,\"{2}\",{3},{4},{5}\n", process, dispatch, counter, value,
                     start, start + 1000);
}

TEST(Rocprof, DispatchesAreNumberedByProcess) {
  const std::string first = counter_line(11, 1, "FETCH_SIZE", "4", 1000) + counter_line(11, 1, "WRITE_SIZE", "2", 1000);
  const std::string second =
      counter_line(12, 1, "FETCH_SIZE", "4", 1500) + counter_line(12, 1, "WRITE_SIZE", "2", 1500);
  const std::string header(kCounterHeader);
  for (const std::string& text : {header + first + second, header + first + header + second}) {
    const ImportedProfile profile = import_text("counter_collection.csv", text);
    EXPECT_EQ(profile.trace.kernels.size(), 2U);
    EXPECT_EQ(kernel_ns(profile), 2000) << "each process has queues of its own";
    EXPECT_GT(profile.notes.size(), import_text("counter_collection.csv", header + first).notes.size());
  }
}

TEST(Rocprof, ValuesThatAreNoNumbersAreRefused) {
  const std::string header(kCounterHeader);
  EXPECT_THAT(refusal_of("c.csv", header + counter_line(1, 1, "FETCH_SIZE", "\"4,5\"", 0)), HasSubstr("FETCH_SIZE"));
  EXPECT_THAT(refusal_of("c.csv", header + counter_line(1, 1, "FETCH_SIZE", "4.5", 0)), IsEmpty());
  EXPECT_THAT(
      refusal_of("c.csv", "\"Dispatch_Id\",\"Kernel_Name\",\"Counter_Name\",\"Counter_Value\"\n1,k,SQ_WAVES,2\n"),
      HasSubstr("Start_Timestamp"));
}

TEST(Rocprof, TheTableOfVersionOneHasItsCountersAsColumns) {
  const ImportedProfile profile = import_text(
      "results.csv",
      "\"Index\",\"KernelName\",\"gpu-id\",\"queue-id\",\"queue-index\",\"pid\",\"tid\",\"grd\",\"wgr\",\"lds\","
      "\"scr\","
      "\"arch_vgpr\",\"sgpr\",\"FetchSize\",\"WriteSize\",\"DispatchNs\",\"BeginNs\",\"EndNs\",\"CompleteNs\","
      "\"DurationNs\"\n"
      "0,\"axpy(float*, int) [clone .kd]\",1,3,0,937,937,1024,256,512,0,8,128,4,2,900,1000,4000,4100,3000\n"
      "1,\"axpy(float*, int) [clone .kd]\",1,3,2,937,937,1024,256,512,0,8,128,8,2,4900,5000,7000,7100,2000\n");
  ASSERT_EQ(profile.trace.kernels.size(), 2U);
  EXPECT_EQ(kernel_ns(profile), 5000);
  EXPECT_EQ(profile.trace.kernels[0].stream, 3U);
  EXPECT_EQ(profile.trace.kernels[0].static_shared, 512U);
  const spool::Kind& kind = profile.trace.kind(profile.trace.kernels[0].kind);
  EXPECT_EQ(profile.trace.text(kind.name), "axpy(float*, int)");
  EXPECT_EQ(kind.grid[0], 4U);
  ASSERT_EQ(profile.trace.models.size(), 1U);
  EXPECT_EQ(profile.trace.models.begin()->second.work.bytes.at(Level::hbm).read, 6 * 1024.0);
  EXPECT_EQ(profile.trace.models.begin()->second.work.bytes.at(Level::hbm).write, 2 * 1024.0);
}

TEST(RocprofCompute, TimesOfSeveralRunsAreMeansWithDecimals) {
  const std::string header =
      "Dispatch_ID,Kernel_Name,GPU_ID,Grid_Size,Workgroup_Size,SQ_WAVES,Start_Timestamp,End_Timestamp\n";
  std::string rows;
  for (int i = 0; i < 100; ++i)
    rows += fmt::format("{},k,0,256,256,4,1700000000000000{:03}.25,1700000000000000{:03}.5\n", i, i, i + 10);
  const ImportedProfile profile = import_text("pmc_perf.csv", header + rows);
  EXPECT_EQ(profile.time_defects.without_time.count, 0);
  EXPECT_EQ(kernel_ns(profile), 1025) << "100 times 10.25 ns";
  EXPECT_THAT(refusal_of("pmc_perf.csv",
                         "Dispatch_ID,Kernel_Name,TCC_EA_RDREQ_sum,Start_Timestamp,End_Timestamp\n"
                         "0,k,\"12,5\",1000,2000\n"),
              HasSubstr("TCC_EA_RDREQ_sum"));
  EXPECT_THAT(refusal_of("pmc_perf.csv", header + "0,k,0,256,256,4,\"1000,5\",\"2000,5\"\n"), HasSubstr("line 2"));
}

/// A run of likwid-perfctr of version 4, which prints the CPU before its table.
std::string likwid_run(double seconds, double rate) {
  return fmt::format(
      "----\nCPU name:\tIntel(R) Core(TM) i5-7500\nCPU type:\tIntel Coffeelake\nCPU clock:\t3.41 GHz\n----\n"
      "STRUCT,Info,3\nCPU name:,Intel(R) Core(TM) i5-7500,\nCPU type:,Intel Coffeelake,\nCPU clock:,3.41 GHz,\n"
      "TABLE,Region solve,Group 1 Raw,FLOPS_DP,1\nRegion Info,Core 3,\nRDTSC Runtime [s],{0},\ncall count,1,\n"
      "Event,Counter,Core 3\nA,PMC0,1\nTABLE,Region solve,Group 1 Metric,FLOPS_DP,2\nMetric,Core 3,\n"
      "Runtime (RDTSC) [s],{0},\nDP MFLOP/s,{1},\n",
      seconds, rate);
}

TEST(Likwid, RunsInOneFileAreRowsOfTheirOwn) {
  const ImportedProfile one = import_text("solve.log", likwid_run(0.5, 1000));
  EXPECT_EQ(one.trace.kernels.size(), 1U);
  const ImportedProfile two = import_text("solve.log", likwid_run(0.5, 1000) + likwid_run(0.25, 3000));
  ASSERT_EQ(two.trace.kernels.size(), 2U);
  EXPECT_EQ(kernel_ns(two), 750e6);
  ASSERT_EQ(two.trace.models.size(), 2U);
  double flops = 0;
  for (const auto& [kind, model] : two.trace.models) flops += model.work.flops.at(Pipe::fp64);
  EXPECT_NEAR(flops, 1000e6 * 0.5 + 3000e6 * 0.25, 1);
  EXPECT_GT(two.notes.size(), one.notes.size());
}

/// likwid 5.2 prints the time of a region with six decimals and that of its metrics with four, older versions the other
/// way round.
TEST(Likwid, TheTimeWithMoreDigitsCounts) {
  for (const auto& [of_region, of_metrics] : {std::pair("0.001339", "0.0013"), std::pair("0.0013", "1.339000e-03")}) {
    const ImportedProfile profile = import_text(
        "solve.log", fmt::format("STRUCT,Info,1\nCPU name:,Intel(R) Core(TM) i7-7500U,\n"
                                 "TABLE,Region solve,Group 1 Raw,FLOPS_DP,1\nRegion Info,HWThread 1,\n"
                                 "RDTSC Runtime [s],{},\ncall count,1,\nEvent,Counter,HWThread 1\nA,PMC0,1\n"
                                 "TABLE,Region solve,Group 1 Metric,FLOPS_DP,2\nMetric,HWThread 1,\n"
                                 "Runtime (RDTSC) [s],{},\nDP [MFLOP/s],1566.5403,\n",
                                 of_region, of_metrics));
    EXPECT_EQ(kernel_ns(profile), 1'339'000) << of_region;
    ASSERT_EQ(profile.trace.models.size(), 1U);
    EXPECT_NEAR(profile.trace.models.begin()->second.work.flops.at(Pipe::fp64), 2097162, 1e-3 * 2097162);
    for (const std::string& note : profile.notes) EXPECT_THAT(note, testing::Not(HasSubstr("memory volume"))) << note;
  }
}

TEST(Proton, WhatComputesAnAuthorsFiguresIsNotOfTheProgram) {
  const ImportedProfile profile =
      import_text("p.hatchet", R"json([{"frame": {"name": "ROOT"}, "metrics": {}, "children": [
    {"frame": {"name": "__proton_launch_metadata"}, "metrics": {}, "children": [
      {"frame": {"name": "sum"}, "metrics": {"count": 1, "time (ns)": 4064}, "children": []}]},
    {"frame": {"name": "gemm"}, "metrics": {"count": 3, "time (ns)": 1000}, "children": []}]},
    {"HIP": {"0": {"arch": "gfx942", "num_sms": 304, "clock_rate": 2100000, "bus_width": 8192, "memory_clock_rate": 1300000}}}])json");
  EXPECT_EQ(profile.trace.kernels.size(), 3U);
  EXPECT_EQ(kernel_ns(profile), 1000) << "the sum is exact, also where a launch's time is not whole";
  EXPECT_EQ(profile.devices.at(0).chip, "gfx942");
}

TEST(Proton, DifferentGpusHaveRoofsOfTheirOwn) {
  const auto tree = [](std::string_view second) {
    return fmt::format(R"json([{{"frame": {{"name": "ROOT"}}, "metrics": {{}}, "children": [
      {{"frame": {{"name": "a"}}, "metrics": {{"count": 1, "time (ns)": 10, "device_id": "0"}}, "children": []}},
      {{"frame": {{"name": "b"}}, "metrics": {{"count": 1, "time (ns)": 10, "device_id": "1"}}, "children": []}}]}},
      {{"CUDA": {{"0": {{"arch": "90", "num_sms": 132}}, "1": {{"arch": "{}", "num_sms": 132}}}}}}])json",
                       second);
  };
  const ImportedProfile same = import_text("p.hatchet", tree("90")), different = import_text("p.hatchet", tree("89"));
  EXPECT_THAT(same.devices.at(1).name, IsEmpty()) << "which --machine may name";
  EXPECT_EQ(data_sheet_machine(same.devices.at(1)).device.name, "NVIDIA sm_90 GPU with 132 SMs");
  EXPECT_NE(different.devices.at(0).name, different.devices.at(1).name);
  EXPECT_EQ(other_models({different}, different.devices.at(0).name).size(), 1U);
}

TEST(Rocprof, QueuesAreStreamsWhereHipWasNotTraced) {
  const auto overlaps = [](std::string_view first, std::string_view second) {
    const ImportedProfile profile = import_text(
        "kernel_trace.csv", fmt::format("\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Kernel_Name\",\"Start_Timestamp\","
                                        "\"End_Timestamp\"\n4,{},k,1000,9000\n4,{},k,5000,12000\n",
                                        first, second));
    return profile.time_defects.overlapping.count;
  };
  EXPECT_EQ(overlaps("1,0", "2,0"), 0);
  EXPECT_EQ(overlaps("1,0", "1,0"), 1);
  EXPECT_EQ(overlaps("1,3", "2,3"), 1) << "a stream may use several queues";
}

TEST(Rocprof, AnUnnamedGpuIsOneOfAmd) {
  const ImportedProfile profile =
      import_text("kernel_trace.csv",
                  "\"Agent_Id\",\"Queue_Id\",\"Kernel_Name\",\"Start_Timestamp\",\"End_Timestamp\"\n4,1,k,1,9\n");
  EXPECT_THAT(profile.devices.at(0).name, IsEmpty()) << "which --machine may name";
  EXPECT_EQ(gpu_unit_name(gpu_vendor(data_sheet_machine(profile.devices.at(0)).device.name)).many, "compute units");
}

TEST(OtherFiles, OfZerosWereNotCopied) {
  try {
    import_text("step.sqlite", std::string(4096, '\0'));
    ADD_FAILURE();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.hint(), testing::HasSubstr("step.sqlite"));
  }
}

TEST(OtherFiles, NameTheFileToImportOrTheNextStep) {
  const struct {
    const char *name, *text, *next;
  } kFiles[] = {
      {"gbench.csv", "name,iterations,real_time,cpu_time,time_unit,bytes_per_second\n\"BM_Add\",10,1.5,1.5,ms,\n",
       "--benchmark_out_format=json"},
      {"dnnl.log", "onednn_verbose,v1,info,oneDNN v3.7.3 (commit N/A)\n", "roofline profile"},
      {"kernel_details.csv", "Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n0,MatMul,,,1,2\n",
       "NVIDIA, AMD and Intel"},
      {"ort.json",
       R"([{"cat": "Session", "pid": 1, "tid": 1, "dur": 1, "ts": 3, "ph": "X", "name": "session_initialization"}])",
       "roofline bound"},
      {"openvino.csv", "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms);\n", "roofline profile"},
      {"hyperfine.json", R"({"results": [{"command": "sleep 1", "mean": 1.0, "stddev": 0.1}]})", "roofline profile"},
      {"jmh.json", R"([{"jmhVersion": "1.37", "benchmark": "a.b"}])", "roofline profile"},
      {"benchmark.json", R"({"machine_info": {"node": "a"}, "commit_info": {}, "benchmarks": []})", "roofline profile"},
      {"a.onnx", "\x08\x06\x12\x07pytorch", "roofline bound"},
      {"stat.txt", "\n Performance counter stats for './a':\n\n 1.0 msec task-clock\n\n 0.1 seconds time elapsed\n",
       "roofline profile"},
      {"script.txt", "# ========\n# captured on: Thu\n# perf version : 6.1\n", "roofline profile"},
      {"osu.log", "# OSU MPI Latency Test v5.8\n# Size  Latency (us)\n0  94.99\n", "roofline calibrate --device all"},
      {"b.md", "./bandwidthTest\n[CUDA Bandwidth Test] - Starting...\n", "roofline calibrate"},
      {"try.001", "  262144  1  3.258  524288  262144\n\nMETA_DATA\nFLOPS          8\nMPI_PROCS      4\n",
       "roofline.json"},
      {"mlperf.txt", "====\nMLPerf Results Summary\n====\n", "roofline profile"},
      {"vtune.csv", "Function,CPU Time,CPU Time:Effective Time,Module\nf,1.0,1.0,a\n", "roofline profile"},
      {"likwid.txt", "CPU name:       AMD EPYC\n| Event | Counter | HWThread 64 |\n", "likwid-perfctr -O"},
      {"a.speedscope.json", R"({"$schema": "https://www.speedscope.app/file-format-schema.json"})",
       "--format speedscope"},
      {"nccl.log", "# nThread 1 nGpus 8 minBytes 8 maxBytes 134217728 step: 2(factor)\n", "--device all"},
      {"stream.txt", "Function    Best Rate MB/s  Avg time\nCopy:  1.0\nTriad:  1.0\n", "roofline calibrate"},
      {"stats.csv", "Processing [a.sqlite]...\nSKIPPED: a.sqlite does not contain CUDA kernel data.\n", "--trace cuda"},
      {"results.stats.csv", "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n\"k\",1,2,2,100\n",
       "kernel_trace.csv"},
      {"results.json", R"({"traceEvents":[{},{"ph":"X","name":"hipFree","args":{"BeginNs":"1"}}]})", "results.csv"},
      {"hip_api_trace.csv", "\"Domain\",\"Function\",\"Process_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n",
       "kernel_trace.csv"},
      {"b.csv", "Benchmark,Device,Device Name,Skipped,Samples\ncopy,0,H100,No,9\n", "--json"},
  };
  for (const auto& file : kFiles) {
    try {
      import_text(file.name, file.text);
      ADD_FAILURE() << file.name;
    } catch (const Error& error) {
      EXPECT_THAT(error.hint(), HasSubstr(file.next)) << file.name;
    }
  }
}

TEST(GpuUnits, AreNamedByTheirVendor) {
  EXPECT_EQ(gpu_unit_name(gpu_vendor("NVIDIA H100 80GB HBM3")).many, "SMs");
  EXPECT_EQ(gpu_unit_name(gpu_vendor("AMD Instinct MI300X")).many, "compute units");
  EXPECT_EQ(gpu_unit_name(gpu_vendor("Intel(R) Data Center GPU Max 1550")).one, "Xe core");
  EXPECT_EQ(gpu_unit_name(gpu_vendor("")).one, "SM");
  const auto finding_on = [](GpuVendor vendor) {
    const Quantities quantities = {{"blocks", 4}, {"sms", 304}, {"gpu.units", static_cast<double>(vendor)}};
    return filled_by_all(find_rule("too-few-blocks", DeviceKind::cuda)->finding, std::span(&quantities, 1))
        .value_or("");
  };
  EXPECT_THAT(finding_on(GpuVendor::amd), HasSubstr("304 compute units"));
  EXPECT_THAT(finding_on(GpuVendor::nvidia), HasSubstr("304 SMs"));
}

/// A kernel of one block that runs most of the time, as a report of its GPU.
Report small_grid_on(std::string_view gpu) {
  std::string events;
  for (int i = 0; i < 200; ++i) {
    events += fmt::format(R"({}{{"ph": "X", "cat": "kernel", "name": "small", "pid": 0, "tid": 7, "ts": {}, "dur": 90,
        "args": {{"device": 0, "stream": 7, "correlation": {}, "grid": [2, 1, 1], "block": [64, 1, 1]}}}})",
                          i == 0 ? "" : ",", 100 * i, i + 1);
  }
  const TemporaryFile file("t.json", fmt::format(R"({{"deviceProperties": [{{"id": 0, "name": "{}", "numSms": 304,
      "computeMajor": 9, "computeMinor": 4}}], "traceEvents": [{}]}})",
                                                 gpu, events));
  Machine machine;
  machine.device.kind = DeviceKind::cuda;
  machine.device.name = gpu;
  return report_of_file(file.path(), machine);
}

TEST(GpuUnits, OfAnAmdGpuAreNoSms) {
  const auto texts_of = [](const Report& report) {
    std::string text;
    for (const Saving& saving : report.profile->savings) text += saving.what + saving.evidence + saving.action;
    return text;
  };
  EXPECT_THAT(texts_of(small_grid_on("NVIDIA H100 80GB HBM3")), HasSubstr("SMs"));
  EXPECT_THAT(texts_of(small_grid_on("AMD Instinct MI300X")), AllOf(HasSubstr("compute units"), Not(HasSubstr("SMs"))));
}

}  // namespace
}  // namespace roofline
