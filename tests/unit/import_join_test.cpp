// Files of one program: counts go to the launches that another file has the times of; roofs that nobody measured say
// so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/join.hpp"
#include "import/roofs.hpp"
#include "report/roofs.hpp"
#include "tests/support/import_files.hpp"
#include "tests/support/mentions.hpp"

namespace roofline {
namespace {

using testing::HasSubstr;

TEST(Join, NamesOfAllToolsAreComparable) {
  EXPECT_EQ(base_name("_ZN2at6native24vectorized_gather_kernelILi16ElEEvPcS2_PT0_illllb"), "vectorized_gather_kernel");
  EXPECT_EQ(base_name("void at::native::vectorized_gather_kernel<16, long>(char*, char*)"), "vectorized_gather_kernel");
  EXPECT_EQ(base_name("void at::native::(anonymous namespace)::cunn_SoftMax<8>(int)"), "cunn_SoftMax");
  EXPECT_EQ(base_name("void native::<unnamed>::cunn_SoftMax<(int)8>(int)"), "cunn_SoftMax");
  EXPECT_EQ(base_name("nvjet_sm90_tst_192x192"), "nvjet_sm90_tst_192x192");
  EXPECT_EQ(base_name(""), "");
}

TEST(Join, ARecordedTraceGetsTheCountsOfTheReport) {
  std::vector<std::string> joined;
  const Report report = report_of_files({recorded("trace.json.gz"), recorded("kernels.ncu-rep")}, joined);
  ASSERT_FALSE(joined.empty());
  EXPECT_THAT(joined[0], HasSubstr("kernels.ncu-rep"));
  EXPECT_GT(report.profile->counted_s / report.profile->kernel_s, 0.99);
  const Point& gemm = row_named(report, "aten::addmm(4096, 32768x1024, 1024x4096)");
  EXPECT_THAT(gemm.profiled->sources, mentions("torch.profiler", "ncu"));
  // Tiles of 192 columns don't divide 4096: what ran is 3 % more than the product asks for.
  EXPECT_EQ(gemm.work.flops.at(Pipe::tensor_bf16), 284'021'489'664.0);
  EXPECT_TRUE(report.profile->timeline) << "the trace has one";
}

TEST(Join, WithoutTimesThereIsNothingToJoin) {
  std::vector<std::string> joined;
  const Report report = report_of_files({recorded("kernels.ncu-rep")}, joined);
  EXPECT_TRUE(joined.empty());
  EXPECT_FALSE(report.points.empty());
}

TEST(Roofs, OfAttributesAndOfDataSheetsAreNoMeasurement) {
  DeviceFacts device;
  device.name = "NVIDIA H200";
  const Machine sheet = data_sheet_machine(device);
  EXPECT_EQ(sheet.compute(Pipe::tensor_bf16)->value, 989e12);
  EXPECT_EQ(sheet.slope(Level::hbm)->value, 4.8e12);
  EXPECT_THAT(about_roofs(sheet), mentions("NVIDIA H200"));
  for (const Ceiling& ceiling : sheet.ceilings) EXPECT_TRUE(ceiling.is_data_sheet_limit());
  for (const Ceiling& ceiling : sheet.ceilings) EXPECT_THAT(ceiling.variant, HasSubstr("not measured"));

  device.compute_major = 9;
  device.sms = 132;
  device.core_hz = 1.98e9;
  device.memory_hz = 3.201e9;
  device.bus_bits = 6144;
  const Machine attributes = data_sheet_machine(device);
  EXPECT_NEAR(attributes.compute(Pipe::tensor_bf16)->value, 132 * 1.98e9 * 4096, 1);
  EXPECT_NEAR(attributes.slope(Level::hbm)->value, 2 * 3.201e9 * 6144 / 8, 1);
  EXPECT_THAT(not_measured(attributes), HasSubstr("132 SMs x 1980 MHz"));

  device = {};
  device.name = "NVIDIA L40";
  EXPECT_NEAR(data_sheet_machine(device).slope(Level::hbm)->value, 0.864e12, 1) << "no L4";
  device.name = "Somebody's GPU";
  EXPECT_TRUE(data_sheet_machine(device).ceilings.empty());
  EXPECT_THAT(about_roofs(data_sheet_machine(device)), HasSubstr("no roofs"));
}

TEST(Roofs, PromisesOfAChipAreThoseOfItsDataSheet) {
  const auto tensor = [](const char* name, std::uint32_t major, std::uint32_t minor, std::uint32_t sms, double hz) {
    DeviceFacts device;
    device.name = name;
    device.compute_major = major;
    device.compute_minor = minor;
    device.sms = sms;
    device.core_hz = hz;
    device.memory_hz = 1e9;
    device.bus_bits = 256;
    const Machine machine = data_sheet_machine(device);
    const Ceiling* ceiling = machine.find("tensor.fp16");
    return ceiling == nullptr ? 0 : ceiling->value * 1e-12;
  };
  EXPECT_EQ(tensor("NVIDIA GeForce GTX 1660 SUPER", 7, 5, 22, 1.815e9), 0) << "Turing without tensor cores";
  // TFLOP/s with sums in fp32, without sparsity.
  EXPECT_NEAR(tensor("Tesla V100-SXM2-16GB", 7, 0, 80, 1.53e9), 125, 1.5);
  EXPECT_NEAR(tensor("NVIDIA A100-SXM4-80GB", 8, 0, 108, 1.41e9), 312, 1.5);
  EXPECT_NEAR(tensor("NVIDIA A40", 8, 6, 84, 1.74e9), 149.7, 1);
  EXPECT_NEAR(tensor("NVIDIA L40S", 8, 9, 142, 2.52e9), 366, 1);
  EXPECT_NEAR(tensor("NVIDIA GeForce RTX 4090", 8, 9, 128, 2.52e9), 165.2, 1) << "half of it on these";
  EXPECT_NEAR(tensor("NVIDIA H100 80GB HBM3", 9, 0, 132, 1.83e9), 989, 2);
}

}  // namespace
}  // namespace roofline
