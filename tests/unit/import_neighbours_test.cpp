// Files of benchmarks, other profilers and other vendors: what they have is read, what they lack has a reason, and what
// is not imported is refused with the next step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/support/import_files.hpp"

namespace roofline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// What to do next with a file that is refused; empty where it is read.
std::string hint_of(std::string_view name, std::string_view text) {
  try {
    import_text(name, text);
  } catch (const Error& error) {
    return error.hint();
  }
  return {};
}

Report report_of_text(std::string_view name, std::string_view text) {
  return report_of_file(TemporaryFile(name, text).path());
}

std::string summary(std::string_view tag, std::string_view value) {
  return fmt::format(R"({{"tag":"{}","data":[{{"name":"value","type":"float64","value":{}}}]}})", tag, value);
}

/// An nvbench file with one benchmark.
std::string nvbench_file(std::string_view states) {
  return fmt::format(
      R"({{"meta":{{"version":{{"nvbench":{{"major":0}}}}}},"devices":[{{"id":0,"name":"NVIDIA H100","sm_version":900,
      "number_of_sms":132,"sm_default_clock_rate":1980000000,"global_memory_bus_peak_clock_rate":2619000000,
      "global_memory_bus_width":5120}}],"benchmarks":[{{"name":"copy","states":[{}]}}]}})",
      states);
}

std::string nvbench_state(std::string_view name, const std::string& summaries) {
  return fmt::format(R"({{"name":"Device=0 {}","device":0,"is_skipped":false,"summaries":[{}]}})", name, summaries);
}

TEST(Nvbench, AStateHasItsMeanTimeAndStatedBytes) {
  const std::string cold = summary("nv/cold/time/gpu/mean", "\"1e-5\"");
  const std::string rate = summary("nv/cold/bw/global/bytes_per_second", "2e12");
  const TemporaryFile file(
      "b.json", nvbench_file(nvbench_state("N=2^20", cold + "," + rate) + "," + nvbench_state("N=2^24", cold)));
  const Report report = report_of_file(file.path());
  ASSERT_EQ(report.points.size(), 2U);
  const Point& stated = row_named(report, "N=2^20");
  EXPECT_EQ(stated.profiled->full_name, "copy");
  EXPECT_NEAR(stated.time->median, 1e-5, 1e-9);
  EXPECT_NEAR(stated.work.bytes.at(Level::hbm).total(), 2e7, 1);
  EXPECT_EQ(stated.profiled->work_source, WorkSource::stated);
  EXPECT_EQ(stated.profiled->time_source, TimeSource::averaged);
  const Point& plain = row_named(report, "N=2^24");
  EXPECT_TRUE(plain.work.bytes.empty());
  EXPECT_THAT(plain.profiled->not_counted, Not(IsEmpty()));
  const DeviceFacts device = device_of({read_profile_file(file.path())});
  EXPECT_EQ(device.name, "NVIDIA H100");
  EXPECT_EQ(device.sms, 132U);
  EXPECT_EQ(device.compute_major, 9U);
}

TEST(Nvbench, ABatchTimeStandsInForAColdOne) {
  const std::string batch = summary("nv/batch/time/gpu/mean", "\"3e-5\"");
  const std::string cold = summary("nv/cold/time/gpu/mean", "\"4e-5\"");
  const Report report = report_of_text(
      "b.json", nvbench_file(nvbench_state("N=1", batch) + "," + nvbench_state("N=2", batch + "," + cold)));
  EXPECT_NEAR(row_named(report, "N=1").time->median, 3e-5, 1e-9);
  EXPECT_NEAR(row_named(report, "N=2").time->median, 4e-5, 1e-9);
}

TEST(Nvbench, StatesWithoutATimeHaveNoRow) {
  const std::string cold = summary("nv/cold/time/gpu/mean", "1e-5");
  const std::string skipped = R"({"name":"Device=0 N=9","is_skipped":true,"summaries":null})";
  const ImportedProfile whole = import_text("b.json", nvbench_file(nvbench_state("N=1", cold)));
  const ImportedProfile partial = import_text("b.json", nvbench_file(nvbench_state("N=1", cold) + "," + skipped + "," +
                                                                     nvbench_state("N=2", summary("x", "1"))));
  EXPECT_EQ(partial.trace.kernels.size(), 1U);
  EXPECT_EQ(partial.notes.size(), whole.notes.size() + 2) << "skipped, and without a time";
  for (const char* time : {"-1", "0", "1e300", "\"nan\"", "\"inf\"", "null", "\"x\""}) {
    EXPECT_THAT(refusal_of("b.json", nvbench_file(nvbench_state("N=1", summary("nv/cold/time/gpu/mean", time)))),
                HasSubstr("byte "))
        << time;
  }
}

