// What a report of an import says first and advises: nothing that is untrue of a file, or that only a run of roofline's
// own could follow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <sqlite3.h>

#include "import/roofs.hpp"
#include "render/render.hpp"
#include "report/diagnosis/verdict.hpp"
#include "report/profile_answer.hpp"
#include "report/profile_findings.hpp"
#include "report/roofs.hpp"
#include "report/step_findings.hpp"
#include "report/work_source.hpp"
#include "tests/support/import_files.hpp"

namespace roofline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// The report as the command makes it without a calibration: roofs of the file, or of its GPUs' data sheets.
Report report_with_sheets(std::string_view name, std::string_view text) {
  const TemporaryFile file(name, text);
  std::vector<ImportedProfile> profiles;
  profiles.push_back(read_profile_file(file.path()));
  const Machine* measured = roofs_in(profiles);
  ImportRoofs roofs = {.machine = measured != nullptr ? *measured : data_sheet_machine(device_of(profiles)),
                       .others = {}};
  for (const DeviceFacts& device : other_models(profiles, roofs.machine.device.name)) {
    roofs.others.push_back(data_sheet_machine(device));
  }
  std::vector<std::string> joined;
  return report_of_imports(std::move(profiles), roofs, {"roofline", "import"}, joined);
}

std::string trace_on(std::string_view gpu, const std::string& events) {
  return fmt::format(R"({{"schemaVersion": 1, "deviceProperties": [{{"id": 0, "name": "{}"}}], "traceEvents": [{}]}})",
                     gpu, events);
}

/// A kernel and the call that launches it 4 us before.
std::string launched(std::string_view kernel, double ts, double dur, int correlation) {
  return fmt::format(
      R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": {}, "dur": 2,
          "args": {{"correlation": {}}}}},
         {{"ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": 7, "ts": {}, "dur": {},
          "args": {{"device": 0, "stream": 7, "correlation": {}, "grid": [999, 1, 1], "block": [64, 1, 1]}}}})",
      ts - 4, correlation, kernel, ts, dur, correlation);
}

/// A product of two matrices of 64x64 in fp32, by the kernel with that correlation.
std::string product_at(double ts, int correlation) {
  return fmt::format(
             R"({{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": {}, "dur": 6,
          "args": {{"Input Dims": [[64, 64], [64, 64]], "Input type": ["float", "float"]}}}},)",
             ts - 5) +
         launched("sgemm", ts, 10, correlation);
}

constexpr const char* kNvbenchState =
    R"({{"name": "Device={0} N={1}", "device": {0}, "is_skipped": false, "summaries": [
        {{"tag": "nv/cold/time/gpu/mean", "data": [{{"name": "value", "type": "float64", "value": {2}}}]}},
        {{"tag": "nv/cold/bw/global/bytes_per_second", "data": [{{"name": "value", "type": "float64", "value": {3}}}]}}]}})";

std::string nvbench_on(std::string_view first, std::string_view second, const std::string& states) {
  return fmt::format(R"({{"meta": {{"version": {{"nvbench": {{"major": 0}}}}}}, "devices": [{{"id": 0, "name": "{}"}},
                         {{"id": 1, "name": "{}"}}], "benchmarks": [{{"name": "copy", "states": [{}]}}]}})",
                     first, second, states);
}

TEST(ImportSentences, AStepIsTheProgramsAndNotALaunch) {
  std::string events;
  for (int step = 0; step < 5; ++step) {
    for (int kernel = 0; kernel < 3; ++kernel) {
      events += events.empty() ? "" : ",";
      events += launched(std::string(1, static_cast<char>('a' + kernel)) + "_kernel", 100.0 * step + 20 * kernel + 5,
                         10, 10 * step + kernel + 1);
    }
  }
  const Report report = report_with_sheets("t.json", trace_on("NVIDIA H100 80GB HBM3", events));
  ASSERT_TRUE(report.profile->steps);
  EXPECT_EQ(report.profile->steps->count, 4) << "the last one has no end";
  EXPECT_EQ(report.profile->steps->launches, 3);
  EXPECT_NEAR(report.profile->steps->median_s, 100e-6, 1e-12);
}

