// Traces of torch.profiler: kernels find their operators, places and work, and broken ones are refused with their
// place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "import/byte_source.hpp"
#include "import/chrome_events.hpp"
#include "import/roofs.hpp"
#include "render/render.hpp"
#include "report/json/json.hpp"
#include "report/profile_answer.hpp"
#include "report/profile_findings.hpp"
#include "report/work_source.hpp"
#include "tests/support/import_files.hpp"
#include "tests/support/mentions.hpp"
#include "tests/support/profile_report.hpp"

namespace roofline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string trace_of(const std::string& events) {
  return R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132,
    "computeMajor": 9, "computeMinor": 0}], "traceEvents": [)" +
         events + "]}";
}

constexpr const char* kStep = R"(
  {"ph": "X", "cat": "user_annotation", "name": "step", "pid": 1, "tid": 1, "ts": 0, "dur": 100, "args": {}},
  {"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 1, "tid": 1, "ts": 1, "dur": 50, "args": {}},
  {"ph": "X", "cat": "python_function", "name": "train.py(12): forward", "pid": 1, "tid": 1, "ts": 2, "dur": 40, "args": {}},
  {"ph": "X", "cat": "python_function", "name": "torch/nn/modules/linear.py(134): forward", "pid": 1, "tid": 1, "ts": 3,
   "dur": 30, "args": {}},
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 20, "args": {"External id": 7,
   "Input Dims": [[64, 32], [32, 16]], "Input type": ["c10::BFloat16", "c10::BFloat16"]}},
  {"ph": "s", "id": 3, "cat": "fwdbwd", "name": "fwdbwd", "pid": 1, "tid": 1, "ts": 10},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 15, "dur": 5,
   "args": {"External id": 7, "correlation": 99}},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 30.5, "dur": 12.25, "args": {"External id": 7,
   "device": 0, "context": 1, "stream": 7, "correlation": 99, "registers per thread": 32, "grid": [4, 2, 1],
   "block": [128, 1, 1]}},
  {"ph": "X", "cat": "cpu_op", "name": "MmBackward0", "pid": 1, "tid": 2, "ts": 60, "dur": 30, "args": {"External id": 8}},
  {"ph": "f", "id": 3, "cat": "fwdbwd", "name": "fwdbwd", "pid": 1, "tid": 2, "ts": 60, "bp": "e"},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": 65, "dur": 5,
   "args": {"correlation": 100}},
  {"ph": "X", "cat": "kernel", "name": "gemm_backward", "pid": 0, "tid": 7, "ts": 75, "dur": 8, "args": {"device": 0,
   "stream": 7, "correlation": 100, "grid": [1, 1, 1], "block": [64, 1, 1]}})";

TEST(Kineto, KernelsHaveTheirOperatorsPlacesAndWork) {
  const TemporaryFile file("trace.json", trace_of(kStep));
  const Report report = report_of_file(file.path());
  ASSERT_EQ(report.points.size(), 2U);
  const Point& gemm = report.points[0];
  EXPECT_EQ(gemm.profiled->operation, "aten::mm(64x32, 32x16)");
  EXPECT_EQ(gemm.profiled->module, "Linear_0");
  EXPECT_EQ(gemm.profiled->line, "train.py:12 forward");
  EXPECT_EQ(gemm.profiled->range, "step");
  EXPECT_NEAR(gemm.time->median, 12.25e-6, 1e-12);
  EXPECT_EQ(gemm.work.flops.at(Pipe::tensor_bf16), 2.0 * 64 * 32 * 16);
  EXPECT_EQ(gemm.work.bytes.at(Level::hbm).read, 2.0 * (64 * 32 + 32 * 16));
  EXPECT_EQ(gemm.work.bytes.at(Level::hbm).write, 2.0 * 64 * 16);
  EXPECT_THAT(gemm.profiled->sources, HasSubstr("torch.profiler"));
  EXPECT_THAT(gemm.profiled->sources, HasSubstr("modelled"));
  EXPECT_FALSE(gemm.counters) << "what is modelled is not shown as counted";
  EXPECT_EQ(gemm.profiled->grid, (std::array<std::int64_t, 3>{4, 2, 1}));
}

TEST(Kineto, BackwardBelongsToItsForward) {
  const TemporaryFile file("trace.json", trace_of(kStep));
  const Report report = report_of_file(file.path());
  const Point& backward = row_named(report, "gemm_backward");
  EXPECT_TRUE(backward.profiled->backward);
  EXPECT_EQ(backward.profiled->module, "Linear_0");
  EXPECT_EQ(backward.profiled->line, "train.py:12 forward");
  EXPECT_TRUE(backward.work.flops.empty()) << "an operator without shapes has a time only";
}

TEST(Kineto, RowsAreHeldAgainstWhatTheGpuPromisesAndSaySo) {
  const TemporaryFile file("trace.json", trace_of(kStep));
  const DeviceFacts device = device_of({read_profile_file(file.path())});
  EXPECT_EQ(device.name, "NVIDIA H100 80GB HBM3");
}