/// As nvbench wrote it in 2021, before tags: two GPUs, a skipped state.
TEST(Nvbench, StatesAndSummariesBeforeTagsAreMembers) {
  const auto summary = [](std::string_view name, std::string_view value) {
    return fmt::format(
        R"("{}":{{"short_name":{{"type":"string","value":"x"}},"value":{{"type":"float64","value":"{}"}}}})", name,
        value);
  };
  const auto state = [&](std::string_view name, int device, const std::string& summaries) {
    return fmt::format(R"("{}":{{"device":{},"axis_values":{{"N":{{"type":"int64","value":"64"}}}},"summaries":{{{}}},
                          "is_skipped":false}})",
                       name, device, summaries);
  };
  const std::string work = summary("Input Buffer Size: ", "6000000") + "," +
                           summary("Output Buffer Size: Out", "2000000") + "," +
                           summary("Average Global Memory Throughput", "8e11");
  const std::string cold = summary("Average GPU Time (Cold)", "1e-5"), cpu = summary("Average CPU Time (Cold)", "7e-5");
  const std::string batch = summary("Average GPU Time (Batch)", "3e-6");
  const TemporaryFile file(
      "b.json", fmt::format(R"({{"devices":[{{"id":0,"name":"Quadro GV100","sm_version":700,"number_of_sms":80}},
                     {{"id":1,"name":"Quadro GP100","sm_version":600,"number_of_sms":56}}],
                     "benchmarks":[{{"index":0,"name":"copy","devices":[0,1],"axes":null,"states":{{{},{},{},
                     "Device=1 N=2^9":{{"device":1,"summaries":null,"is_skipped":true,"skip_reason":"too small"}}}}}}]}})",
                            state("Device=0 N=2^6", 0, cpu + "," + cold + "," + batch + "," + work),
                            state("Device=1 N=2^6", 1, cpu + "," + batch), state("Device=1 N=2^7", 1, cpu)));
  const ImportedProfile profile = read_profile_file(file.path());
  ASSERT_EQ(profile.trace.kernels.size(), 2U);
  EXPECT_EQ(profile.trace.kernels[1].device, 1U);
  EXPECT_EQ(profile.trace.kernels[1].end - profile.trace.kernels[1].start, 3000U) << "of batches";
  ASSERT_EQ(profile.devices.size(), 2U);
  EXPECT_EQ(profile.devices[1].name, "Quadro GP100");
  ASSERT_EQ(profile.trace.models.size(), 1U);
  const Traffic& bytes = profile.trace.models.begin()->second.work.bytes.at(Level::hbm);
  EXPECT_EQ(bytes.read, 6e6);
  EXPECT_EQ(bytes.write, 2e6);
  const Report report = report_of_file(file.path());
  ASSERT_EQ(report.points.size(), 2U);
  EXPECT_NEAR(row_named(report, "N=2^6").time->median, 1e-5, 1e-9) << "the longest one";
}

std::string run_of(std::string_view name, std::string_view rest) {
  return fmt::format(R"({{"name":"{0}","run_name":"{0}","run_type":"iteration","time_unit":"us",{1}}})", name, rest);
}

std::string google_file(std::string_view runs) {
  return fmt::format(R"({{"context":{{"num_cpus":8,"library_build_type":"release"}},"benchmarks":[{}]}})", runs);
}

TEST(GoogleBenchmark, RatesArePerSecondOfTheTimerThatTheNameStates) {
  const std::string times = R"("real_time":20,"cpu_time":10,"bytes_per_second":1e9,"FLOPS":4e9)";
  const Report report =
      report_of_text("g.json", google_file(run_of("BM_cpu", times) + "," + run_of("BM_wall/real_time", times)));
  ASSERT_EQ(report.points.size(), 2U);
  const Point& by_cpu = row_named(report, "BM_cpu");
  EXPECT_NEAR(by_cpu.time->median, 20e-6, 1e-12);
  EXPECT_NEAR(by_cpu.work.bytes.at(Level::hbm).total(), 10000, 1e-6);
  EXPECT_NEAR(by_cpu.work.flops.at(Pipe::fp32), 40000, 1e-6);
  EXPECT_NEAR(row_named(report, "BM_wall").work.bytes.at(Level::hbm).total(), 20000, 1e-6);
}

