// The work of imported operators: each library's convolutions and their gradients, fp32 products on tensor cores,
// results in place and in `out=`, rows above their roof, and GPUs of several models in one file.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/above_roof.hpp"
#include "import/op_work.hpp"
#include "import/product_pipe.hpp"
#include "import/roofs.hpp"
#include "profile/rows.hpp"
#include "report/diagnosis/verdict.hpp"
#include "report/json/json.hpp"
#include "report/profile_findings.hpp"
#include "report/roofs.hpp"
#include "report/work_source.hpp"
#include "tests/support/import_files.hpp"

namespace roofline {
namespace {

constexpr double kProduct = 2.0 * 8192 * 8192 * 8192;

std::optional<OpWork> convolution(const std::string& name, const std::string& dims, const std::string& concrete) {
  return work_of({.name = name,
                  .dims = dims,
                  .types = R"(["float","float","float","ScalarList","ScalarList","ScalarList","ScalarList"])",
                  .concrete = concrete});
}

double flops_of(const std::optional<OpWork>& work) { return work ? work->work.total_flops() : 0; }
const Traffic& bytes_of(const Work& work) { return work.bytes.at(Level::hbm); }

TEST(ImportedConvolution, EachLibraryHasItsOrderOfArguments) {
  // Stride 2 and padding 1 of 56 x 56: 28 x 28.
  const double expected = 2.0 * 8 * 28 * 28 * 32 * 64 * 9;
  const char* without_bias = "[[8,64,56,56],[32,64,3,3],[],[],[],[],[],[],[]]";
  const char* with_bias = "[[8,64,56,56],[32,64,3,3],[32],[],[],[],[],[],[]]";
  const char* psd = R"(["","","[1, 1]","[2, 2]","[1, 1]","1","False","False","True"])";
  const char* bias_psd = R"(["","","","[1, 1]","[2, 2]","[1, 1]","1","False","False"])";
  const char* bias_spd = R"(["","","","[2, 2]","[1, 1]","[1, 1]","False","[0, 0]","1"])";
  const char* window_spd = R"(["","","[3, 3]","","[2, 2]","[1, 1]","[1, 1]"])";
  EXPECT_EQ(flops_of(convolution("aten::cudnn_convolution", without_bias, psd)), expected);
  for (const char* name : {"aten::cudnn_convolution", "aten::miopen_convolution", "aten::miopen_depthwise_convolution",
                           "aten::mkldnn_convolution"}) {
    EXPECT_EQ(flops_of(convolution(name, with_bias, bias_psd)), expected) << name;
  }
  for (const char* name : {"aten::convolution", "aten::_convolution", "aten::convolution_overrideable", "aten::conv2d",
                           "aten::cudnn_convolution_relu"}) {
    EXPECT_EQ(flops_of(convolution(name, with_bias, bias_spd)), expected) << name;
  }
  for (const char* name :
       {"aten::thnn_conv2d", "aten::_slow_conv2d_forward", "aten::slow_conv_dilated2d", "aten::_conv_depthwise2d"}) {
    EXPECT_EQ(flops_of(convolution(name, "[[8,64,56,56],[32,64,3,3],[],[],[],[],[]]", window_spd)), expected) << name;
  }
  const auto biased = convolution("aten::miopen_convolution", with_bias, bias_psd);
  EXPECT_EQ(bytes_of(biased->work).read, 4.0 * (8 * 64 * 56 * 56 + 32 * 64 * 9 + 32));
  EXPECT_EQ(bytes_of(biased->work).write, 4.0 * 8 * 32 * 28 * 28);
}

TEST(ImportedConvolution, DepthwiseMultipliesOneChannelPerFilter) {
  const auto work = convolution("aten::_conv_depthwise2d", "[[8,64,56,56],[64,1,3,3],[],[],[],[],[]]",
                                R"(["","","[3, 3]","","[1, 1]","[1, 1]","[1, 1]"])");
  EXPECT_EQ(flops_of(work), 2.0 * 8 * 56 * 56 * 64 * 9);
}

TEST(ImportedConvolution, TransposedOnesMultiplyAtEachInputPosition) {
  const double expected = 2.0 * 6 * 30 * 96 * 192 * 384 * 4;
  const char* dims = "[[6,192,30,96],[192,384,2,2],[],[],[],[],[],[],[],[]]";
  const char* posd = R"(["","","[0, 0]","[0, 0]","[2, 2]","[1, 1]","1","False","False","True"])";
  const char* bias_posd = R"(["","","","[0, 0]","[0, 0]","[2, 2]","[1, 1]","1","False","False"])";
  const auto cudnn = convolution("aten::cudnn_convolution_transpose", dims, posd);
  EXPECT_EQ(flops_of(cudnn), expected);
  EXPECT_EQ(bytes_of(cudnn->work).write, 4.0 * 6 * 384 * 60 * 192) << "stride 2 doubles the extents";
  EXPECT_EQ(flops_of(convolution("aten::miopen_convolution_transpose", dims, bias_posd)), expected);
  const auto flagged = [&](const char* flag) {
    return convolution("aten::convolution", dims,
                       fmt::format(R"(["","","","[2, 2]","[0, 0]","[1, 1]","{}","[0, 0]","1"])", flag));
  };
  EXPECT_EQ(flops_of(flagged("True")), expected);
  EXPECT_NE(flops_of(flagged("False")), expected);
  EXPECT_FALSE(flagged("")) << "the flag was not recorded";
  const auto grouped = convolution("aten::cudnn_convolution_transpose", "[[6,192,30,96],[192,48,2,2],[],[],[],[]]",
                                   R"(["","","[0, 0]","[0, 0]","[2, 2]","[1, 1]","8"])");
  EXPECT_EQ(flops_of(grouped), expected / 8);
  EXPECT_EQ(bytes_of(grouped->work).write, bytes_of(cudnn->work).write);
}

std::optional<OpWork> gradients(const char* mask) {
  return convolution("aten::convolution_backward", "[[8,64,56,56],[8,32,56,56],[64,32,3,3],[],[],[],[],[],[],[],[]]",
                     fmt::format(R"(["","","","[64]","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1","{}"])", mask));
}

TEST(ImportedConvolution, TheMaskSaysWhichGradientsWereComputed) {
  const double expected = 2.0 * 8 * 56 * 56 * 64 * 32 * 9;
  const double output = 4.0 * 8 * 64 * 56 * 56, input = 4.0 * 8 * 32 * 56 * 56, weight = 4.0 * 64 * 32 * 9;
  const auto of_weight = gradients("[False, True, False]");
  EXPECT_EQ(flops_of(of_weight), expected);
  EXPECT_TRUE(of_weight->by_longest_kernel && of_weight->gradients.empty());
  EXPECT_EQ(bytes_of(of_weight->work).read, output + input);
  EXPECT_EQ(bytes_of(of_weight->work).write, weight);
  const auto of_input = gradients("[True, False, True]");
  EXPECT_EQ(bytes_of(of_input->work).read, output + weight);
  EXPECT_EQ(bytes_of(of_input->work).write, input);
  const auto both = gradients("[True, True, False]");
  EXPECT_FALSE(both->by_longest_kernel);
  EXPECT_EQ(both->gradients.at(Gradient::input).total_flops(), expected);
  EXPECT_EQ(both->gradients.at(Gradient::weight).total_flops(), expected);
  EXPECT_EQ(flops_of(gradients("[False, False, True]")), 8.0 * 64 * 56 * 56) << "sums of the bias";
  EXPECT_FALSE(gradients("[False, False, False]"));
  EXPECT_EQ(gradients("")->gradients.size(), 2U) << "not recorded: the kernels' names decide";
}

TEST(ImportedConvolution, OlderBackwardOperatorsGiveShapesAsLists) {
  const double expected = 2.0 * 8 * 56 * 56 * 64 * 32 * 9;
  const auto of_input = convolution("aten::cudnn_convolution_backward_input", "[[],[8,64,56,56],[64,32,3,3],[],[],[]]",
                                    R"(["[8, 32, 56, 56]","","","[1, 1]","[1, 1]","[1, 1]","1"])");
  EXPECT_EQ(flops_of(of_input), expected);
  const auto of_weight =
      convolution("aten::miopen_convolution_backward_weight", "[[],[8,64,56,56],[8,32,56,56],[],[],[]]",
                  R"(["[64, 32, 3, 3]","","","[1, 1]","[1, 1]","[1, 1]","1"])");
  EXPECT_EQ(flops_of(of_weight), expected);
  EXPECT_EQ(bytes_of(of_weight->work).write, 4.0 * 64 * 32 * 9);
}

TEST(ImportedConvolution, KernelsOfGradientsAreToldByTheirNames) {
  EXPECT_EQ(gradient_of("sm80_xmma_dgrad_implicit_gemm"), Gradient::input);
  EXPECT_EQ(gradient_of("igemm_bwd_gtcx3_nhwc_fp16"), Gradient::input);
  EXPECT_EQ(gradient_of("winogradWgradData4x4"), Gradient::weight);
  EXPECT_EQ(gradient_of("igemm_wrw_gtcx3_nhwc_fp16"), Gradient::weight);
  EXPECT_EQ(gradient_of("conv_depthwise2d_grad_weight_kernel"), Gradient::weight);
  EXPECT_FALSE(gradient_of("nchwToNhwcKernel"));
}

TEST(ImportedConvolution, ArgumentsThatDontFitGiveNoWork) {
  const char* psd = R"(["","","[1, 1]","[2, 2]","[1, 1]","1"])";
  for (const char* lists : {"", R"(["","","[1, 1]"])", R"(["","","[1, 1]","[0, 0]","[1, 1]"])",
                            R"(["","","[-99, 1]","[1, 1]","[1, 1]"])", R"(["","","[1e308]","[1e-308]","[1]"])"}) {
    EXPECT_FALSE(convolution("aten::cudnn_convolution", "[[8,64,56,56],[64,64,3,3],[],[],[],[]]", lists)) << lists;
  }
  EXPECT_FALSE(convolution("aten::cudnn_convolution", "[[8,64,56],[64,64,3,3],[],[],[],[]]", psd));
  EXPECT_TRUE(has_model("aten::cudnn_convolution"));
  EXPECT_TRUE(has_model("aten::add_"));
  EXPECT_FALSE(has_model("aten::nothing"));
  EXPECT_FALSE(has_model("mine::add"));
}

TEST(ImportedWork, ResultsInPlaceAndInOutCountOnce) {
  const auto traffic = [](const char* name, const char* dims, const char* types) {
    const auto work = work_of({.name = name, .dims = dims, .types = types, .concrete = ""});
    return work ? bytes_of(work->work) : Traffic{};
  };
  const auto expect = [&](const Traffic& found, double read, double write, bool in_place) {
    EXPECT_EQ(found.read, read);
    EXPECT_EQ(found.write, write);
    EXPECT_EQ(found.in_place, in_place);
  };
  const char* two = R"(["float","float","Scalar","float"])";
  expect(traffic("aten::add", "[[1000],[1000],[]]", two), 8000, 4000, false);
  expect(traffic("aten::add", "[[1000],[1000],[],[1000]]", two), 8000, 4000, false);
  expect(traffic("aten::add", "[[1000],[1000],[],[0]]", two), 8000, 4000, false);
  expect(traffic("aten::add_", "[[1000],[1000],[]]", two), 8000, 4000, true);
  expect(traffic("aten::relu", "[[1000],[1000]]", R"(["float","float"])"), 4000, 4000, false);
  expect(traffic("aten::add", "[[1000],[1000],[],[1000]]", R"(["float","float","Scalar","double"])"), 8000, 8000,
         false);
  expect(traffic("aten::eq_", "[[1000],[1000]]", R"(["float","float"])"), 8000, 4000, true);
  expect(traffic("aten::eq", "[[1000],[1000]]", R"(["float","float"])"), 8000, 1000, false);
  expect(traffic("aten::addmm_", "[[64,16],[64,32],[32,16]]", R"(["float","float","float"])"),
         4.0 * (64 * 16 + 64 * 32 + 32 * 16), 4.0 * 64 * 16, false);
  expect(traffic("aten::mm", "[[64,32],[32,16],[64,16]]", R"(["float","float","float"])"), 4.0 * (64 * 32 + 32 * 16),
         4.0 * 64 * 16, false);
  expect(traffic("aten::native_layer_norm", "[[64,128],[],[128],[128],[],[64,128],[64,1],[64,1]]",
                 R"(["float","ScalarList","float","float","Scalar","float","float","float"])"),
         4.0 * (64 * 128 + 256), 4.0 * 64 * 128, false);
  expect(traffic("aten::max", "[[1000],[1000]]", R"(["float","float"])"), 8000, 4000, false);
  expect(traffic("aten::sum", "[[1000,10],[],[],[],[1000]]", R"(["float","","","","float"])"), 40000, 4000, false);
  expect(traffic("aten::copy_", "[[1000],[1000],[]]", two), 4000, 4000, false);
}

/// A launch of an operator on a GPU.
struct Launch {
  std::string kernel;
  double time_us = 0;
  std::string operation = R"("aten::mm", "args": {"Input Dims": [[8192, 8192], [8192, 8192]], "Input type": ["float",
    "float"], )";
  int device = 0;
};

