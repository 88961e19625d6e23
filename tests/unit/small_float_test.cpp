// Conversions between fp32 and the 16-bit types on a CPU: one at a time, and by the vectors of every level that this
// CPU runs. The references are src/op/tensor.hpp's, which work in fp64 and round once.
#include "kernels/blocks/cpu/small_float.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/blocks/cpu/convert.hpp"
#include "op/tensor.hpp"

namespace roofline {
namespace {

template <typename T>
double exactly(T value) {
  return std::is_same_v<T, Fp16> ? from_fp16(value.bits) : from_bf16(value.bits);
}

template <typename T>
std::uint16_t nearest(float value) {
  return std::is_same_v<T, Fp16> ? to_fp16(value) : to_bf16(value);
}

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

template <typename T>
class SmallFloats : public testing::Test {};
using Types = testing::Types<Fp16, Bf16>;
TYPED_TEST_SUITE(SmallFloats, Types);

/// Calls test(widen, narrow) for each way to convert arrays.
template <typename T, typename Test>
void each_way(Test test) {
  const auto widen_each = [](const T* from, float* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = widened(from[i]);
  };
  const auto narrow_each = [](const float* from, T* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = narrowed<T>(from[i]);
  };
  {
    SCOPED_TRACE("one at a time");
    test(Converters<T>{widen_each, narrow_each});
  }
  for (const Isa isa : usable_isas()) {
    SCOPED_TRACE(to_string(isa));
    test(with_isa(isa, []<Isa level>() { return converters<level, T>(); }));
  }
}

/// All 65536 of them.
template <typename T>
std::vector<T> all_patterns() {
  std::vector<T> all;
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) all.push_back({static_cast<std::uint16_t>(bits)});
  return all;
}

TYPED_TEST(SmallFloats, EveryPatternWidensExactlyAndComesBack) {
  const auto all = all_patterns<TypeParam>();
  each_way<TypeParam>([&](const Converters<TypeParam>& by) {
    std::vector<float> wide(all.size());
    std::vector<TypeParam> back(all.size());
    by.widen(all.data(), wide.data(), std::ssize(all));
    by.narrow(wide.data(), back.data(), std::ssize(all));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double expected = exactly(all[i]);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(wide[i])) << i;
        ASSERT_TRUE(std::isnan(exactly(back[i]))) << i;
        ASSERT_EQ(bits_of(wide[i]) >> 31, i >> 15) << i;
      } else {
        ASSERT_EQ(bits_of(wide[i]), bits_of(static_cast<float>(expected))) << i;
        ASSERT_EQ(back[i].bits, all[i].bits) << i;
      }
    }
  });
}

/// Around every number that the type has: half-way to the next one, and the fp32 numbers beside it.
TYPED_TEST(SmallFloats, RoundsToNearestAndTiesToEven) {
  std::vector<float> values;
  for (std::uint32_t bits = 0; bits < 0x7FFF; ++bits) {
    const double here = exactly(TypeParam{static_cast<std::uint16_t>(bits)});
    const double next = exactly(TypeParam{static_cast<std::uint16_t>(bits + 1)});
    if (!std::isfinite(next)) continue;
    const auto tie = static_cast<float>((here + next) / 2);  // exact: fp32 has 13 bits more, or 16
    for (const float value : {tie, std::nextafter(tie, 0.0F), std::nextafter(tie, 1e38F)}) {
      values.push_back(value);
      values.push_back(-value);
    }
  }
  each_way<TypeParam>([&](const Converters<TypeParam>& by) {
    std::vector<TypeParam> rounded(values.size());
    by.narrow(values.data(), rounded.data(), std::ssize(values));
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(rounded[i].bits, nearest<TypeParam>(values[i])) << std::hexfloat << values[i];
    }
  });
}

TYPED_TEST(SmallFloats, OverflowsToInfinityAndKeepsNan) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const bool half = std::is_same_v<TypeParam, Fp16>;
  const float largest = half ? 65504.0F : 0x1.FEp127F;
  const float tie = half ? 65520.0F : 0x1.FFp127F;
  const std::uint16_t infinity = half ? 0x7C00 : 0x7F80;
  // The last NaN has nothing but the bits that narrowing drops.
  const std::vector<float> values = {largest,
                                     std::nextafter(tie, 0.0F),
                                     tie,
                                     -tie,
                                     std::numeric_limits<float>::max(),
                                     kInfinity,
                                     -kInfinity,
                                     std::numeric_limits<float>::quiet_NaN(),
                                     std::bit_cast<float>(0x7F800001U),
                                     std::bit_cast<float>(0xFFFFFFFFU),
                                     0.0F,
                                     -0.0F,
                                     std::numeric_limits<float>::denorm_min(),
                                     -std::numeric_limits<float>::min()};
  each_way<TypeParam>([&](const Converters<TypeParam>& by) {
    std::vector<TypeParam> out(values.size());
    by.narrow(values.data(), out.data(), std::ssize(values));
    EXPECT_EQ(out[0].bits, infinity - 1);
    EXPECT_EQ(out[1].bits, infinity - 1);
    EXPECT_EQ(out[2].bits, infinity);
    EXPECT_EQ(out[3].bits, infinity | 0x8000);
    EXPECT_EQ(out[4].bits, infinity);
    EXPECT_EQ(out[5].bits, infinity);
    EXPECT_EQ(out[6].bits, infinity | 0x8000);
    for (const std::size_t nan : {7, 8, 9}) EXPECT_GT(out[nan].bits & 0x7FFF, infinity) << nan;
    EXPECT_EQ(out[10].bits, 0);
    EXPECT_EQ(out[11].bits, 0x8000);
    EXPECT_EQ(out[12].bits, nearest<TypeParam>(values[12]));
    EXPECT_EQ(out[13].bits, nearest<TypeParam>(values[13]));
  });
}

/// Whatever the length, and at odd addresses: what vectors don't fill, and nothing behind it.
TYPED_TEST(SmallFloats, ConvertsArraysOfEveryLength) {
  constexpr std::int64_t kMost = 40;
  std::vector<float> values(kMost + 1);
  std::iota(values.begin(), values.end(), 1.0F);
  each_way<TypeParam>([&](const Converters<TypeParam>& by) {
    for (std::int64_t count = 0; count < kMost; ++count) {
      std::vector<TypeParam> small(kMost + 2, TypeParam{0xABCD});
      std::vector<float> wide(kMost + 2, -1.0F);
      by.narrow(values.data(), small.data() + 1, count);
      by.widen(small.data() + 1, wide.data() + 1, count);
      for (std::int64_t i = 0; i < count; ++i) {
        ASSERT_EQ(wide[static_cast<std::size_t>(i) + 1], values[static_cast<std::size_t>(i)]);
      }
      EXPECT_EQ(small[0].bits, 0xABCD);
      EXPECT_EQ(small[static_cast<std::size_t>(count) + 1].bits, 0xABCD) << count;
      EXPECT_EQ(wide[static_cast<std::size_t>(count) + 1], -1.0F) << count;
    }
  });
}

}  // namespace
}  // namespace roofline