TEST(ImportSentences, LittleKernelTimeIsNotNoKernel) {
  const Report report =
      report_with_sheets("t.json", trace_on("", launched("k", 10, 1, 1) + "," + launched("k", 1e6, 1, 2)));
  EXPECT_THAT(answer(report), AllOf(HasSubstr("The GPU ran kernels for <"), Not(HasSubstr("no kernel"))));
}

TEST(ImportSentences, TinyTimesAtTheRoofsAreNotZero) {
  const Report report = report_with_sheets(
      "t.json", trace_on("NVIDIA H100 80GB HBM3", product_at(10, 1) + "," + launched("other", 1e5, 1, 2)));
  EXPECT_THAT(answer(report), HasSubstr("would take <"));
}

TEST(ImportSentences, MeansHaveNoWallTimeAndNoIdleTime) {
  const std::string states = fmt::format(fmt::runtime(kNvbenchState), 0, 1, "1e-5", 0) + "," +
                             fmt::format(fmt::runtime(kNvbenchState), 1, 1, "3e-5", 0) + "," +
                             fmt::format(fmt::runtime(kNvbenchState), 0, 2, "1e-5", 0);
  const Report report = report_with_sheets("b.json", nvbench_on("GPU a", "GPU b", states));
  EXPECT_THAT(answer(report), AllOf(HasSubstr("50 \u00b5s"), Not(HasSubstr("wall")), Not(HasSubstr("idle"))));
  ASSERT_EQ(report.profile->devices.size(), 2U);
  for (const WallTime& wall : report.profile->devices) {
    EXPECT_NEAR(wall.wall_s, wall.kernels_s, 1e-12);
    EXPECT_EQ(wall.idle_unknown_s + wall.idle_elsewhere_s + wall.before_s + wall.after_s, 0);
  }
  for (const Saving& saving : report.profile->savings) EXPECT_NE(saving.kind, SavingKind::idle);
  EXPECT_THAT(why_no_steps(report), IsEmpty());
  EXPECT_THAT(why_no_roofs(report), HasSubstr("the file of nvbench has no counters"));
  for (const Point& point : report.points) {
    EXPECT_THAT(point.workload.label, Not(HasSubstr("0x0x0")));
    EXPECT_THAT(point.profiled->not_counted, HasSubstr("states no bytes")) << "on both GPUs";
  }
}

TEST(ImportSentences, DataSheetsOfAnotherModelAreNotMeasured) {
  const std::string states = fmt::format(fmt::runtime(kNvbenchState), 0, 1, "3e-5", "1e12") + "," +
                             fmt::format(fmt::runtime(kNvbenchState), 1, 1, "9e-5", "1e12");
  const Report report = report_with_sheets("b.json", nvbench_on("Quadro GP100", "NVIDIA H200", states));
  EXPECT_THAT(answer(report), AllOf(HasSubstr("not measured here"), Not(HasSubstr("At the measured roofs"))));
}

TEST(ImportSentences, StatedBytesAreTheAuthors) {
  const std::string states = fmt::format(fmt::runtime(kNvbenchState), 0, 1, "1e-5", "1e12");
  const Report report = report_with_sheets("b.json", nvbench_on("NVIDIA H200", "NVIDIA H200", states));
  const std::vector<Verdict> all = verdicts(report);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0].finding, AllOf(HasSubstr("stated"), Not(HasSubstr("model"))));
  for (const auto& [what, value] : all[0].evidence) EXPECT_THAT(what, Not(HasSubstr("FP32"))) << "no FLOPs are stated";
}

TEST(ImportSentences, AdviceIsForFilesAndTheirGpu) {
  const Report nvidia = report_with_sheets("t.json", trace_on("NVIDIA H100 80GB HBM3", product_at(10, 1)));
  for (const Verdict& verdict : verdicts(nvidia)) {
    EXPECT_THAT(verdict.action, AllOf(HasSubstr("ncu --set roofline"), Not(HasSubstr("--counters"))));
  }
  const Report unknown = report_with_sheets("t.json", trace_on("NVIDIA H100 80GB HBM3", launched("k", 10, 5, 1)));
  for (const Verdict& verdict : verdicts(unknown)) EXPECT_THAT(verdict.action, Not(HasSubstr("for longer")));
  const Report amd = report_with_sheets("t.json", trace_on("AMD Instinct MI300X", product_at(10, 1)));
  ASSERT_FALSE(amd.machine.ceilings.empty());
  for (const Verdict& verdict : verdicts(amd)) EXPECT_THAT(verdict.action, HasSubstr("rocprof-compute"));
  EXPECT_THAT(amd.profile->why_no_counters, AllOf(HasSubstr("rocprof-compute"), Not(HasSubstr("ncu"))));
}