std::string elements(const char* count) {
  return fmt::format(R"("aten::relu", "args": {{"Input Dims": [[{}]], "Input type": ["float"], )", count);
}

/// The report of a trace under the roofs of the GPU that has most of the time.
Report report_of_launches(const std::vector<std::string>& gpus, const std::vector<Launch>& launches,
                          const Machine* machine = nullptr, const std::vector<Machine>& others = {}) {
  std::string text = R"({"schemaVersion": 1, "deviceProperties": [)";
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    text += fmt::format(R"({}{{"id": {}, "name": "{}"}})", i == 0 ? "" : ", ", i, gpus[i]);
  }
  text += R"(], "traceEvents": [)";
  double time = 0;
  int number = 0;
  for (const Launch& launch : launches) {
    ++number;
    text += fmt::format(R"({}{{"ph": "X", "cat": "cpu_op", "name": {}"External id": {}}}, "pid": 1, "tid": 1,
      "ts": {}, "dur": 9}}, )",
                        number == 1 ? "" : ", ", launch.operation, number, time);
    text += fmt::format(R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
      "ts": {}, "dur": 1, "args": {{"External id": {}, "correlation": {}}}}}, )",
                        time + 1, number, number);
    text += fmt::format(R"({{"ph": "X", "cat": "kernel", "name": "{}", "pid": {}, "tid": 7, "ts": {}, "dur": {},
      "args": {{"External id": {}, "correlation": {}, "device": {}, "stream": 7, "grid": [10, 1, 1],
      "block": [128, 1, 1]}}}})",
                        launch.kernel, launch.device, time + 10, launch.time_us, number, number, launch.device);
    time += launch.time_us + 20;
  }
  const TemporaryFile file("trace.json", text + "]}");
  std::vector<ImportedProfile> profiles = {read_profile_file(file.path())};
  const Machine sheet = data_sheet_machine(device_of(profiles));
  std::vector<std::string> joined;
  return report_of_imports(std::move(profiles), {.machine = machine != nullptr ? *machine : sheet, .others = others},
                           {}, joined);
}

