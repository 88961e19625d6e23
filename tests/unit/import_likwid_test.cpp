// likwid-perfctr, the Empirical Roofline Toolkit, and which device a file is of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/roofs.hpp"
#include "tests/support/import_files.hpp"

namespace roofline {
namespace {

using testing::HasSubstr;

constexpr std::string_view kRegions =
    "--------------------------------------------------------------------------------\n"
    "STRUCT,Info,3,,,\n"
    "CPU name:,AMD EPYC 7543 32-Core Processor,,,,\n"
    "CPU type:,AMD K19 (Zen3) architecture,,,,\n"
    "CPU clock:,2.8 GHz,,,,\n"
    "TABLE,Region triad,Group 1 Raw,MEM_DP,1,\n"
    "Region Info,HWThread 0,HWThread 1,,,\n"
    "RDTSC Runtime [s],0.50,0.40,,,\n"
    "call count,10,10,,,\n"
    "Event,Counter,HWThread 0,HWThread 1,,\n"
    "RETIRED_SSE_AVX_FLOPS_ALL,PMC2,5000,4000,,\n"
    "TABLE,Region triad,Group 1 Raw STAT,MEM_DP,1,\n"
    "Event,Counter,Sum,Min,Max,Avg\n"
    "RETIRED_SSE_AVX_FLOPS_ALL STAT,PMC2,9000,4000,5000,4500\n"
    "TABLE,Region triad,Group 1 Metric,MEM_DP,4,\n"
    "Metric,HWThread 0,HWThread 1,,,\n"
    "Runtime (RDTSC) [s],0.5001,0.4,,,\n"
    "DP [MFLOP/s],1000,2000,,,\n"
    "Memory bandwidth [MBytes/s],8000,0,,,\n"
    "Memory data volume [GBytes],4,0,,,\n"
    "TABLE,Region triad,Group 1 Metric STAT,MEM_DP,4,\n"
    "Metric,Sum,Min,Max,Avg,\n"
    "Runtime (RDTSC) [s] STAT,0.9001,0.4,0.5001,0.45,\n"
    "DP [MFLOP/s] STAT,3000,1000,2000,1500,\n"
    "Memory bandwidth [MBytes/s] STAT,8000,0,8000,4000,\n"
    "Memory data volume [GBytes] STAT,4,0,4,2,\n";

TEST(Likwid, ARegionIsARowOfItsCalls) {
  const ImportedProfile profile = import_text("triad.csv", kRegions);
  ASSERT_EQ(profile.trace.kernels.size(), 10U);
  const std::uint64_t end = profile.trace.kernels.back().end, start = profile.trace.kernels.front().start;
  EXPECT_EQ(end - start, 500'100'000U) << "the slowest thread's, with the digits of the metric";
  ASSERT_EQ(profile.trace.models.size(), 1U);
  const ProcessTrace::Model& model = profile.trace.models.begin()->second;
  EXPECT_EQ(model.source, WorkSource::counted);
  EXPECT_NEAR(model.work.flops.at(Pipe::fp64), (1000e6 * 0.5001 + 2000e6 * 0.4) / 10, 1)
      << "a thread's rate is over its own time";
  EXPECT_EQ(model.work.bytes.at(Level::dram).total(), 0.4e9) << "of a call";
  EXPECT_EQ(profile.devices.at(0).name, "AMD EPYC 7543 32-Core Processor");
  EXPECT_EQ(data_sheet_machine(profile.devices.at(0)).device.kind, DeviceKind::cpu);
}

TEST(Likwid, WithoutMarkersTheProgramIsARow) {
  const ImportedProfile profile = import_text("run.csv",
                                              "STRUCT,Info,3,\nCPU name:,x,\nTABLE,Group 1 Raw,L3,2,\n"
                                              "Event,Counter,HWThread 0,\nRuntime (RDTSC) [s],TSC,2.5,\nA,PMC0,1,\n"
                                              "TABLE,Group 1 Metric,L3,2,\nMetric,HWThread 0,\n"
                                              "Runtime (RDTSC) [s],2.5,\nL3 bandwidth [MBytes/s],100,\n");
  ASSERT_EQ(profile.trace.kernels.size(), 1U);
  EXPECT_EQ(profile.trace.kernels[0].end - profile.trace.kernels[0].start, 2'500'000'000U);
  EXPECT_TRUE(profile.trace.models.empty()) << "the volume of L3 is not that of memory";
  EXPECT_EQ(profile.trace.uncounted.size(), 1U);
}

TEST(Likwid, SeveralRegionsMayContainEachOther) {
  std::string both(kRegions);
  const std::size_t first = both.find("TABLE,");
  std::string second = both.substr(first);
  for (std::size_t at = second.find("triad"); at != std::string::npos; at = second.find("triad", at))
    second.replace(at, 5, "solve");
  const std::size_t one = import_text("triad.csv", kRegions).notes.size();
  EXPECT_EQ(import_text("triad.csv", both + second).notes.size(), one + 1);
  EXPECT_EQ(import_text("triad.csv", both + both.substr(both.find("STRUCT,"))).notes.size(), one + 1)
      << "of two runs, not of regions";
}

TEST(Likwid, MissingLinesAreATruncatedFile) {
  const std::string text(kRegions);
  EXPECT_THAT(refusal_of("triad.csv", text.substr(0, text.find("Memory data volume"))), HasSubstr("truncated"));
  EXPECT_THAT(refusal_of("triad.csv", "STRUCT,Info,3\nTABLE,Group 1 Metric,MEM,0\n"), HasSubstr("no region"));
}

constexpr std::string_view kErt = R"({"empirical": {
  "gbytes": {"data": [["L1", 1002.5], ["L4", 7], ["DRAM", 68.5]], "metadata": {}},
  "gflops": {"data": [["GFLOPs", 288.5], ["FP32 GFLOPs", 500]], "metadata": {}},
  "metadata": {"HOSTNAME": ["node"]}}})";

