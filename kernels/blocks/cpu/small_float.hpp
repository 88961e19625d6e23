// 16-bit elements as CPU kernels see them, and scalar conversions, for files compiled for the baseline. Vectors of
// them are in vector.hpp, whole arrays in convert.hpp.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace roofline {

/// The bits of an element in memory. Kernels compute in fp32 and round once, on store.
struct Fp16 {
  std::uint16_t bits;
};
struct Bf16 {
  std::uint16_t bits;
};

template <typename T>
inline constexpr bool kSmallFloat = std::is_same_v<T, Fp16> || std::is_same_v<T, Bf16>;

/// Compute type of elements of type T: float for 16-bit types, otherwise T.
template <typename T>
using Computed = std::conditional_t<kSmallFloat<T>, float, T>;

inline float widened(float value) { return value; }
inline double widened(double value) { return value; }
inline float widened(Bf16 value) { return std::bit_cast<float>(std::uint32_t{value.bits} << 16U); }

/// Interpreted as fp32 it is 2^112 times too small, subnormals included, so the product is exact.
inline float widened(Fp16 value) {
  const std::uint32_t magnitude = value.bits & 0x7FFFU;
  const std::uint32_t sign = std::uint32_t{value.bits & 0x8000U} << 16U;
  if (magnitude >= 0x7C00) return std::bit_cast<float>(sign | 0x7F800000U | magnitude << 13U);
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude << 13U) * 0x1p112F));
}

inline std::uint16_t fp16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16U & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  std::uint32_t rounded = 0;
  if (magnitude > 0x7F800000U) {
    rounded = 0x7E00U | (magnitude >> 13U & 0x3FFU);
  } else if (magnitude >= 0x477FF000U) {  // 65520: half-way to 2^16, which does not exist in fp16
    rounded = 0x7C00U;
  } else if (magnitude < 0x38800000U) {  // 2^-14: the sum's last bit is that of a subnormal
    rounded = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3F000000U;
  } else {
    rounded = (magnitude - 0x38000000U + 0xFFFU + (magnitude >> 13U & 1U)) >> 13U;
  }
  return static_cast<std::uint16_t>(sign | rounded);
}

inline std::uint16_t bf16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
  return static_cast<std::uint16_t>(nan ? bits >> 16U | 0x40U : (bits + 0x7FFFU + (bits >> 16U & 1U)) >> 16U);
}

/// Rounds to nearest even; NaN stays NaN.
template <typename T>
T narrowed(Computed<T> value) {
  if constexpr (std::is_same_v<T, Fp16>) {
    return {fp16_bits(value)};
  } else if constexpr (std::is_same_v<T, Bf16>) {
    return {bf16_bits(value)};
  } else {
    return value;
  }
}

}  // namespace roofline
