// Traces of torch.profiler of all versions and devices: which operator a kernel belongs to, what is left out, and what
// is not said where the trace does not show it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>
#include <vector>

#include "report/budget.hpp"
#include "tests/support/import_files.hpp"
#include "tests/support/mentions.hpp"

namespace roofline {
namespace {

using testing::HasSubstr;

std::string trace_with(const std::vector<std::string>& events) {
  std::string text = R"({"deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB"}], "traceEvents": [)";
  for (std::size_t i = 0; i < events.size(); ++i) text += (i == 0 ? "" : ", ") + events[i];
  return text + "]}";
}

std::string event(const char* category, const std::string& name, int process, int start, const std::string& duration,
                  const std::string& arguments) {
  return R"({"ph": "X", "cat": ")" + std::string(category) + R"(", "name": ")" + name + R"(", "pid": )" +
         std::to_string(process) + R"(, "tid": 1, "ts": )" + std::to_string(start) + R"(, "dur": )" + duration +
         R"(, "args": {)" + arguments + "}}";
}

std::string product(int process, int start, int external, int rows = 64) {
  return event("cpu_op", "aten::mm", process, start, "60",
               "\"External id\": " + std::to_string(external) + ", \"Input Dims\": [[" + std::to_string(rows) +
                   R"(, 32], [32, 16]], "Input type": ["float", "float"])");
}

std::string launch(int process, int start, int number, const char* category = "cuda_runtime",
                   const char* name = "cudaLaunchKernel") {
  const std::string id = std::to_string(number);
  return event(category, name, process, start, "4", "\"External id\": " + id + ", \"correlation\": " + id);
}

std::string kernel(const std::string& name, int start, const std::string& duration, int correlation, int external,
                   int device = 0) {
  return event("kernel", name, device, start, duration,
               "\"External id\": " + std::to_string(external) + ", \"correlation\": " + std::to_string(correlation) +
                   ", \"device\": " + std::to_string(device) +
                   R"(, "stream": 7, "grid": [4, 1, 1], "block": [128, 1, 1])");
}

Report report_of_text(const std::string& text) { return report_of_file(TemporaryFile("trace.json", text).path()); }

double booked_flops(const Report& report) {
  double sum = 0;
  for (const Point& point : report.points) {
    sum += point.work.total_flops() * static_cast<double>(point.profiled->launches);
  }
  return sum;
}

constexpr double kProductFlops = 2.0 * 64 * 32 * 16;

std::string all_notes(const Report& report) {
  std::string text;
  for (const std::string& note : report.notes) text += note + "\n";
  return text;
}

TEST(ImportAttribution, EventsThatAreInTheFileTwiceCountOnce) {
  const std::vector<std::string> once = {product(1, 100, 5), launch(1, 110, 9), kernel("gemm", 200, "50", 9, 5)};
  std::vector<std::string> twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  for (const std::vector<std::string>& events : {once, twice}) {
    const Report report = report_of_text(trace_with(events));
    EXPECT_EQ(booked_flops(report), kProductFlops);
    EXPECT_EQ(report.points.at(0).profiled->launches, 1);
    EXPECT_EQ(report.profile->calls.at(0).calls, 1);
  }
}

TEST(ImportAttribution, WorkIsOfTheOperatorAroundTheCallWhateverTheExternalId) {
  // As the operator's number, as the correlation, and as the number of another operator.
  for (const int external : {7, 101, 8}) {
    const Report report = report_of_text(
        trace_with({product(1, 1000, 7), launch(1, 1010, 101), launch(1, 1020, 102),
                    event("cpu_op", "aten::relu", 1, 2000, "30",
                          R"("External id": 8, "Input Dims": [[1024]], "Input type": ["float"])"),
                    kernel("gemm", 1050, "20", 101, external), kernel("reduce", 1080, "5", 102, external + 1000)}));
    EXPECT_EQ(row_named(report, "gemm").work.total_flops(), kProductFlops) << external;
    EXPECT_TRUE(row_named(report, "reduce").work.flops.empty()) << external;
    EXPECT_EQ(row_named(report, "reduce").profiled->operation, row_named(report, "gemm").profiled->operation);
    EXPECT_EQ(booked_flops(report), kProductFlops) << external;
  }
}

TEST(ImportAttribution, WithoutACallTheExternalIdNamesTheOperator) {
  const Report known = report_of_text(trace_with({product(1, 1000, 7), kernel("gemm", 1050, "20", 101, 7)}));
  EXPECT_EQ(booked_flops(known), kProductFlops);
  const Report later = report_of_text(trace_with({product(1, 9000, 7), kernel("gemm", 1050, "20", 101, 7)}));
  EXPECT_EQ(booked_flops(later), 0) << "an operator that begins after the kernel did not launch it";
  const Report elsewhere =
      report_of_text(trace_with({product(1, 1000, 7), launch(1, 5000, 101), kernel("gemm", 5050, "20", 101, 7)}));
  EXPECT_EQ(booked_flops(elsewhere), 0) << "the call is outside of the operator";
}

TEST(ImportAttribution, EqualKernelsOfOneCallShareItsWork) {
  const Report report =
      report_of_text(trace_with({product(1, 1000, 7), launch(1, 1010, 101), launch(1, 1020, 102),
                                 kernel("gemm", 1050, "20", 101, 7), kernel("gemm", 1080, "21", 102, 7)}));
  EXPECT_EQ(report.points.size(), 1U);
  EXPECT_EQ(booked_flops(report), kProductFlops);
}

TEST(ImportAttribution, TheKernelWithTheWorkIsTheSameInEveryCall) {
  std::vector<std::string> events;
  for (int i = 0; i < 10; ++i) {
    const int at = 1000 * (i + 1);
    // Once another kernel of the operator takes longer.
    events.insert(events.end(), {product(1, at, i), launch(1, at + 10, 100 + i), launch(1, at + 20, 200 + i),
                                 kernel("gemm", at + 50, "20", 100 + i, i),
                                 kernel("reduce", at + 90, i == 3 ? "30" : "5", 200 + i, i)});
  }
  const Report report = report_of_text(trace_with(events));
  EXPECT_EQ(row_named(report, "gemm").work.total_flops(), kProductFlops);
  EXPECT_DOUBLE_EQ(booked_flops(report), 10 * kProductFlops);
}

/// Iterations of a range share a row, and calls of which the trace lacks a kernel are not the same in each of them.
TEST(ImportAttribution, WorkIsThatOfAllIterationsOfARange) {
  std::vector<std::string> events;
  const std::vector<std::vector<bool>> has_product = {{false, false, true}, {false, true, true}};
  int start = 100, number = 10;
  for (std::size_t step = 0; step < has_product.size(); ++step) {
    events.push_back(event("user_annotation", "Iteration#" + std::to_string(step), 1, start - 10, "2000", ""));
    for (const bool has : has_product[step]) {
      events.push_back(product(1, start, number));
      for (const bool longer : {true, false}) {
        if (longer && !has) continue;
        events.push_back(launch(1, start + (longer ? 5 : 15), ++number));
        events.push_back(
            kernel(longer ? "gemm" : "epilogue", start + (longer ? 100 : 200), longer ? "50" : "5", number, number));
      }
      start += 500;
      number += 10;
    }
    start += 1000;
  }
  const Report report = report_of_text(trace_with(events));
  ASSERT_EQ(report.points.size(), 2U);
  EXPECT_DOUBLE_EQ(booked_flops(report), 6 * kProductFlops);
  EXPECT_DOUBLE_EQ(row_named(report, "epilogue").work.total_flops(), 0.5 * kProductFlops);
  EXPECT_DOUBLE_EQ(row_named(report, "gemm").work.total_flops(), kProductFlops);
}

TEST(ImportAttribution, NumbersAreNotJoinedAcrossProcesses) {
  // Two ranks with the same numbers and different products, each with a GPU.
  const auto report = [](bool differ) {
    std::vector<std::string> events = {
        product(11, 1000, 7, 64),  launch(11, 1010, 101), kernel("gemm_a", 1050, "20", 101, 7, 0),
        product(12, 1000, 7, 128), launch(12, 1010, 101), kernel("gemm_b", 1050, "20", 101, 7, 1)};
    if (differ) events.insert(events.end(), {launch(11, 1070, 102), kernel("other_a", 1080, "20", 102, 7, 0)});
    return report_of_text(trace_with(events));
  };
  const Report apart = report(true);
  EXPECT_EQ(row_named(apart, "gemm_a").work.total_flops(), kProductFlops);
  EXPECT_EQ(row_named(apart, "gemm_b").work.total_flops(), 2 * kProductFlops);
  EXPECT_EQ(booked_flops(report(false)), 0) << "both processes fit both kernels";
}

TEST(ImportAttribution, AKernelOfAHostProcessIsOfThatProcess) {
  const auto kernel_of = [](const char* name, int process) {
    return event("kernel", name, process, 1050, "20", R"("correlation": 101, "device": 0, "stream": 7)");
  };
  const Report report =
      report_of_text(trace_with({product(1, 1000, 7, 64), launch(1, 1010, 101), kernel_of("gemm_a", 1),
                                 product(2, 1000, 7, 128), launch(2, 1010, 101), kernel_of("gemm_b", 2)}));
  EXPECT_EQ(row_named(report, "gemm_a").work.total_flops(), kProductFlops);
  EXPECT_EQ(row_named(report, "gemm_b").work.total_flops(), 2 * kProductFlops);
}

TEST(ImportAttribution, CategoriesOfAllVersionsAreKnown) {
  for (const bool old : {false, true}) {
    const ImportedProfile profile = import_text(
        "trace.json",
        trace_with({event(old ? "Memcpy" : "gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 10, "400",
                          R"("bytes": 4000000, "device": 0, "stream": 7)"),
                    event(old ? "Memset" : "gpu_memset", "Memset (Device)", 0, 500, "5",
                          R"("bytes": 4096, "device": 0, "stream": 7)"),
                    event(old ? "Runtime" : "hip_runtime", "hipLaunchKernel", 1, 600, "5", R"("correlation": 1)"),
                    kernel("k", 610, "5", 1, 1)}));
    ASSERT_EQ(profile.trace.copies.size(), 1U);
    EXPECT_EQ(profile.trace.copies[0].bytes, 4000000U);
    ASSERT_EQ(profile.trace.fills.size(), 1U);
    EXPECT_EQ(profile.trace.launches.size(), 1U);
  }
}

TEST(ImportAttribution, UnknownCategoriesAreCountedAndNamed) {
  const std::string known = kernel("k", 10, "5", 1, 1), unknown = event("npu_counters", "c", 0, 10, "5", "");
  EXPECT_THAT(all_notes(report_of_text(trace_with({known, unknown, unknown}))), HasSubstr("npu_counters (2)"));
  EXPECT_THAT(all_notes(report_of_text(trace_with({known}))), testing::Not(HasSubstr("kernel (1)")));
}

TEST(ImportAttribution, WithoutCallsIdleTimeHasNoCause) {
  const auto report = [](bool calls, const char* category) {
    std::vector<std::string> events;
    for (int i = 1; i <= 6; ++i) {
      events.push_back(kernel("k", 1000 * i, "100", i, i));
      if (calls) events.push_back(launch(1, 1000 * i - 20, i, category, "urEnqueueKernelLaunch"));
    }
    return report_of_text(trace_with(events));
  };
  const auto idle = [](const Report& of, WallPart part) { return run_budgets(of).at(0).seconds(part); };
  const Report without = report(false, "");
  EXPECT_NEAR(idle(without, WallPart::idle_unknown), 5 * 900e-6, 1e-9);
  for (const WallPart part : {WallPart::launching, WallPart::waiting, WallPart::elsewhere}) {
    EXPECT_EQ(idle(without, part), 0) << to_string(part);
  }
  for (const Saving& saving : without.profile->savings) {
    EXPECT_TRUE(saving.kind != SavingKind::idle || saving.cause == SavingCause::unknown_idle);
  }
  for (const char* category : {"cuda_runtime", "xpu_runtime", "npu_runtime"}) {
    const Report with = report(true, category);
    EXPECT_EQ(idle(with, WallPart::idle_unknown), 0) << category;
    EXPECT_GT(idle(with, WallPart::elsewhere), 0) << category;
    EXPECT_GT(idle(with, WallPart::launching), 0) << category;
  }
}

TEST(ImportAttribution, ATraceWithoutGpuActivityIsAnErrorThatNamesItsCategories) {
  const std::vector<std::string> host = {product(1, 1000, 7), event("mtia_ccp_events", "mm", 0, 1010, "5", "")};
  std::vector<std::string> joined;
  const TemporaryFile file("trace.json", trace_with(host));
  try {
    report_of_files({file.path()}, joined);
    ADD_FAILURE() << "nothing to report on";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
    EXPECT_THAT(error.hint(), HasSubstr("mtia_ccp_events (1)"));
  }
  const TemporaryFile copies("copies.json", trace_with({event("gpu_memcpy", "Memcpy DtoD", 0, 10, "5", "")}));
  EXPECT_TRUE(report_of_files({file.path(), copies.path()}, joined).points.empty()) << "copies are an activity";
}

TEST(ImportAttribution, NumbersThatAreNoneAreReadAsPythonAndCWriteThem) {
  for (const char* number : {"NaN", "Infinity", "-Infinity", "inf", "-inf", "nan", "-nan", "1e999", "7"}) {
    const std::string argument = std::string("\"blocks per SM\": ") + number + ", \"bytes\": " + number;
    const ImportedProfile read = import_text(
        "trace.json", trace_with({event("gpu_memcpy", "c", 0, 10, "5", argument), kernel("k", 20, "5", 1, 1)}));
    EXPECT_EQ(read.trace.kernels.size(), 1U) << number;
    ASSERT_EQ(read.trace.copies.size(), 1U) << number;
    EXPECT_EQ(read.trace.copies[0].bytes, std::string(number) == "7" ? 7U : 0U) << number;
  }
  const std::string in_text = trace_with({kernel("a NaN, inf and \\\"NaN\\\"", 20, "5", 1, 1)});
  EXPECT_EQ(row_named(report_of_text(in_text), "inf").profiled->full_name, "a NaN, inf and \"NaN\"");
  EXPECT_NE(refusal_of("trace.json", trace_with({event("kernel", "k", 0, 1, "NaNo", "")})), "");
}

TEST(ImportAttribution, KernelsWithoutValidTimesAreLaunchesWithoutATime) {
  for (const char* duration : {"NaN", "inf", "-3", "1e300", "null", "\"5\""}) {
    const Report report =
        report_of_text(trace_with({kernel("good", 10, "5", 1, 1), kernel("bad_one", 20, duration, 2, 2)}));
    EXPECT_NEAR(report.profile->kernel_s, 5e-6, 1e-12) << duration;
    ASSERT_EQ(report.profile->processes.size(), 1U);
    EXPECT_EQ(report.profile->processes[0].without_time, 1) << duration;
    EXPECT_THAT(all_notes(report), HasSubstr("bad_one")) << duration;
  }
  const Report good = report_of_text(trace_with({kernel("good", 10, "5", 1, 1), kernel("good_too", 20, "5", 2, 2)}));
  EXPECT_EQ(good.points.size(), 2U);
  EXPECT_THAT(all_notes(good), testing::Not(HasSubstr("good_too")));
}

/// Kernels of these names, 400 us apart, each launched by a call that takes 380 us.
std::string slow_launches(const std::vector<std::string>& kernels) {
  std::string events;
  int number = 0;
  for (const std::string& kernel : kernels) {
    const int ts = 400 * ++number;
    events += fmt::format(
        R"({}{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": {}, "dur": 380,
            "args": {{"correlation": {}}}}},
           {{"ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": 7, "ts": {}, "dur": 5,
            "args": {{"device": 0, "stream": 7, "correlation": {}}}}})",
        events.empty() ? "" : ",", ts - 390, number, kernel, ts, number);
  }
  return events;
}

TEST(ImportAttribution, TheFirstLaunchOfAKernelTellsNothingOfItsRate) {
  const auto launching_s = [](const std::vector<std::string>& kernels) {
    const TemporaryFile file("t.json", "{\"traceEvents\": [" + slow_launches(kernels) + "]}");
    const Report report = report_of_file(file.path());
    double sum = 0;
    for (const Saving& saving : report.profile->savings) {
      const bool rate = saving.cause == SavingCause::launch_rate || saving.cause == SavingCause::tiny_kernels;
      sum += rate ? saving.seconds : 0;
    }
    return sum;
  };
  EXPECT_EQ(launching_s({"a", "b", "c"}), 0);
  EXPECT_GT(launching_s({"a", "a", "a"}), 0);
}

}  // namespace
}  // namespace roofline