constexpr const char* kA100 = "NVIDIA A100-SXM4-80GB";
constexpr double kHalfOfFp32_us = kProduct / 19.5e12 * 2e6, kMostOfTf32_us = kProduct / 156e12 / 0.85 * 1e6;

TEST(ImportedProducts, Fp32ProductsOnTensorCoresAreToldByTheirKernel) {
  for (const char* name : {"cutlass_80_tensorop_s1688gemm_256x128_32x3_nt_align4", "nvjet_sss_128x256_h_bz_TNT",
                           "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x16", "gemm_tf32"}) {
    const Report report = report_of_launches({kA100}, {{name, kHalfOfFp32_us}});
    EXPECT_EQ(report.points.at(0).work.flops, (std::map<Pipe, double>{{Pipe::tensor_tf32, kProduct}})) << name;
  }
  for (const char* name : {"ampere_sgemm_128x64_nn", "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n", "gemm"}) {
    const Report report = report_of_launches({kA100}, {{name, kHalfOfFp32_us}});
    EXPECT_EQ(report.points.at(0).work.flops, (std::map<Pipe, double>{{Pipe::fp32, kProduct}})) << name;
    EXPECT_NEAR(report.points.at(0).fraction_of_roof(), 0.5, 1e-3);
  }
}

TEST(ImportedProducts, WhatIsTooFastForFp32RanOnTensorCores) {
  const std::string small = R"("aten::mm", "args": {"Input Dims": [[4096, 8192], [8192, 8192]],
    "Input type": ["float", "float"], )";
  const Report report = report_of_launches({kA100}, {{"gemm", kMostOfTf32_us}, {"gemm", kHalfOfFp32_us, small}});
  ASSERT_EQ(report.points.size(), 2U);
  for (const Point& point : report.points) {
    EXPECT_TRUE(point.work.flops.contains(Pipe::tensor_tf32)) << "the same kernel, at any speed";
    EXPECT_LT(point.fraction_of_roof(), 0.86);
    EXPECT_EQ(point.workload.dtype, DType::tf32);
  }
}