TEST(ImportSentences, AdviceOnATraceOfPyTorchIsInItsApi) {
  const Report report = report_with_sheets(
      "t.json", trace_on("", launched("gemm_kernel", 10, 5, 1) +
                                 R"(, {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy M2D", "pid": 0, "tid": 7,
                                      "ts": 50, "dur": 40, "args": {"device": 0, "stream": 7, "bytes": 1000000,
                                      "correlation": 2}})"));
  ASSERT_FALSE(report.profile->savings.empty());
  for (const Saving& saving : report.profile->savings) EXPECT_THAT(saving.action, Not(HasSubstr("cuda")));
}

TEST(ImportSentences, ACollectiveIsNotToBeRecordedForLonger) {
  const Report report =
      report_with_sheets("t.json", trace_on("NVIDIA H100 80GB HBM3", launched("ncclDevKernel_AllReduce", 10, 5, 1)));
  const std::vector<Verdict> all = verdicts(report);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0].action, HasSubstr("No action"));
}

TEST(ImportSentences, CopiesWithoutSizesAreNotSmall) {
  const Report report = report_with_sheets(
      "t.json", trace_on("", launched("k", 10, 5, 1) +
                                 R"(, {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7,
                                      "ts": 50, "dur": 40, "args": {"device": 0, "stream": 7, "correlation": 2}})"));
  ASSERT_FALSE(report.profile->savings.empty());
  const auto copies = std::find_if(report.profile->savings.begin(), report.profile->savings.end(),
                                   [](const Saving& saving) { return saving.kind == SavingKind::copies; });
  ASSERT_NE(copies, report.profile->savings.end());
  EXPECT_THAT(copies->evidence, HasSubstr("sizes were not recorded"));
  EXPECT_THAT(copies->what, AllOf(HasSubstr("host to device"), Not(HasSubstr("unknown"))));
  EXPECT_THAT(copies->action, Not(HasSubstr("small")));
}

TEST(ImportSentences, DirectionsOfCopiesAreThoseOfTheirNames) {
  const auto path_of = [](std::string_view name) {
    const Report report = report_with_sheets(
        "t.json", trace_on("", fmt::format(R"json({{"ph": "X", "cat": "gpu_memcpy", "name": "{}", "pid": 0, "tid": 7,
            "ts": 50, "dur": 40, "args": {{"device": 0, "stream": 7, "bytes": 64, "correlation": 2}}}})json",
                                           name)));
    return to_string(report.profile->copies.at(0).path);
  };
  EXPECT_EQ(path_of("Memcpy HtoD (Host -> Device)"), "host to device") << "ROCm";
  EXPECT_EQ(path_of("Memcpy DtoH (Device -> Host)"), "device to host");
  EXPECT_EQ(path_of("Memcpy HtoD (Pageable -> Device)"), "host to device, pageable");
  EXPECT_EQ(path_of("Memcpy DtoD"), "device to device");
  EXPECT_EQ(path_of("Memcpy M2D (Host (User Allocated) -> Device)"), "host to device, pageable") << "Level Zero";
  EXPECT_EQ(path_of("Memcpy D2H (Device -> Host (Driver Allocated))"), "device to host, pinned");
  EXPECT_THAT(path_of("Memcpy S2D (Shared -> Device)"), Not(HasSubstr("not recorded")));
  EXPECT_EQ(path_of("a copy"), "direction not recorded");
}

TEST(ImportSentences, RoofsAloneAreNoRecording) {
  const Report report = report_with_sheets(
      "roofline.json",
      R"({"empirical": {"gflops": {"data": [["FP64 GFLOPs", 10]]}, "gbytes": {"data": [["DRAM", 5]]}}})");
  EXPECT_THAT(answer(report), AllOf(HasSubstr("Roofs"), Not(HasSubstr("kernel")), Not(HasSubstr("GPU"))));
  EXPECT_THAT(completeness(report), IsEmpty());
  EXPECT_THAT(why_no_steps(report), IsEmpty());
}