TEST(GoogleBenchmark, ADebugBuildOfTheLibraryIsNoted) {
  std::string file = google_file(run_of("BM_x", R"("real_time":2,"cpu_time":2)"));
  const std::size_t notes = import_text("g.json", file).notes.size();
  file.replace(file.find("release"), 7, "debug");
  EXPECT_EQ(import_text("g.json", file).notes.size(), notes + 1);
}

TEST(GoogleBenchmark, ATypeInTheNameIsThatOfItsFlops) {
  const std::string times = R"("real_time":20,"cpu_time":20,"GFLOPS":1)";
  const Report report = report_of_text("g.json", google_file(run_of("BM_gemm<double>/64", times)));
  EXPECT_NEAR(report.points.at(0).work.flops.at(Pipe::fp64), 20000, 1e-6);
}

TEST(GoogleBenchmark, RepetitionsAreLaunchesAndAggregatesAreNone) {
  const std::string once = run_of("BM_x", R"("real_time":2,"cpu_time":2)");
  const std::string twice = once + "," + run_of("BM_x", R"("real_time":4,"cpu_time":4)");
  const auto aggregate = [](std::string_view kind, int time) {
    return fmt::format(R"(,{{"name":"BM_x_{0}","run_name":"BM_x","run_type":"aggregate","aggregate_name":"{0}",
                       "time_unit":"us","real_time":{1},"cpu_time":{1}}})",
                       kind, time);
  };
  const std::string aggregates = aggregate("mean", 7) + aggregate("median", 9) + aggregate("stddev", 1);
  const Report both = report_of_text("g.json", google_file(twice + aggregates));
  ASSERT_EQ(both.points.size(), 1U);
  EXPECT_EQ(both.points[0].profiled->launches, 2);
  EXPECT_NEAR(both.points[0].profiled->total_s, 6e-6, 1e-12);
  const Report alone = report_of_text("g.json", google_file(aggregates.substr(1)));
  ASSERT_EQ(alone.points.size(), 1U);
  EXPECT_EQ(alone.points[0].profiled->launches, 1);
  EXPECT_NEAR(alone.points[0].time->median, 9e-6, 1e-12) << "the median";
}

TEST(GoogleBenchmark, AShortIterationIsAThousandOfThem) {
  const std::string times = R"("real_time":0.0015,"cpu_time":0.0015,"bytes_per_second":2e9)";
  const Report report = report_of_text("g.json", google_file(run_of("BM_x/8", times)));
  ASSERT_EQ(report.points.size(), 1U);
  EXPECT_NEAR(report.points[0].time->median, 1.5e-6, 1e-12);
  EXPECT_NEAR(report.points[0].work.bytes.at(Level::hbm).total(), 3000, 1e-6);
}

TEST(GoogleBenchmark, FailedRunsHaveNoRow) {
  const std::string good = run_of("BM_x", R"("real_time":2,"cpu_time":2)");
  const std::string failed = run_of("BM_y", R"("error_occurred":true,"real_time":2,"cpu_time":2)");
  EXPECT_EQ(import_text("g.json", google_file(good + "," + failed)).trace.kernels.size(), 1U);
  EXPECT_THAT(refusal_of("g.json", google_file(failed)), HasSubstr("byte "));
}

TEST(TensorRt, LayersAreRowsOfOneInference) {
  const Report report = report_of_text("layers.json", R"([ { "count" : 100 }
    , { "name" : "conv1 + relu", "timeMs" : 2, "averageMs" : 0.02, "medianMs" : 0.019, "percentage" : 80 }
    , { "name" : "fc", "timeMs" : 0.5, "averageMs" : 0.005, "medianMs" : 0.005, "percentage" : 20 } ])");
  ASSERT_EQ(report.points.size(), 2U);
  const Point& layer = row_named(report, "conv1 + relu");
  EXPECT_EQ(layer.workload.label, "conv1+relu");
  EXPECT_NEAR(layer.time->median, 20e-6, 1e-12);
  EXPECT_EQ(layer.profiled->launches, 1);
  EXPECT_THAT(layer.profiled->not_counted, Not(IsEmpty()));
}

