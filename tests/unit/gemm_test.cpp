// GEMM in 8 bits, which no CPU kernel computes: the reference and the tolerance that GPU kernels are held to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "op/op.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

Workload gemm(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k) {
  return {.op = "gemm", .implementation = "", .dtype = dtype, .shape = {{"m", m}, {"n", n}, {"k", k}}, .label = ""};
}

HostTensor of_bytes(const TensorSpec& spec, const std::vector<std::int8_t>& values) {
  HostTensor tensor(spec);
  std::memcpy(tensor.bytes().data(), values.data(), values.size());
  return tensor;
}

TEST(GemmReference, TakesB8BitRowsAsColumns) {
  const Op& op = *find_op("gemm");
  const Workload w = gemm(DType::int8, 2, 3, 2);
  const auto specs = op.tensors(w);
  std::vector<HostTensor> inputs;
  inputs.push_back(of_bytes(specs[0], {1, 2, -3, 127}));
  inputs.push_back(of_bytes(specs[1], {5, 7, 0, 1, -127, 127}));  // columns (5, 7), (0, 1), (-127, 127)
  const std::vector<std::int64_t> indices = {0, 1, 2, 4, 5};
  std::vector<double> expected(indices.size());
  op.reference(w, inputs, indices, expected);
  EXPECT_THAT(expected, testing::ElementsAre(19, 2, 127, 127, 381 + 127 * 127));
}

TEST(GemmTolerance, IsExactInInt8) { EXPECT_EQ(find_op("gemm")->tolerance(gemm(DType::int8, 1, 1, 4096)).relative, 0); }

TEST(GemmTolerance, FindsADroppedTermInFp8) {
  const Tolerance tolerance = find_op("gemm")->tolerance(gemm(DType::fp8, 1, 1, 1024));
  constexpr double kMeanProduct = 0.25;  // of the sizes of two values in [-1, 1]
  EXPECT_LT(tolerance.relative * 2 * tolerance.magnitude, kMeanProduct);
  EXPECT_GT(tolerance.relative, 0x1p-8) << "one rounding to bf16 alone is half of that, and sums are cut besides";
}

TEST(GemmTensors, HoldWiderResultsOfEightBits) {
  const Op& op = *find_op("gemm");
  EXPECT_EQ(op.tensors(gemm(DType::int8, 2, 3, 4)).back().dtype, DType::int32);
  EXPECT_EQ(op.tensors(gemm(DType::fp8, 2, 3, 4)).back().dtype, DType::bf16);
  EXPECT_EQ(op.tensors(gemm(DType::tf32, 2, 3, 4)).back().dtype, DType::tf32);
}

}  // namespace
}  // namespace roofline