TEST(ImportSentences, AFileWithoutAGpuSaysSo) {
  const Report report = report_with_sheets("t.json", trace_on("", launched("k", 10, 5, 1)));
  EXPECT_THAT(about_roofs(report.machine), AllOf(HasSubstr("no roofs"), HasSubstr("no GPU"), HasSubstr("--machine")));
}

/// A trace of one rank: a kernel of 10 us at 5 us after its base.
std::string trace_of_rank(int rank, std::int64_t base_ns) {
  return fmt::format(R"({{"schemaVersion": 1, "distributedInfo": {{"rank": {}}}, "baseTimeNanoseconds": {},
      "traceEvents": [{}]}})",
                     rank, base_ns, launched("k", 9, 10, 1) + "," + launched("k", 1005, 10, 2));
}

TEST(ImportSentences, RanksAreAlignedByTheirClocks) {
  constexpr std::int64_t kBase = 1'700'000'000'000'000'000;
  const TemporaryFile first("a.json", trace_of_rank(0, kBase)), second("b.json", trace_of_rank(1, kBase + 400'000));
  std::vector<std::string> joined;
  const Report report = report_of_files({first.path(), second.path()}, joined);
  EXPECT_NEAR(report.profile->wall_s, (1015 - 5 + 400) * 1e-6, 1e-9);
  EXPECT_THAT(report.notes, testing::Contains(HasSubstr("400 \u00b5s after")));
  const TemporaryFile later("c.json", trace_of_rank(1, kBase + 5'000'000'000));
  const Report apart = report_of_files({first.path(), later.path()}, joined);
  EXPECT_NEAR(apart.profile->wall_s, (1015 - 5) * 1e-6, 1e-9) << "of other times: they begin together";
}

TEST(ImportSentences, CopiesAloneAreNoSteps) {
  std::string events = launched("k", 2000, 10, 1);
  for (int copy = 0; copy < 8; ++copy) {
    events += fmt::format(R"json(, {{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0,
        "tid": 7, "ts": {}, "dur": 90, "args": {{"device": 0, "stream": 7, "bytes": 65536, "correlation": {}}}}})json",
                          100 * copy, copy + 10);
  }
  const Report report = report_with_sheets("t.json", trace_on("", events));
  EXPECT_FALSE(report.profile->steps);
}

TEST(ImportSentences, AGridThatIsNotInTheTraceIsNotSmall) {
  std::string events;
  for (int kernel = 0; kernel < 3; ++kernel) {
    events += events.empty() ? "" : ",";
    events += fmt::format(R"({{"ph": "X", "cat": "kernel", "name": "k{0}", "pid": 0, "tid": 7, "ts": {1}, "dur": 900,
        "args": {{"device": 0, "stream": 7, "correlation": {0}}}}})",
                          kernel + 1, 1000 * kernel);
  }
  const Report report = report_with_sheets("t.json", trace_on("NVIDIA H100 80GB HBM3", events));
  for (const Saving& saving : report.profile->savings) EXPECT_THAT(saving.evidence, Not(HasSubstr("at most 1 block")));
}