TEST(ImportedProducts, WhatIsTooFastForEveryPipeHasAReasonInsteadOfWork) {
  const auto expect_unknown = [](const Report& report) {
    const Point& point = report.points.at(0);
    EXPECT_TRUE(point.work.flops.empty());
    EXPECT_FALSE(std::isfinite(point.fraction_of_roof()));
    EXPECT_NE(why_no_work(point), "");
  };
  expect_unknown(report_of_launches({kA100}, {{"gemm", kMostOfTf32_us / 2}}));
  expect_unknown(report_of_launches({kA100}, {{"ampere_sgemm_128x64_nn", kMostOfTf32_us}}));
  expect_unknown(report_of_launches({"Tesla V100-SXM2-16GB"}, {{"gemm", kMostOfTf32_us}}));
}

AboveRoofReason reason_of(const Report& report) {
  const auto reason = reason_above_roof(report.points.at(0), report);
  EXPECT_TRUE(reason);
  return reason.value_or(AboveRoofReason::none);
}

TEST(ImportedRows, AboveTheirRoofHaveAReason) {
  const Report cached = report_of_launches({kA100}, {{"relu", 2, elements("1000000")}});
  EXPECT_EQ(reason_of(cached), AboveRoofReason::cached);
  EXPECT_EQ(verdicts(cached).at(0).rule, "partly-cached");
  const Report unknown = report_of_launches({kA100}, {{"relu", 200, elements("100000000")}});
  EXPECT_EQ(reason_of(unknown), AboveRoofReason::none) << "800 MB are no matter of 40 MB of cache";
  EXPECT_EQ(verdicts(unknown).at(0).rule, "above-roof");
  const std::string convolution =
      R"("aten::cudnn_convolution", "args": {"Input Dims": [[8, 64, 56, 56], [64, 64, 3, 3]],
    "Input type": ["float", "float"], "Concrete Inputs": ["", "", "[1, 1]", "[1, 1]", "[1, 1]", "1"], )";
  const Report winograd = report_of_launches({kA100}, {{"scudnn_winograd_128x128", 70, convolution}});
  EXPECT_EQ(reason_of(winograd), AboveRoofReason::fewer_operations);
  DeviceFacts slower;
  slower.name = "Tesla T4";
  const Machine roofs = data_sheet_machine(slower);
  const Report other = report_of_launches({kA100}, {{"relu", 800, elements("100000000")}}, &roofs);
  EXPECT_EQ(reason_of(other), AboveRoofReason::other_gpu);
  for (const Report* report : {&cached, &unknown, &winograd, &other}) {
    Report copy = *report;
    EXPECT_NE(explain_rows_above_roof(copy), "");
  }
}

