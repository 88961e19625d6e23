// Conversions against bit patterns from the formats' definitions, and the random fill.
#include "op/tensor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

namespace roofline {
namespace {

TEST(Fp16, KnownValues) {
  EXPECT_EQ(to_fp16(0.0), 0x0000);
  EXPECT_EQ(to_fp16(-0.0), 0x8000);
  EXPECT_EQ(to_fp16(1.0), 0x3C00);
  EXPECT_EQ(to_fp16(-2.0), 0xC000);
  EXPECT_EQ(to_fp16(65504.0), 0x7BFF);
  EXPECT_EQ(to_fp16(65519.999), 0x7BFF);
  EXPECT_EQ(to_fp16(65520.0), 0x7C00);  // half-way to 2^16: even is infinity
  EXPECT_EQ(to_fp16(0x1p-14), 0x0400);
  EXPECT_EQ(to_fp16(0x1p-24), 0x0001);
  EXPECT_EQ(to_fp16(0x1p-25), 0x0000);  // half of the smallest: to even
  EXPECT_EQ(to_fp16(0x1.8p-24), 0x0002);
  EXPECT_EQ(to_fp16(std::numeric_limits<double>::infinity()), 0x7C00);
}

TEST(Fp16, RoundsToNearestEvenInOneStep) {
  EXPECT_EQ(to_fp16(1 + 0x1p-11), 0x3C00);
  EXPECT_EQ(to_fp16(1 + 0x3p-11), 0x3C02);
  // By way of fp32 this would round to the half-way point first and then to even.
  EXPECT_EQ(to_fp16(1 + 0x1p-11 + 0x1p-40), 0x3C01);
  EXPECT_EQ(to_bf16(1 + 0x1p-8 + 0x1p-40), 0x3F81);
}

TEST(Bf16, KnownValues) {
  EXPECT_EQ(to_bf16(1.0), 0x3F80);
  EXPECT_EQ(to_bf16(-3.140625), 0xC049);
  EXPECT_EQ(to_bf16(1 + 0x1p-8), 0x3F80);
  EXPECT_EQ(to_bf16(1 + 0x3p-8), 0x3F82);
  EXPECT_EQ(to_bf16(0x1p-133), 0x0001);
  EXPECT_EQ(to_bf16(0x1p-134), 0x0000);
  EXPECT_EQ(to_bf16(1e39), 0x7F80);
}

TEST(Fp8, KnownValues) {
  EXPECT_EQ(to_fp8(0.0), 0x00);
  EXPECT_EQ(to_fp8(1.0), 0x38);
  EXPECT_EQ(to_fp8(-1.75), 0xBE);
  EXPECT_EQ(to_fp8(448.0), 0x7E);
  EXPECT_EQ(to_fp8(1e6), 0x7E);  // no infinity: the largest number
  EXPECT_EQ(to_fp8(-std::numeric_limits<double>::infinity()), 0xFE);
  EXPECT_EQ(to_fp8(0x1p-9), 0x01);
  EXPECT_EQ(to_fp8(0x1p-10), 0x00);  // half of the smallest: to even
  EXPECT_EQ(to_fp8(1 + 0x1p-4), 0x38);
  EXPECT_EQ(to_fp8(1 + 0x3p-4), 0x3A);
  EXPECT_EQ(to_fp8(std::numeric_limits<double>::quiet_NaN()), 0x7F);
  EXPECT_TRUE(std::isnan(from_fp8(0xFF)));
}

TEST(SmallFloats, EveryPatternSurvivesTheRoundTrip) {
  for (std::uint32_t pattern = 0; pattern < 0x100; ++pattern) {
    const auto bits = static_cast<std::uint8_t>(pattern);
    if ((bits & 0x7FU) != 0x7F) {
      ASSERT_EQ(to_fp8(from_fp8(bits)), bits);
    }
  }
  for (std::uint32_t pattern = 0; pattern < 0x10000; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    if (std::isnan(from_fp16(bits))) {
      EXPECT_TRUE((bits & 0x7FFFU) > 0x7C00U) << bits;
      EXPECT_TRUE(std::isnan(from_fp16(to_fp16(from_fp16(bits)))));
    } else {
      ASSERT_EQ(to_fp16(from_fp16(bits)), bits);
    }
    if (std::isnan(from_bf16(bits))) {
      EXPECT_TRUE((bits & 0x7FFFU) > 0x7F80U) << bits;
      EXPECT_TRUE(std::isnan(from_bf16(to_bf16(from_bf16(bits)))));
    } else {
      ASSERT_EQ(to_bf16(from_bf16(bits)), bits);
    }
  }
}

std::vector<double> values_of(const HostTensor& tensor) {
  std::vector<double> values(static_cast<std::size_t>(tensor.spec().elements));
  tensor.read(0, values);
  return values;
}

TEST(HostTensor, FillIsUniformInEveryType) {
  for (const DType dtype : {DType::fp64, DType::fp32, DType::tf32, DType::fp16, DType::bf16, DType::fp8}) {
    HostTensor tensor({"x", TensorRole::input, 1'000'003, dtype});
    tensor.fill_random(7);
    double sum = 0, squares = 0;
    for (const double value : values_of(tensor)) {
      ASSERT_LE(std::abs(value), 1.0);
      sum += value;
      squares += value * value;
    }
    const auto n = static_cast<double>(tensor.spec().elements);
    EXPECT_NEAR(sum / n, 0, 0.003) << to_string(dtype);
    EXPECT_NEAR(squares / n, 1.0 / 3, 0.002) << to_string(dtype);
  }
}

TEST(HostTensor, FillOfIntegersIsUniformOverTheirRange) {
  const std::pair<DType, double> types[] = {
      {DType::int8, 127}, {DType::int16, 32767}, {DType::int32, 2147483647}, {DType::int64, 2147483647}};
  for (const auto& [dtype, largest] : types) {
    HostTensor tensor({"x", TensorRole::input, 1'000'003, dtype});
    tensor.fill_random(7);
    double squares = 0, most = 0;
    for (const double value : values_of(tensor)) {
      ASSERT_EQ(value, std::round(value));
      most = std::max(most, std::abs(value));
      squares += value * value;
    }
    EXPECT_LE(most, largest);
    EXPECT_GT(most, 0.99 * largest);
    const auto n = static_cast<double>(tensor.spec().elements);
    EXPECT_NEAR(squares / n / largest / largest, 1.0 / 3, 0.003) << to_string(dtype);
  }
}

TEST(HostTensor, IntegersWithoutASignAreUniformFromZero) {
  const std::pair<DType, double> types[] = {
      {DType::uint8, 255}, {DType::uint16, 65535}, {DType::uint32, 4294967295}, {DType::uint64, 4294967295}};
  for (const auto& [dtype, largest] : types) {
    HostTensor tensor({"x", TensorRole::input, 1'000'003, dtype});
    tensor.fill_random(7);
    double sum = 0, most = 0, least = largest;
    for (const double value : values_of(tensor)) {
      most = std::max(most, value);
      least = std::min(least, value);
      sum += value;
    }
    EXPECT_GE(least, 0);
    EXPECT_LT(least, 0.01 * largest);
    EXPECT_LE(most, largest);
    EXPECT_GT(most, 0.99 * largest);
    EXPECT_NEAR(sum / static_cast<double>(tensor.spec().elements) / largest, 0.5, 0.003) << to_string(dtype);
  }
}

TEST(HostTensor, FillDependsOnSeedAndIndexOnly) {
  HostTensor small({"x", TensorRole::input, 100, DType::fp32});
  HostTensor large({"x", TensorRole::input, 600'000, DType::fp32});
  HostTensor other({"x", TensorRole::input, 100, DType::fp32});
  small.fill_random(3);
  large.fill_random(3);
  other.fill_random(4);
  EXPECT_EQ(std::memcmp(small.bytes().data(), large.bytes().data(), 400), 0);
  const auto a = values_of(small);
  const auto b = values_of(other);
  EXPECT_LT(std::inner_product(a.begin(), a.end(), b.begin(), 0, std::plus<>(), std::equal_to<>()), 3);
}

TEST(HostTensor, ReadsFromTheMiddle) {
  HostTensor tensor({"x", TensorRole::input, 64, DType::fp16});
  for (std::uint16_t i = 0; i < 64; ++i) {
    const std::uint16_t bits = to_fp16(i * 0.5);
    std::memcpy(tensor.bytes().data() + 2 * i, &bits, 2);
  }
  std::vector<double> some(5);
  tensor.read(10, some);
  EXPECT_EQ(some, (std::vector<double>{5, 5.5, 6, 6.5, 7}));
  EXPECT_EQ(tensor[63], 31.5);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.bytes().data()) % 64, 0U);
}

}  // namespace
}  // namespace roofline
