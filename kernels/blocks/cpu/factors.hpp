// What a matrix product multiplies at once: an element, or neighbours along the depth that one instruction multiplies
// and adds up, in the 32 bits of a lane. Plain data: launchers see it, vectors of it are in factor_vectors.hpp.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/blocks/cpu/small_float.hpp"

namespace roofline {

/// For AVX512_BF16, which takes subnormals for zero.
struct Bf16Pair {
  Bf16 of[2];
};

/// 8-bit integers widened to 16: there is a multiplication of such pairs everywhere.
struct Int16Pair {
  std::int16_t of[2];
};

/// 8-bit integers as they are. VNNI takes unsigned ones on the left, so that those are raised by 128.
struct Int8Quad {
  std::int8_t of[4];
};

/// Elements along the depth that a factor holds.
template <typename Factor>
inline constexpr std::int64_t kProducts = 1;
template <>
inline constexpr std::int64_t kProducts<Bf16Pair> = 2;
template <>
inline constexpr std::int64_t kProducts<Int16Pair> = 2;
template <>
inline constexpr std::int64_t kProducts<Int8Quad> = 4;

template <typename Factor>
constexpr std::int64_t steps_of(std::int64_t depth) {
  return (depth + kProducts<Factor> - 1) / kProducts<Factor>;
}

/// Steps of the depth that a tile's loop takes at once (register_tile.hpp).
inline constexpr std::int64_t kDepthUnroll = 4;
/// Fewer are not worth writing a tile's sums back for.
inline constexpr std::int64_t kLeastDepth = 64;

/// Steps of a right operand's panel that stand before those of the depth: what sums begin with, where they don't begin
/// with zero. Of 8-bit integers it takes off again what raising the left ones adds.
template <typename Factor>
#if defined(__aarch64__)
inline constexpr std::int64_t kFirstSums = 0;
#else
inline constexpr std::int64_t kFirstSums = std::is_same_v<Factor, Int8Quad> ? 1 : 0;
#endif

template <typename Factor>
inline constexpr bool kInt8Factor = std::is_same_v<Factor, Int16Pair> || std::is_same_v<Factor, Int8Quad>;

/// What products of such factors are summed up in.
template <typename Factor>
using Summed = std::conditional_t<std::is_same_v<Factor, Bf16Pair>, float,
                                  std::conditional_t<kInt8Factor<Factor>, std::int32_t, Factor>>;

}  // namespace roofline