/// Without a cause in evidence, each row names the source of each of its figures.
TEST(ImportedRows, AboveTheirRoofWithoutACauseNameTheirSources) {
  const Report report = report_of_launches({kA100}, {{"relu", 200, elements("100000000")}});
  const auto why = [&](TimeSource time, WorkSource work, bool measured) {
    Report copy = report;
    copy.points[0].profiled->time_source = time;
    copy.points[0].profiled->work_source = work;
    for (Ceiling& ceiling : copy.machine.ceilings) ceiling.origin = measured ? "probe" : ceiling.origin;
    explain_rows_above_roof(copy);
    return copy.points[0].profiled->why_above_roof;
  };
  using testing::AllOf;
  using testing::HasSubstr;
  EXPECT_THAT(why(TimeSource::traced, WorkSource::modelled, false),
              AllOf(HasSubstr("modelled"), HasSubstr("traced"), HasSubstr("data-sheet"), HasSubstr("count")));
  EXPECT_THAT(why(TimeSource::averaged, WorkSource::stated, true),
              AllOf(HasSubstr("author"), HasSubstr("averaged"), HasSubstr("measured"), HasSubstr("count")));
  EXPECT_THAT(why(TimeSource::replayed, WorkSource::counted, false),
              AllOf(HasSubstr("counted"), HasSubstr("replay"), HasSubstr("data-sheet"), HasSubstr("calibrate")));
  EXPECT_THAT(why(TimeSource::traced, WorkSource::counted, true),
              AllOf(HasSubstr("counted"), HasSubstr("launches"), HasSubstr("measured"), HasSubstr("clock")));
}