constexpr std::string_view kSums =
    "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
    "60.0,3001,3,1000.3,1000.0,900,1100,10.0,\"void gemm<float, 4>(float *, int)\"\n"
    "40.0,2000,1,2000.0,2000.0,2000,2000,0.0,scale\n";
constexpr std::string_view kCalls =
    "Time (%),Total Time (ns),Num Calls,Avg (ns),Name\n81.2,131012864,1,131012864.0,cudaMalloc\n";
constexpr std::string_view kGrids =
    "Time(%),Total Time (us),Instances,Average,GridXYZ,BlockXYZ,Name\n"
    "100.0,30,3,10,\"   4    2    1\",\" 128    1    1\",axpy\n";

TEST(NsysSums, RowsAreMeansOfTheTableOfKernels) {
  const Report report = report_of_text(
      "sums.csv", fmt::format("Processing [r.sqlite], with [a.py]...\n\n{}\nProcessing ...\n\n{}", kCalls, kSums));
  ASSERT_EQ(report.points.size(), 2U) << "calls are no kernels";
  const Point& gemm = row_named(report, "gemm");
  EXPECT_EQ(gemm.profiled->launches, 3);
  EXPECT_NEAR(gemm.profiled->total_s, 3001e-9, 1e-13);
  EXPECT_EQ(gemm.profiled->time_source, TimeSource::averaged);
  EXPECT_THAT(gemm.profiled->not_counted, Not(IsEmpty()));
  EXPECT_FALSE(report.profile->timeline.has_value());
}

TEST(NsysSums, OneTableHasTheRows) {
  const Report both = report_of_text("sums.csv", fmt::format("{}\n{}", kSums, kGrids));
  ASSERT_EQ(both.points.size(), 1U) << "that with grids";
  EXPECT_NEAR(both.points[0].profiled->total_s, 30e-6, 1e-12) << "its unit is the microsecond";
  EXPECT_EQ(both.points[0].profiled->grid[0], 4U);
  EXPECT_EQ(both.points[0].profiled->grid[1], 2U);
}

TEST(NsysSums, OtherTablesAreRefusedWithTheNextStep) {
  EXPECT_THAT(hint_of("sums.csv", kCalls), HasSubstr("--type sqlite"));
  EXPECT_THAT(hint_of("sums.txt", " Time (%)  Total Time (ns)  Instances  Name\n 60.0  3,001  3  gemm\n"),
              HasSubstr("--type sqlite"));
  EXPECT_THAT(hint_of("sums.csv", kSums), IsEmpty());
  EXPECT_THAT(refusal_of("sums.csv", std::string(kSums.substr(0, kSums.size() - 10))), HasSubstr("line "));
}

std::string rocprof_file(std::string_view agent, std::string_view shared, std::string_view times) {
  return fmt::format(
      "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\","
      "\"{}\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\","
      "\"Grid_Size_Z\"\n\"KERNEL_DISPATCH\",{},1,\"axpy(float*, float*)\",1,{},1024,256,1,1,1000,1,1\n",
      shared, agent, times);
}

TEST(Rocprof, KernelsOfBothGenerationsAreRead) {
  for (const auto& [agent, shared] :
       {std::pair("\"Agent 2\"", "LDS_Block_Size"), std::pair("4", "Group_Segment_Size")}) {
    const ImportedProfile profile =
        import_text("kernel_trace.csv", rocprof_file(agent, shared, "172352210005000,172352210008000"));
    ASSERT_EQ(profile.trace.kernels.size(), 1U);
    const spool::Kernel& kernel = profile.trace.kernels[0];
    EXPECT_EQ(kernel.end - kernel.start, 3000U);
    EXPECT_EQ(kernel.static_shared, 1024U);
    EXPECT_EQ(profile.trace.kind(kernel.kind).grid[0], 4U) << "a grid is in work-items";
    EXPECT_EQ(profile.devices.size(), 1U);
    EXPECT_TRUE(profile.has_starts);
    EXPECT_FALSE(profile.notes.empty());
  }
}

TEST(Rocprof, WhatIsNoTimeIsRefused) {
  for (const char* times : {"-1,4", "x,4", "1,99999999999999999999"}) {
    EXPECT_THAT(refusal_of("kernel_trace.csv", rocprof_file("4", "LDS_Block_Size", times)), HasSubstr("line 2"))
        << times;
  }
}