TEST(ImportSentences, TablesForReadingNameTheFileToImport) {
  const auto refusal = [](std::string_view text) {
    try {
      import_text("log.txt", text);
    } catch (const Error& error) {
      return std::string(error.what()) + "; " + error.hint();
    }
    return std::string();
  };
  EXPECT_THAT(refusal("----\nCPU name:\tAMD EPYC\nCPU type:\tAMD K19\nCPU clock:\t3.70 GHz\n----\nGroup 1: L2\n"),
              AllOf(HasSubstr("likwid-perfctr"), HasSubstr("-O")));
  EXPECT_THAT(refusal(R"([{"name": "MatMul", "ph": "X", "args": {"Task Type": "AI_CORE"}}])"), HasSubstr("Ascend"));
  EXPECT_THAT(refusal(R"([{"ph": "X", "name": "aten::mm", "ts": "17364124747144.39", "dur": 1, "cat": "cpu_op"}])"),
              HasSubstr("Ascend"));
  EXPECT_THAT(refusal("[7/8] Executing 'cuda_gpu_kern_sum' stats report\n\n Time (%)  Total Time (ns)  Instances\n"),
              HasSubstr("nsys export --type sqlite"));
  EXPECT_THAT(refusal("Time(%),Time,Calls,Avg,Min,Max,Name\n47.79%,542.36ms,45,12.052ms,12.007ms,12.110ms,axpy\n"),
              AllOf(HasSubstr("nvprof"), HasSubstr("nsys")));
  EXPECT_THAT(refusal("Name    Self CPU %   Self CPU   CPU total %   # of Calls\naten::mm  3.1%  5us  4.0%  1\n"),
              AllOf(HasSubstr("torch.profiler"), HasSubstr("export_chrome_trace")));
  EXPECT_THAT(refusal(R"([{"name": "aten::mm", "ph": "X", "ts": 1, "dur": 2, "tid": 1, "pid": "CPU functions"}])"),
              HasSubstr("torch.autograd.profiler"));
  EXPECT_THAT(refusal("PK\3\4 trace.json"), HasSubstr("unzip"));
  EXPECT_THAT(refusal(std::string(257, '\0') + "ustar"), HasSubstr("tar xf"));
  EXPECT_THAT(refusal("BZh91AY"), HasSubstr("gzip"));
  EXPECT_THAT(refusal(std::string("{\0\n\0", 4)), AllOf(HasSubstr("UTF-16"), HasSubstr("iconv")));
}

