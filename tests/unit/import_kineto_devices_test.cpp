// Which GPUs a torch.profiler trace is of: builds for ROCm name their categories like CUDA's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/roofs.hpp"
#include "tests/support/import_files.hpp"

namespace roofline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A kernel of a GPU with these properties, launched by that call; `header`: more members of the trace.
std::string trace_on_device(const std::string& properties, const std::string& call, const std::string& header = "") {
  return R"({"schemaVersion": 1, )" + header + R"("deviceProperties": [{"id": 0, )" + properties +
         R"(}], "traceEvents": [
  {"ph": "X", "cat": "cuda_runtime", "name": ")" +
         call + R"(", "pid": 1, "tid": 1, "ts": 15, "dur": 5, "args": {"correlation": 99}},
  {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 30, "dur": 12, "args": {"device": 0, "stream": 7,
   "correlation": 99}}]})";
}

DeviceFacts device_in(const std::string& trace) { return import_text("t.json", trace).devices.at(0); }

constexpr const char* kMi300x =
    R"("name": "", "computeMajor": 9, "computeMinor": 4, "warpSize": 64, "numSms": 304, "totalGlobalMem": 206141652992)";
constexpr const char* kNoName = R"("name": "", "computeMajor": 11, "computeMinor": 0, "warpSize": 32, "numSms": 96)";
constexpr const char* kNvidia = R"("name": "", "computeMajor": 9, "computeMinor": 0, "warpSize": 32, "numSms": 132)";

TEST(KinetoDevices, OfRocmWithoutANameAreOfAmd) {
  const DeviceFacts named = device_in(trace_on_device(kMi300x, "cudaLaunchKernel"));
  EXPECT_TRUE(named.is_amd);
  EXPECT_EQ(named.chip, "gfx942");
  EXPECT_EQ(named.name, "AMD Instinct MI300X");
  EXPECT_FALSE(data_sheet_machine(named).ceilings.empty());
  EXPECT_EQ(data_sheet_machine(named).device.isa, "gfx942");
  for (const std::string& trace :
       {trace_on_device(kNoName, "hipLaunchKernel"), trace_on_device(kNoName, "k", R"("hip_runtime_version": 70, )"),
        trace_on_device(kNoName, "k", R"("roctracer_version": 4.1, )")}) {
    const DeviceFacts device = device_in(trace);
    EXPECT_TRUE(device.is_amd) << trace;
    EXPECT_EQ(data_sheet_machine(device).device.name, kUnnamedAmdGpu);
    EXPECT_EQ(data_sheet_machine(device).device.isa, "");
  }
}

TEST(KinetoDevices, OfCudaWithoutANameAreOfNvidia) {
  const DeviceFacts device = device_in(trace_on_device(kNvidia, "cudaLaunchKernel"));
  EXPECT_FALSE(device.is_amd);
  EXPECT_THAT(data_sheet_machine(device).device.name, HasSubstr("sm_90"));
  EXPECT_FALSE(device_in(trace_on_device(kNvidia, "hipster")).is_amd);
}

TEST(KinetoDevices, ArePlacedWhereTheirMemoryFits) {
  std::string large = kMi300x;
  large.replace(large.find("206141652992"), 12, "274877906944");
  EXPECT_EQ(device_in(trace_on_device(large, "hipLaunchKernel")).name, "AMD Instinct MI325X");
  large.replace(large.find("274877906944"), 12, "104877906944");
  const DeviceFacts part = device_in(trace_on_device(large, "hipLaunchKernel"));
  EXPECT_EQ(part.name, "") << "a partition, or a product that is not known";
  EXPECT_EQ(part.chip, "gfx942");
  EXPECT_THAT(data_sheet_machine(part).device.name, AllOf(HasSubstr("gfx942"), Not(HasSubstr("sm_"))));
}

/// A product whose kernel is launched by a call of this category, and an event of another one.
Report report_of_calls(const std::string& category, const std::string& other) {
  const TemporaryFile file("t.json", R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, )" + std::string(kNvidia) +
                                         R"(}], "traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 20, "args": {"External id": 3,
   "Input Dims": [[64, 32], [32, 16]], "Input type": ["float", "float"]}},
  {"ph": "X", "cat": ")" + category + R"(", "name": "launchKernel", "pid": 1, "tid": 1, "ts": 15, "dur": 5,
   "args": {"correlation": 99}},
  {"ph": "X", "cat": "kernel", "name": "product", "pid": 0, "tid": 7, "ts": 40, "dur": 12, "args": {"device": 0,
   "stream": 7, "correlation": 99}},
  {"ph": "X", "cat": ")" + other + R"(", "name": "e", "pid": 0, "tid": 7, "ts": 41, "dur": 2}]})");
  return report_of_file(file.path());
}

/// Calls of devices outside PyTorch (PrivateUse1) launch kernels as those of CUDA do.
TEST(KinetoPrivateUse1, CallsLaunchKernels) {
  for (const char* category : {"cuda_runtime", "privateuse1_runtime", "PrivateUse1_Runtime", "privateuse1_driver"}) {
    const Report report = report_of_calls(category, "ac2g");
    ASSERT_EQ(report.points.size(), 1U) << category;
    const Point& point = report.points[0];
    EXPECT_THAT(point.profiled->operation, testing::StartsWith("aten::mm")) << category;
    EXPECT_EQ(point.work.operations().begin()->second, 2.0 * 64 * 32 * 16) << category;
    EXPECT_NEAR(point.profiled->total_s, 12e-6, 1e-12) << category;
    EXPECT_THAT(report.notes, Not(testing::Contains(HasSubstr("ac2g")))) << category;
    ASSERT_EQ(report.profile->calls.size(), 1U) << category;
    EXPECT_EQ(report.profile->calls[0].name, "launchKernel") << category;
  }
  // Events of the device itself are not imported, and are named with their number.
  const Report report = report_of_calls("privateuse1_runtime", "privateuse1_kernel");
  EXPECT_EQ(report.points.size(), 1U);
  EXPECT_THAT(report.notes, testing::Contains(HasSubstr("privateuse1_kernel (1)")));
}

/// What to do about a trace of a launch and this event.
std::string hint_of_trace(const std::string& category, const std::string& name) {
  const TemporaryFile file("t.json", R"({"traceEvents": [
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 15, "dur": 5},
  {"ph": "X", "cat": ")" + category + R"(", "name": ")" +
                                         name + R"(", "pid": 0, "tid": 0, "ts": 30, "dur": 12}]})");
  try {
    report_of_file(file.path());
  } catch (const Error& error) {
    return error.hint();
  }
  return "imported";
}

TEST(KinetoWithoutKernels, SayWhatTheyHaveInstead) {
  EXPECT_THAT(hint_of_trace("mtia_ccp_events", "pe_exe"), AllOf(HasSubstr("MTIA"), Not(HasSubstr("nsys"))));
  EXPECT_THAT(hint_of_trace("cuda_profiler_range", "k"), AllOf(HasSubstr("profiler_metrics"), Not(HasSubstr("nsys"))));
  EXPECT_THAT(hint_of_trace("cpu_op", "aten::mm"), HasSubstr("nsys")) << "kernels that another profiler took";
  EXPECT_EQ(hint_of_trace("kernel", "k"), "imported");
}

}  // namespace
}  // namespace roofline