TEST(ImportedRows, AboveTheirRoofBecauseTheirTimesWereCut) {
  const Report report = report_of_launches({kA100}, {{"relu", 2, elements("1000000")}});
  EXPECT_EQ(reason_above_roof(report.points.at(0), report, {.kernels = {"relu"}}), AboveRoofReason::shortened);
  EXPECT_EQ(reason_above_roof(report.points.at(0), report, {.kernels = {"another"}}), AboveRoofReason::cached);
}

TEST(ImportedRows, BelowTheirRoofHaveNoReason) {
  Report report = report_of_launches({kA100}, {{"relu", 800, elements("100000000")}});
  const std::string sources = report.points.at(0).profiled->sources;
  EXPECT_LT(report.points.at(0).fraction_of_roof(), 1);
  EXPECT_FALSE(reason_above_roof(report.points.at(0), report));
  EXPECT_EQ(explain_rows_above_roof(report), "");
  EXPECT_EQ(report.points.at(0).profiled->sources, sources);
}

TEST(ImportedRows, GpusOfAnotherModelHaveNoRoofs) {
  const std::vector<Launch> launches = {{"gemm", kHalfOfFp32_us}, {"other", kHalfOfFp32_us / 2, Launch{}.operation, 1}};
  const Report mixed = report_of_launches({kA100, "Tesla T4"}, launches);
  EXPECT_EQ(mixed.machine.device.name, kA100);
  EXPECT_TRUE(std::isfinite(row_named(mixed, "gemm").bound.attainable_time_s));
  EXPECT_FALSE(std::isfinite(row_named(mixed, "other").bound.attainable_time_s));
  EXPECT_FALSE(row_named(mixed, "other").work.flops.empty()) << "its work is known";
  EXPECT_THAT(row_named(mixed, "other").profiled->sources, testing::HasSubstr("Tesla T4"));
  EXPECT_FALSE(is_on_chart(mixed, row_named(mixed, "other")));
  EXPECT_TRUE(is_on_chart(mixed, row_named(mixed, "gemm")));
  const Report alike = report_of_launches({kA100, kA100}, launches);
  EXPECT_TRUE(std::isfinite(row_named(alike, "other").bound.attainable_time_s));
}