std::string xla_file(std::string_view process, std::string_view thread) {
  return fmt::format(R"({{"displayTimeUnit":"ns","traceEvents":[
    {{"ph":"M","pid":1,"name":"process_name","args":{{"name":"{}"}}}},
    {{"ph":"M","pid":1,"tid":13,"name":"thread_name","args":{{"name":"{}"}}}},
    {{"ph":"M","pid":1,"tid":14,"name":"thread_name","args":{{"name":"XLA Ops"}}}},
    {{"ph":"X","pid":1,"tid":13,"ts":1000,"dur":25,"name":"loop_fusion","args":{{"correlation_id":"12",
      "hlo_op":"fusion.3","hlo_module":"jit_step",
      "kernel_details":"regs:16 static_shared:0 dynamic_shared:64 grid:4,2,1 block:256,1,1 occ_pct:75"}}}},
    {{"ph":"X","pid":1,"tid":14,"ts":1000,"dur":25,"name":"fusion.3","args":{{"hlo_op":"fusion.3"}}}},
    {{"ph":"X","pid":1,"tid":13,"ts":1100,"dur":5,"name":"MemcpyD2H","args":{{"correlation_id":"13",
      "memcpy_details":"kind_src:device kind_dst:pinned size:4096 dest:0 async:1"}}}}]}})",
                     process, thread);
}

TEST(XlaTrace, KernelsAndCopiesAreThoseOfStreams) {
  const ImportedProfile profile = import_text("trace.json", xla_file("/device:GPU:1", "Stream #13(Compute)"));
  ASSERT_EQ(profile.trace.kernels.size(), 1U) << "other tracks repeat the kernels";
  const spool::Kernel& kernel = profile.trace.kernels[0];
  EXPECT_EQ(kernel.end - kernel.start, 25000U);
  EXPECT_EQ(kernel.stream, 13U);
  EXPECT_EQ(kernel.device, 1U);
  EXPECT_EQ(kernel.registers, 16U);
  const spool::Kind& kind = profile.trace.kind(kernel.kind);
  EXPECT_EQ(kind.grid[1], 2U);
  EXPECT_EQ(kind.block[0], 256U);
  EXPECT_EQ(profile.trace.text(profile.trace.place(kind.place).module), "jit_step");
  ASSERT_EQ(profile.trace.copies.size(), 1U);
  EXPECT_EQ(profile.trace.copies[0].bytes, 4096U);
  EXPECT_EQ(profile.trace.copies[0].to, spool::Memory::pinned);
}

TEST(XlaTrace, WithoutGpuStreamsItIsRefused) {
  EXPECT_THAT(refusal_of("trace.json", xla_file("/host:CPU", "Stream #13(Compute)")), HasSubstr("GPU streams"));
  EXPECT_THAT(refusal_of("trace.json", xla_file("/device:GPU:0", "XLA Modules")), HasSubstr("GPU streams"));
  EXPECT_THAT(refusal_of("trace.json", xla_file("/device:TPU:0", "XLA Ops")), HasSubstr("TPUs"));
}

