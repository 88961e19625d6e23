// GEMM in 8 bits: the reference and the tolerance that kernels are held to, and the CPU's at the ends of the range.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "device/cpu/cpu_device.hpp"
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

/// C of rows of A and of B that hold one value each: every sum is k times a product, and -128 times -128 in pairs or
/// fours is what overflows 16 bits first. Extents below a tile, at its edges, and past a block of the depth.
TEST(GemmInt8, IsExactAtTheEndsOfTheRange) {
  const auto value = [](std::int64_t i) { return static_cast<std::int8_t>(i % 3 == 0 ? -128 : i % 3 == 1 ? 127 : -1); };
  const std::array<std::int64_t, 3> all_extents[] = {{1, 1, 1}, {6, 64, 4}, {13, 17, 3}, {7, 37, 1031}, {97, 5, 513}};
  for (const auto& [m, n, k] : all_extents) {
    std::vector<std::int8_t> a, b;
    for (std::int64_t i = 0; i < m * k; ++i) a.push_back(value(i / k));
    for (std::int64_t j = 0; j < n * k; ++j) b.push_back(value(j / k));
    for (const Isa isa : usable_isas()) {
      CpuDevice device({}, isa);
      for (const Implementation& implementation : implementations_of(*find_op("gemm"), DeviceKind::cpu)) {
        if (std::find(implementation.dtypes.begin(), implementation.dtypes.end(), DType::int8) ==
            implementation.dtypes.end())
          continue;
        if (implementation.unsupported && implementation.unsupported(gemm(DType::int8, m, n, k), device)) continue;
        std::vector<std::int32_t> c(static_cast<std::size_t>(m * n));
        void* const tensors[] = {a.data(), b.data(), c.data()};
        implementation.prepare(gemm(DType::int8, m, n, k), device)(tensors);
        for (std::int64_t i = 0; i < m * n; ++i) {
          ASSERT_EQ(c[static_cast<std::size_t>(i)], k * value(i / n) * value(i % n))
              << implementation.name << ' ' << to_string(isa) << ' ' << m << " x " << n << " x " << k << ", element "
              << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace roofline
