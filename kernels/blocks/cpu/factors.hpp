// The operands that a matrix product multiplies at once: one element, or neighbours along k that one instruction
// multiplies and adds in the 32 bits of a lane. Plain data for launchers; vectors of it are in factor_vectors.hpp.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/blocks/cpu/small_float.hpp"

namespace roofline {

/// For AVX512_BF16, which treats subnormals as zero.
struct Bf16Pair {
  Bf16 of[2];
};

/// 8-bit integers widened to 16 bits: every level can multiply such pairs.
struct Int16Pair {
  std::int16_t of[2];
};

/// Plain 8-bit integers. VNNI needs unsigned ones on the left, so those are offset by 128.
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

/// Steps along k per iteration of a tile's loop (register_tile.hpp).
inline constexpr std::int64_t kDepthUnroll = 4;
/// Below this number of steps, writing a tile's accumulators back is not worth it.
inline constexpr std::int64_t kLeastDepth = 64;

/// Steps at the start of a right operand's panel that hold initial accumulators, if those are not zero. For 8-bit
/// integers they subtract what the offset of the left operand adds.
template <typename Factor>
#if defined(__aarch64__)
inline constexpr std::int64_t kFirstSums = 0;
#else
inline constexpr std::int64_t kFirstSums = std::is_same_v<Factor, Int8Quad> ? 1 : 0;
#endif

template <typename Factor>
inline constexpr bool kInt8Factor = std::is_same_v<Factor, Int16Pair> || std::is_same_v<Factor, Int8Quad>;

/// Accumulator type of such factors.
template <typename Factor>
using Summed = std::conditional_t<std::is_same_v<Factor, Bf16Pair>, float,
                                  std::conditional_t<kInt8Factor<Factor>, std::int32_t, Factor>>;

}  // namespace roofline
