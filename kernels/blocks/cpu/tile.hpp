// The contents of a matrix unit's tile register, and the layout of a product's operands and accumulators in tiles.
// Plain data; any file may include it.
//
// The left operand's tile has 16 rows of 64 bytes along k. The right operand's tile has 16 columns and the same
// depth: each row holds, for every column, the neighbours along k that share 32 bits (two 16-bit elements, four
// 8-bit ones). Accumulators are 16 x 16 of 32 bits.
#pragma once

#include <cstdint>
#include <type_traits>

namespace roofline {

inline constexpr std::int64_t kTileRows = 16;

struct alignas(64) Tile {
  std::uint32_t words[kTileRows][kTileRows];
};

/// Elements of a row of the left operand's tile: the depth of one step.
template <typename T>
inline constexpr std::int64_t kTileDepth = std::int64_t{64 / sizeof(T)};

/// Accumulator type of products of T.
template <typename T>
using TileSum = std::conditional_t<std::is_same_v<T, std::int8_t>, std::int32_t, float>;

/// Rows and columns of a block: 2 × 2 accumulator tiles, row by row, which stay in registers over the whole depth.
inline constexpr std::int64_t kTileBlock = 2 * kTileRows;
inline constexpr std::int64_t kBlockTiles = 4;

/// Both operands of a block are strips: two tiles per step of k, 32 rows or 32 columns.
inline constexpr std::int64_t kStepTiles = 2;

}  // namespace roofline