TEST(ImportSentences, DatabasesOfOtherToolsAreNamed) {
  const auto refusal = [](const char* table) {
    const TemporaryFile file("results.db", "");
    std::filesystem::remove(file.path());
    sqlite3* database = nullptr;
    sqlite3_open(file.path().c_str(), &database);
    EXPECT_EQ(sqlite3_exec(database, table, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(database);
    try {
      read_profile_file(file.path());
    } catch (const Error& error) {
      return std::string(error.what()) + "; " + error.hint();
    }
    return std::string();
  };
  EXPECT_THAT(refusal("CREATE TABLE KERN (\"Index\" INTEGER, \"KernelName\" TEXT, \"BeginNs\" INTEGER)"),
              AllOf(HasSubstr("rocprof (v1)"), HasSubstr("results.csv"), Not(HasSubstr("nsys"))));
  EXPECT_THAT(refusal("CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT NOT NULL)"),
              AllOf(HasSubstr("nvprof"), HasSubstr("nsys profile")));
  EXPECT_THAT(refusal("CREATE TABLE notes (text TEXT)"), HasSubstr("Nsight Systems"));
}

TEST(ImportSentences, CompressedDatabasesAreNamed) {
  // The first 100 bytes of an empty database, as gzip.
  constexpr unsigned char kBytes[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x0b, 0x0e, 0xf4,
                                      0xc9, 0x2c, 0x49, 0x55, 0x48, 0xcb, 0x2f, 0xca, 0x4d, 0x2c, 0x51, 0x30, 0x66,
                                      0xa0, 0x05, 0x00, 0x00, 0xb7, 0xa1, 0x57, 0x85, 0x64, 0x00, 0x00, 0x00};
  const std::string bytes(reinterpret_cast<const char*>(kBytes), sizeof kBytes);
  EXPECT_THAT(refusal_of("step.sqlite.gz", bytes), HasSubstr("compressed"));
}

TEST(Roofs, OfAmdArePerDeviceAndDense) {
  struct Sheet {
    const char* name;
    double fp64, fp32, fp16, bf16, memory;  // TFLOP/s, TB/s
  };
  constexpr Sheet kSheets[] = {
      {"AMD Instinct MI100", 11.5, 23.1, 184.6, 92.3, 1.23},   {"AMD Instinct MI210", 22.6, 22.6, 181, 181, 1.64},
      {"AMD Instinct MI250", 22.6, 22.6, 181, 181, 1.64},      {"AMD Instinct MI250X", 23.9, 23.9, 191.5, 191.5, 1.64},
      {"AMD Instinct MI300A", 61.3, 122.6, 980.6, 980.6, 5.3}, {"AMD MI300X", 81.7, 163.4, 1307.4, 1307.4, 5.3},
      {"AMD Instinct MI325X", 81.7, 163.4, 1307.4, 1307.4, 6}, {"AMD Instinct MI355X", 78.6, 157.3, 2516.6, 2516.6, 8},
  };
  for (const Sheet& sheet : kSheets) {
    const Machine machine = data_sheet_machine({.name = sheet.name});
    const auto rate = [&](Pipe pipe) { return machine.compute(pipe)->value * 1e-12; };
    EXPECT_NEAR(rate(Pipe::fp64), sheet.fp64, 0.05) << sheet.name;
    EXPECT_NEAR(rate(Pipe::fp32), sheet.fp32, 0.05) << sheet.name;
    EXPECT_NEAR(rate(Pipe::tensor_fp16), sheet.fp16, 0.05) << sheet.name;
    EXPECT_NEAR(rate(Pipe::tensor_bf16), sheet.bf16, 0.05) << sheet.name;
    EXPECT_NEAR(machine.slope(Level::hbm)->value * 1e-12, sheet.memory, 0.01) << sheet.name;
    EXPECT_THAT(not_measured(machine), HasSubstr(sheet.name));
  }
  EXPECT_EQ(data_sheet_machine({.name = "AMD Instinct MI300X"}).largest_cache_bytes(), 256e6) << "Infinity Cache";
  EXPECT_TRUE(data_sheet_machine({.name = "AMD Radeon RX 7900 XTX"}).ceilings.empty());
}

TEST(ImportSentences, APipeIsNotIdleBecauseNothingWasCounted) {
  const auto evidence_of = [](const std::string& events) {
    std::string text;
    for (const Verdict& verdict : verdicts(report_with_sheets("t.json", trace_on("NVIDIA H100 80GB HBM3", events)))) {
      for (const auto& [what, value] : verdict.evidence) text += what + "\n";
    }
    return text;
  };
  EXPECT_THAT(evidence_of(launched("k", 10, 5, 1)), Not(HasSubstr("FP32")));
  EXPECT_THAT(evidence_of(product_at(10, 1)), HasSubstr("FP32"));
}

TEST(ImportSentences, ModelledRowsOfAnUnknownGpuNeedItsRoofs) {
  const Report nvidia = report_with_sheets("t.json", trace_on("", product_at(10, 1)));
  ASSERT_EQ(verdicts(nvidia).size(), 1U);
  EXPECT_THAT(verdicts(nvidia)[0].action, AllOf(HasSubstr("--machine"), Not(HasSubstr("ncu"))));
  const Report uncounted = report_with_sheets("t.json", trace_on("", launched("k", 10, 5, 1)));
  EXPECT_THAT(verdicts(uncounted).at(0).action, HasSubstr("ncu"));
}

TEST(ImportSentences, ATraceOfAnIntelGpuIsNotOneOfCuda) {
  std::string events = launched("k", 10, 5, 1);
  for (const auto& [from, to] :
       {std::pair("cuda_runtime", "xpu_runtime"), std::pair("cudaLaunchKernel", "urEnqueue")}) {
    events.replace(events.find(from), std::string_view(from).size(), to);
  }
  const Report report = report_with_sheets("t.json", trace_on("", events));
  EXPECT_THAT(report.machine.device.name, HasSubstr("Intel"));
  EXPECT_THAT(verdicts(report).at(0).action, Not(HasSubstr("ncu")));
  EXPECT_THAT(report.profile->why_no_counters, Not(HasSubstr("ncu")));
  const std::string page = render_markdown(report);
  EXPECT_THAT(page, Not(HasSubstr("CUDA call")));
}

TEST(ImportSentences, IntegersHaveNoRidgeWithoutKernelsThatUseThem) {
  const Report report = report_with_sheets("t.json", trace_on("NVIDIA A100-SXM4-80GB", launched("k", 10, 5, 1)));
  ASSERT_NE(report.machine.compute(Pipe::tensor_int8), nullptr);
  const std::string label = ridge_label(roofs_of(report));
  EXPECT_THAT(label, AllOf(Not(IsEmpty()), Not(HasSubstr("int8"))));
}

}  // namespace
}  // namespace roofline