TEST(Ert, RatesAreRoofsOfACpu) {
  const ImportedProfile profile = import_text("roofline.json", kErt);
  ASSERT_TRUE(profile.roofs);
  EXPECT_EQ(profile.roofs->device.kind, DeviceKind::cpu);
  EXPECT_EQ(profile.roofs->find("dram.copy")->value, 68.5e9);
  EXPECT_EQ(profile.roofs->find("l1.copy")->value, 1002.5e9);
  EXPECT_EQ(profile.roofs->compute(Pipe::fp64)->value, 288.5e9);
  EXPECT_EQ(profile.roofs->compute(Pipe::fp32)->value, 500e9);
  EXPECT_EQ(profile.roofs->ceilings.size(), 4U) << "ERT's L4 is no level";
  std::vector<std::string> joined;
  EXPECT_TRUE(report_of_imports({profile}, {.machine = *profile.roofs}, {}, joined).points.empty());
}

TEST(Ert, AGpuHasHbm) {
  const ImportedProfile profile = import_text(
      "roofline.json",
      R"({"empirical":{"gbytes":{"data":[["DRAM",556.5]]},"gflops":{"data":[["GFLOPs",4360]],"metadata":{"GPU_BLOCKS":56}}}})");
  EXPECT_EQ(profile.roofs->device.kind, DeviceKind::cuda);
  EXPECT_EQ(profile.roofs->find("hbm.copy")->value, 556.5e9);
}

TEST(Ert, TextsOfRunsHaveTheHighestRates) {
  const char* const run =
      "   11.03 GFLOPs\n\n  1458.88 Weight\n\n   176.44 L1\n    18.30 DRAM\n\nMETA_DATA\nFLOPS 1\n"
      "   22.50 GFLOPs\n    17.00 DRAM\n";
  const ImportedProfile profile = import_text("sum", run);
  EXPECT_EQ(profile.roofs->compute(Pipe::fp64)->value, 22.5e9);
  EXPECT_EQ(profile.roofs->find("dram.copy")->value, 18.3e9);
  const ImportedProfile report = import_text("rpt", "  908.43 GFLOPs EMP\n\n 5647.33 L1 EMP\n  103.50 DRAM EMP\n");
  EXPECT_EQ(report.roofs->find("dram.copy")->value, 103.5e9);
}

TEST(Ert, ASummaryQuotesItsDrivers) {
  const ImportedProfile profile = import_text("roofline.json", R"({"empirical": {"metadata": {},
    "gflops": {"data": [["FP64 GFLOPs", 2772.78]], "metadata": {"": ["META_DATA", "FLOPS 64", "OPENMP_THREADS 80"]}},
    "gbytes": {"data": [["DRAM", 128.5]], "metadata": {"": ["META_DATA", "MPI_PROCS 1"]}}}})");
  EXPECT_EQ(profile.roofs->compute(Pipe::fp64)->value, 2772.78e9);
  EXPECT_EQ(profile.roofs->find("dram.copy")->value, 128.5e9);
  const ImportedProfile text = import_text(
      "sum", "   11.03 GFLOPs\n\n  1458.88 Weight\n\n    18.30 DRAM\n\nMETA_DATA\nFLOPS 1\nOPENMP_THREADS 8\n");
  EXPECT_EQ(text.roofs->find("dram.copy")->value, 18.3e9);
}

TEST(Ert, WhatIsNoRateIsRefused) {
  EXPECT_THAT(refusal_of("roofline.json", R"({"empirical":{"gbytes":{"data":[["DRAM","fast"]]}}})"), HasSubstr("byte"));
  EXPECT_THAT(refusal_of("roofline.json", R"({"empirical":{"gbytes":{"data":[["DRAM",-1]]}}})"), HasSubstr("byte"));
  EXPECT_THAT(refusal_of("rpt", " 12x DRAM EMP\n"), HasSubstr("line 1"));
}

TEST(GoogleBenchmark, ItsDeviceIsACpuUnlessItTookTimesItself) {
  const auto kind_of = [](const char* name) {
    const ImportedProfile profile = import_text(
        "runs.json",
        std::string(R"({"benchmarks":[{"name":")") + name +
            R"(","run_type":"iteration","real_time":5,"cpu_time":5,"time_unit":"us","bytes_per_second":1e9}]})");
    return data_sheet_machine(profile.devices.at(0)).device.kind;
  };
  EXPECT_EQ(kind_of("BM_copy/8"), DeviceKind::cpu);
  EXPECT_EQ(kind_of("BM_copy/8/manual_time"), DeviceKind::cuda);
}

TEST(GoogleBenchmark, BytesAreThoseOfTheMachinesMainMemory) {
  const ImportedProfile profile = import_text(
      "runs.json",
      R"({"benchmarks":[{"name":"BM_copy","run_type":"iteration","real_time":5,"cpu_time":5,"time_unit":"us","bytes_per_second":1e9}]})");
  std::vector<std::string> joined;
  const Report report =
      report_of_imports({profile}, {.machine = data_sheet_machine(profile.devices.at(0))}, {}, joined);
  ASSERT_EQ(report.points.size(), 1U);
  EXPECT_TRUE(report.points[0].work.bytes.contains(Level::dram));
}

}  // namespace
}  // namespace roofline