TEST(Kineto, OfSeveralKernelsOfAProductTheLongestHasTheWork) {
  const std::string second = R"(, {"ph": "X", "cat": "kernel", "name": "splitKreduce", "pid": 0, "tid": 7, "ts": 50,
    "dur": 2, "args": {"External id": 7, "device": 0, "stream": 7, "correlation": 99, "grid": [1, 1, 1],
    "block": [32, 1, 1]}})";
  const TemporaryFile file("trace.json", trace_of(kStep + second));
  const Report report = report_of_file(file.path());
  EXPECT_FALSE(row_named(report, "gemm").work.flops.empty());
  EXPECT_TRUE(row_named(report, "splitKreduce").work.flops.empty());
  EXPECT_THAT(row_named(report, "splitKreduce").profiled->not_counted, HasSubstr("another kernel"));
}

TEST(Kineto, CollectivesHaveTheBytesOfTheirLinks) {
  const TemporaryFile file("trace.json", trace_of(R"({"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce",
    "pid": 0, "tid": 20, "ts": 5, "dur": 10, "args": {"device": 0, "stream": 20, "correlation": 5, "grid": [16, 1, 1],
    "block": [512, 1, 1], "Collective name": "allreduce", "In msg nelems": 1000, "Out msg nelems": 1000,
    "Group size": 4, "dtype": "BFloat16"}})"));
  const Report report = report_of_file(file.path());
  EXPECT_EQ(report.points.at(0).work.bytes.at(Level::nvlink).write, 2 * 0.75 * 1000 * 2);
}

TEST(Kineto, OldSpellingsAreUnderstood) {
  const TemporaryFile file("trace.json", R"([{"ph": "X", "cat": "Kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5,
    "dur": 3, "args": {"external id": 1, "device": 0, "stream": 7, "blocks per SM": "inf", "grid": [1,1,1],
    "block": [32,1,1]}}])");
  EXPECT_EQ(report_of_file(file.path()).points.size(), 1U);
}

/// Chrome's format permits an array of events without its end, which is said; nothing else may be missing.
TEST(Kineto, AnArrayOfEventsMayHaveNoEnd) {
  const std::string events = kStep, whole = "[" + events + "]";
  const auto notes_on_end = [](const std::string& text) {
    const ImportedProfile profile = import_text("trace.json", text);
    EXPECT_EQ(profile.trace.kernels.size(), 2U);
    return std::ranges::count(profile.notes, kStayedOpen);
  };
  EXPECT_EQ(notes_on_end(whole), 0);
  for (const char* end : {"", "\n", ",", ",\n\n ", " , "}) EXPECT_EQ(notes_on_end("[" + events + end), 1) << end;
  EXPECT_EQ(notes_on_end("[1, -2.5 ,NaN, \"a],\", " + events), 1) << "what is no event is left out";
  for (const std::string& text : {"[" + events.substr(0, events.size() - 1), "[" + events + ",,", "[" + events + ", {",
                                  "[" + events + ", \"ph", "[" + events + "}", std::string("["), std::string("[,"),
                                  "{\"traceEvents\": [" + events, "{\"traceEvents\": [" + events + "]"})
    EXPECT_THAT(refusal_of("a.json", text), HasSubstr("JSON")) << text.substr(text.size() - 3);
}

TEST(Kineto, HostileFilesAreRefusedWithTheirPlace) {
  EXPECT_THAT(refusal_of("a.json", "{\"traceEvents\": [{\"ph\": \"X\", "), HasSubstr("byte"));
  EXPECT_THAT(refusal_of("a.json", "{}"), HasSubstr("traceEvents"));
  EXPECT_THAT(refusal_of("a.json", std::string(1'000'000, '[')), HasSubstr("nested deeper"));
  EXPECT_THAT(refusal_of("a.json", "{\"traceEvents\": [{\"name\": \"" + std::string(20'000'000, 'x')),
              mentions("16 MB"));
  const auto kernel = [](const char* times) {
    return trace_of(std::string(R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, )") + times + "}");
  };
  for (const char* times :
       {R"("ts": 5, "dur": -3)", R"("ts": NaN, "dur": 1)", R"("ts": 1e300, "dur": 1)", R"("dur": 1)"}) {
    EXPECT_EQ(import_text("a.json", kernel(times)).time_defects.without_time.count, 1) << times;
  }
  EXPECT_EQ(refusal_of("a.json", kernel(R"("ts": 1, "ts": 2, "dur": 1)")), "") << "duplicate keys: the last holds";
}