TEST(ImportedRows, GpusOfAnotherModelHaveItsRoofs) {
  DeviceFacts slower;
  slower.name = "Tesla T4";
  const std::vector<Launch> launches = {{"gemm", kHalfOfFp32_us},
                                        {"other", 10 * kHalfOfFp32_us, Launch{}.operation, 1}};
  DeviceFacts faster;
  faster.name = kA100;
  const Machine a100 = data_sheet_machine(faster);
  const Report mixed = report_of_launches({kA100, "Tesla T4"}, launches, &a100, {data_sheet_machine(slower)});
  const Point& there = row_named(mixed, "other");
  EXPECT_EQ(machine_of(mixed, there).device.name, "Tesla T4");
  EXPECT_EQ(machine_of(mixed, row_named(mixed, "gemm")).device.name, kA100);
  constexpr double kFp32OfT4 = 8.1e12, kFlops = 2.0 * 8192 * 8192 * 8192;
  EXPECT_NEAR(there.bound.attainable_time_s, kFlops / kFp32OfT4, 1e-9);
  EXPECT_FALSE(is_on_chart(mixed, there));
  const Report read = parse_report(render_json(mixed), "report.json");
  ASSERT_EQ(read.other_machines.size(), 1U);
  EXPECT_EQ(machine_of(read, row_named(read, "other")).device.name, "Tesla T4");
}

TEST(ImportedRows, RoofsAreOfTheirOwnModelWhereItIsThere) {
  Machine machine;
  machine.device.name = "A";
  const Machine* const main = &machine;
  const auto roofs = [&](const std::vector<std::string_view>& names) { return roofs_of_devices(names, machine, {}); };
  using Roofs = std::vector<const Machine*>;
  EXPECT_EQ(roofs({"A", "B", "A", ""}), (Roofs{main, nullptr, main, nullptr}));
  EXPECT_EQ(roofs({"A", "A"}), (Roofs{main, main}));
  EXPECT_EQ(roofs({"A", ""}), (Roofs{main, main})) << "the file names one model only";
  EXPECT_EQ(roofs({"B", "C"}), (Roofs{main, main})) << "the roofs were chosen by the user";
  std::vector<Machine> others(1);
  others[0].device.name = "B";
  EXPECT_EQ(roofs_of_devices({"A", "B", "C"}, machine, others), (Roofs{main, &others[0], nullptr}));
}

TEST(ImportedRows, UnknownGpusHaveNoRoofs) {
  const Report report = report_of_launches({"NVIDIA Unheard 1"}, {{"gemm_tf32", 1}});
  EXPECT_TRUE(report.machine.ceilings.empty());
  EXPECT_THAT(about_roofs(report.machine), testing::HasSubstr("NVIDIA Unheard 1"));
  EXPECT_TRUE(report.points.at(0).work.flops.contains(Pipe::tensor_tf32)) << "by its name";
  DeviceFacts laptop;
  for (const char* name : {"NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA GeForce RTX 4090 D",
                           "NVIDIA GeForce RTX 3090 Ti", "NVIDIA H100 80GB HBM3 MIG 1g.10gb"}) {
    laptop.name = name;
    EXPECT_TRUE(data_sheet_machine(laptop).ceilings.empty()) << name;
  }
  laptop.name = "NVIDIA GeForce RTX 4090";
  EXPECT_FALSE(data_sheet_machine(laptop).ceilings.empty());
}

}  // namespace
}  // namespace roofline
