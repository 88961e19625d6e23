// What a tile register of a matrix unit holds, and how the operands and sums of a product lie in tiles. Plain data: any
// file may see it.
//
// The left operand's tile is 16 of its rows, 64 bytes of the depth each. The right operand's tile has 16 columns, and
// as much of the depth: each row of it holds, for every column, the neighbours along the depth that share 32 bits (two
// elements of 16 bits, four of 8). Sums are 16 x 16 of 32 bits.
#pragma once

#include <cstdint>
#include <type_traits>

namespace roofline {

inline constexpr std::int64_t kTileRows = 16;

struct alignas(64) Tile {
  std::uint32_t words[kTileRows][kTileRows];
};

/// Elements of a row of the left operand's tile: the depth that one step covers.
template <typename T>
inline constexpr std::int64_t kTileDepth = std::int64_t{64 / sizeof(T)};

/// What products of T are summed up in.
template <typename T>
using TileSum = std::conditional_t<std::is_same_v<T, std::int8_t>, std::int32_t, float>;

/// Rows and columns of a block: 2 × 2 tiles of sums, row by row, which stay in registers while the depth is walked.
inline constexpr std::int64_t kTileBlock = 2 * kTileRows;
inline constexpr std::int64_t kBlockTiles = 4;

/// Both operands of a block are strips: for each step of the depth two tiles, 32 rows or 32 columns.
inline constexpr std::int64_t kStepTiles = 2;

}  // namespace roofline