TEST(Kineto, ARecordedTrainingStep) {
  const Report report = report_of_file(recorded("trace.json.gz"));
  EXPECT_EQ(report.profile->devices.at(0).device_name, "NVIDIA H200");
  const Point& mm = row_named(report, "aten::addmm(4096, 32768x1024, 1024x4096)");
  EXPECT_EQ(mm.work.total_flops(), 2.0 * 32768 * 1024 * 4096);
  const Point& attention = row_named(report, "aten::_cudnn_attention_forward");
  EXPECT_GT(attention.work.total_flops(), 0);
  double modelled = 0;
  for (const Point& point : report.points) {
    if (!point.work.bytes.empty()) modelled += point.profiled->total_s;
  }
  EXPECT_GT(modelled / report.profile->kernel_s, 0.8) << "the models cover most of its time";
}

TEST(Kineto, ModelledBytesAreTheLeastEverywhere) {
  DeviceFacts device;
  device.name = "NVIDIA H100 80GB HBM3";
  const TemporaryFile file("trace.json", trace_of(kStep));
  const Report report = report_of_file(file.path(), data_sheet_machine(device));
  const Point& gemm = report.points[0];
  EXPECT_EQ(work_source(gemm), "modelled");
  EXPECT_TRUE(bytes_is_lower_bound(gemm));
  EXPECT_FALSE(bytes_is_lower_bound(report.points[1])) << "without work there is nothing to say of it";
  EXPECT_EQ(why_no_roofs(report), "") << "models have roofs, too";
  EXPECT_THAT(answer(report), HasSubstr("data-sheet peak"));
  const std::string json = render_json(report);
  EXPECT_THAT(json, AllOf(HasSubstr("\"work\": \"modelled\""), HasSubstr("\"at_roof_s\": \"modelled\"")));
  EXPECT_EQ(parse_report(json, "report.json").points[0].profiled->work_source, WorkSource::modelled);
  const std::string svg = render_svg(report, {});
  const auto claims_measured_roofs = HasSubstr("roofs measured on this machine");
  EXPECT_THAT(svg, AllOf(HasSubstr("data-bytes=\"least\""), HasSubstr("at most"), HasSubstr("not measured"),
                         Not(claims_measured_roofs)));
  EXPECT_THAT(render_svg(example::profile_report()), claims_measured_roofs);
  EXPECT_THAT(render_markdown(report), AllOf(HasSubstr("| modelled |"), HasSubstr("\u2264 ")));
  EXPECT_THAT(render_csv(report), AllOf(HasSubstr("time_source,work_source,sources"), HasSubstr(",traced,modelled,")));
}

std::string kernel_on(int device, int ts) {
  return fmt::format(R"({{"ph": "X", "cat": "kernel", "name": "k{0}", "pid": {0}, "tid": 7, "ts": {1}, "dur": 5,
      "args": {{"device": {0}, "stream": 7}}}})",
                     device, ts);
}

std::vector<int> gpus_of(const Report& report) {
  std::vector<int> gpus;
  for (const WallTime& wall : report.profile->devices) gpus.push_back(wall.device);
  return gpus;
}

TEST(Kineto, GpusHaveTheirOrdinals) {
  const Report one = report_of_file(TemporaryFile("t.json", trace_of(kernel_on(3, 10))).path());
  EXPECT_THAT(gpus_of(one), testing::ElementsAre(3));
  EXPECT_EQ(one.points.at(0).profiled->device, 3);
  const Report two =
      report_of_file(TemporaryFile("t.json", trace_of(kernel_on(5, 10) + "," + kernel_on(0, 30))).path());
  EXPECT_THAT(gpus_of(two), testing::UnorderedElementsAre(0, 5));
  for (const Point& point : two.points) {
    EXPECT_EQ(point.profiled->full_name, fmt::format("k{}", point.profiled->device));
  }
}

TEST(Kineto, RanksThatEachSeeOneGpuAreTold) {
  const TemporaryFile first("a.json", trace_of(kernel_on(0, 10))), second("b.json", trace_of(kernel_on(0, 10)));
  std::vector<std::string> joined;
  EXPECT_THAT(gpus_of(report_of_files({first.path(), second.path()}, joined)), testing::ElementsAre(0, 1));
}

/// What a trace without GPU events is to be recorded with.
std::string how_to_record(const std::string& events) {
  std::string text;
  for (const std::string& note : import_text("t.json", trace_of(events)).notes) text += note + "\n";
  return text;
}

TEST(Kineto, LaunchesWithoutKernelsAreNotForALackingActivity) {
  const std::string op = R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 9})";
  const std::string launch = R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
      "ts": 2, "dur": 1, "args": {"correlation": 1}})";
  const std::string other =
      R"({"ph": "X", "cat": "PrivateUse1", "name": "mul", "pid": 1, "tid": 7, "ts": 5, "dur": 1})";
  EXPECT_THAT(how_to_record(op), HasSubstr("ProfilerActivity.CUDA"));
  EXPECT_THAT(how_to_record(op + "," + launch), AllOf(HasSubstr("1 launch,"), Not(HasSubstr("ProfilerActivity"))));
  EXPECT_THAT(how_to_record(op + "," + other), AllOf(HasSubstr("PrivateUse1)"), Not(HasSubstr("ProfilerActivity"))));
}

}  // namespace
}  // namespace roofline