TEST(OtherFiles, HaveANextStep) {
  const struct {
    const char *name, *text, *next;
  } kFiles[] = {
      {"r.nsys-rep", "x", "--type sqlite"},
      {"nsys.json", R"({"Type":0,"TraceProcessEvent":{"startNs":"1"}})", "--type sqlite"},
      {"trace.csv", "Start (ns),Duration (ns),CorrId,Name\n1,2,3,k\n", "--type sqlite"},
      {"nvprof.csv", "==1== NVPROF is profiling process 1\n\"Type\",\"Time(%)\",\"Time\",\"Calls\"\n", "nsys profile"},
      {"report.json", R"({ "schema": "roofline.report/1", "notes": [] })", "roofline report"},
      {"machine.json", R"({ "schema": "roofline.machine/1" })", "--machine"},
      {"times.json", R"([{"startComputeMs" : 1}])", "--exportProfile"},
      {"exec.csv", "PID,TID,DevId,Count,QCount,TAvg (ns),QAvg (ns),KAvg (ns),Kernel Name\n1,1,0,2,2,9,3,5,k\n",
       "--type sqlite"},
      {"ranges.csv", "Name,Projected Start (ns),Projected Duration (ns),Style\nstep,1,2,PushPop\n", "--type sqlite"},
      {"perfetto.json", R"({"traceEvents":[{"ph":"X","cat":"kernel_dispatch","name":"k"}]})", "--output-format json"},
      {"kernels.ncu-rep", "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 2\n", "git lfs pull"},
      {"trace.json", "\n<!DOCTYPE html>\n<html></html>\n", "raw"},
      {"perf.data", "PERFILE2h", "roofline profile"},
      {"x.pftrace", "\n\n", "--output-format json"},
      {"et.json", R"({"schema": "1.1.1-chakra.0.0.4", "nodes": [{"id": 1, "ctrl_deps": 1}]})", "export_chrome_trace"},
      {"summary.txt", "KERNELS_SUMMARY:\n   Name  Calls\n", ".db"},
      {"out.json", R"([{"name": "prob", "dimensions": "1000x1x1", "values": [1]}])", "--exportProfile"},
      {"bench.json", R"([{"cpu": "a", "tests": [{"gflops": 3.5}]}])", "torch.profiler"},
      {"own.json", R"([{"ph": "X", "name": "k", "ts": 1, "dur": 2}])", "torch.profiler"},
      {"flops.txt", "------- DeepSpeed Flops Profiler -------\nfwd latency: 1 ms\n", "export_chrome_trace"},
  };
  for (const auto& file : kFiles) EXPECT_THAT(hint_of(file.name, file.text), HasSubstr(file.next)) << file.name;
}

TEST(OtherFiles, JsonWithoutEventsIsNoTrace) {
  EXPECT_THAT(refusal_of("a.json", R"([{"cpu": "a", "tests": [{"gflops": 3.5}]}])"), Not(HasSubstr("this trace")));
  EXPECT_THAT(refusal_of("a.json", R"([{"ph": "X", "cat": "toplevel", "name": "k", "ts": 1, "dur": 2}])"),
              AllOf(HasSubstr("this trace"), HasSubstr("toplevel (1)")));
}

TEST(JsonDocuments, OneAfterAnotherAreReadOrNamed) {
  const std::string layers = R"([{"count": 10}, {"name": "conv", "timeMs": 5, "averageMs": 0.5, "percentage": 100}])";
  const Report twice = report_of_text("layers.json", layers + "\n" + layers);
  ASSERT_EQ(twice.points.size(), 1U);
  EXPECT_EQ(twice.points[0].profiled->launches, 2);
  EXPECT_NEAR(twice.points[0].time->median, 0.5e-3, 1e-9);
  EXPECT_EQ(report_of_text("layers.json", layers).points.at(0).profiled->launches, 1);
  const std::string trace = R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 2}]})";
  EXPECT_THAT(hint_of("t.json", trace + "\n" + trace), AllOf(HasSubstr("jq -c"), HasSubstr("split")));
  EXPECT_THAT(refusal_of("t.json", trace + "\n" + trace), HasSubstr(fmt::format("byte {}:", trace.size() + 1)));
  EXPECT_THAT(refusal_of("t.json", trace + " \n"), IsEmpty());
  for (const char* rest : {"5", "x", "]", "null"}) {
    EXPECT_THAT(refusal_of("t.json", trace + rest), HasSubstr("invalid JSON")) << rest;
  }
}

TEST(OtherFiles, ReportsAreToldFromProfiles) {
  EXPECT_TRUE(recorded_by(TemporaryFile("a.json", R"({ "schema": "roofline.report/1" })").path()).empty());
  EXPECT_TRUE(recorded_by(TemporaryFile("a.json", R"({ "damaged": 1)").path()).empty());
  EXPECT_FALSE(recorded_by(TemporaryFile("a.json", R"({"traceEvents":[]})").path()).empty());
  EXPECT_FALSE(recorded_by(recorded("trace.json.gz")).empty());
  EXPECT_FALSE(recorded_by(recorded("kernels.ncu-rep")).empty());
  EXPECT_FALSE(recorded_by(TemporaryFile("a.json", R"([{"ph":"X","cat":"kernel"}])").path()).empty());
  EXPECT_TRUE(recorded_by(recorded("").parent_path()).empty()) << "a folder";
  EXPECT_TRUE(recorded_by("nowhere.json").empty());
  EXPECT_THROW(recorded_by(TemporaryFile("a.nsys-rep", "binary").path()), UsageError);
}

}  // namespace
}  // namespace roofline
