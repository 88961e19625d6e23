// Matrix products on tiles: operands are packed as described in tile.hpp, zero-padded, and multiplied block by
// block. `Tiles` are hardware tiles (amx_tiles.hpp) or emulated ones in tests. Include only in files compiled for a
// level.
#pragma once

#include <cstring>
#include <utility>

#include "kernels/blocks/cpu/small_vector.hpp"
#include "kernels/blocks/cpu/tile.hpp"

namespace roofline {

/// Packs tiles from memory, at level `isa`.
template <Isa isa>
struct TileForms {
  /// Unchanged layout: up to 16 rows, `stride` bytes apart, of up to 64 bytes. Counts may exceed a tile, or be
  /// negative: the tile is then outside and zero.
  static void rows(const void* from, std::int64_t stride, std::int64_t rows, std::int64_t bytes, Tile& to) {
    const auto* row = static_cast<const std::byte*>(from);
    if (rows >= kTileRows && bytes >= std::int64_t{sizeof(Row)}) {
#pragma GCC unroll 16
      for (int i = 0; i < kTileRows; ++i, row += stride) put(to, i, load(row));
      return;
    }
    to = Tile{};
    if (bytes <= 0) return;
    for (std::int64_t i = 0; i < smaller(rows, kTileRows); ++i, row += stride) {
      std::memcpy(to.words[i], row, static_cast<std::size_t>(smaller(bytes, sizeof(Row))));
    }
  }

  /// 16-bit elements whose rows go along k: up to 32 rows, of which pairs are interleaved, of up to 16 elements.
  template <typename T>
  static void pairs(const T* from, std::int64_t stride, std::int64_t depth, std::int64_t columns, Tile& to) {
    if (depth >= kTileDepth<T> && columns >= kTileRows) return interleave(from, stride, to);
    T whole[kTileDepth<T>][kTileRows]{};
    for (std::int64_t p = 0; p < smaller(depth, kTileDepth<T>) && columns > 0; ++p, from += stride) {
      std::memcpy(whole[p], from, static_cast<std::size_t>(smaller(columns, kTileRows)) * sizeof(T));
    }
    interleave(whole[0], kTileRows, to);
  }

  /// The reverse: `count` sums of a row, times `factor`, rounded to 16-bit elements.
  template <typename T>
  static void narrow(const std::uint32_t* sums, float factor, std::int64_t count, T* to) {
    for (std::int64_t j = 0; j < count; j += kLanes) {
      WideFloats wide;
      std::memcpy(&wide, sums + j, sizeof wide);
      const auto elements = __builtin_convertvector(Conversion<isa, T>::narrow_lanes(wide * factor), Elements);
      if (j + kLanes <= count) {
        std::memcpy(to + j, &elements, sizeof elements);
      } else {
        std::memcpy(to + j, &elements, static_cast<std::size_t>(count - j) * sizeof(T));
      }
    }
  }

  /// Transposes 32-bit words: turns the result of rows() for a right operand stored by columns, or of pairs() for
  /// a left one, into its form.
  static void transpose(Tile& tile) {
    Row row[kTileRows];
#pragma GCC unroll 16
    for (int i = 0; i < kTileRows; ++i) row[i] = load(tile.words[i]);
    exchange_all<1>(row);
    exchange_all<2>(row);
    exchange_all<4>(row);
    exchange_all<8>(row);
#pragma GCC unroll 16
    for (int i = 0; i < kTileRows; ++i) put(tile, i, row[i]);
  }

 private:
  using Row [[gnu::vector_size(64)]] = std::uint32_t;
  /// 16-bit elements, as many as a vector has 32-bit lanes.
  static constexpr std::int64_t kLanes = kVectorBytes / 4;
  using Elements [[gnu::vector_size(kVectorBytes / 2)]] = std::uint16_t;

  static std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
  static Row load(const void* from) {
    Row row;
    std::memcpy(&row, from, sizeof row);
    return row;
  }
  static void put(Tile& tile, int i, Row row) { std::memcpy(tile.words[i], &row, sizeof row); }

  template <typename T>
  static void interleave(const T* from, std::int64_t stride, Tile& to) {
    const auto words_at = [](const T* at) {
      Elements elements;
      std::memcpy(&elements, at, sizeof elements);
      return __builtin_convertvector(elements, WideBits);
    };
#pragma GCC unroll 16
    for (int i = 0; i < kTileRows; ++i, from += 2 * stride) {
      for (std::int64_t j = 0; j < kTileRows; j += kLanes) {
        const WideBits words = words_at(from + j) | words_at(from + stride + j) << 16;
        std::memcpy(&to.words[i][j], &words, sizeof words);
      }
    }
  }

  /// Exchanges the off-diagonal words of two rows at distance s.
  template <int s, int... l>
  static void exchange(Row& a, Row& b, std::integer_sequence<int, l...>) {
    const Row above = a;
    a = __builtin_shufflevector(above, b, ((l & s) != 0 ? 16 + l - s : l)...);
    b = __builtin_shufflevector(above, b, ((l & s) != 0 ? 16 + l : l + s)...);
  }
  template <int s>
  static void exchange_all(Row (&row)[kTileRows]) {
#pragma GCC unroll 16
    for (int i = 0; i < kTileRows; ++i) {
      if ((i & s) == 0) exchange<s>(row[i], row[i + s], std::make_integer_sequence<int, kTileRows>());
    }
  }
};

/// A block: to = from + left · right over `steps` of k; without `from`, from zero. `beside(step)` is called once
/// per step, for work that overlaps the tile products. The two loads of an operand are as far apart as possible,
/// because each takes half as long as a product.
template <Isa isa, typename T, class Tiles, class Beside>
void multiply_block(Tiles& tiles, const Tile* left, const Tile* right, std::int64_t steps, const Tile* from, Tile* to,
                    Beside beside) {
  if (from != nullptr) {
    tiles.template load<0>(from[0]);
    tiles.template load<1>(from[1]);
    tiles.template load<2>(from[2]);
    tiles.template load<3>(from[3]);
  } else {
    tiles.template zero<0>();
    tiles.template zero<1>();
    tiles.template zero<2>();
    tiles.template zero<3>();
  }
  for (std::int64_t step = 0; step < steps; ++step, left += kStepTiles, right += kStepTiles) {
    tiles.template load<4>(left[0]);
    tiles.template load<6>(right[0]);
    tiles.template multiply_add<T, 0, 4, 6>();
    tiles.template load<7>(right[1]);
    tiles.template multiply_add<T, 1, 4, 7>();
    tiles.template load<5>(left[1]);
    tiles.template multiply_add<T, 2, 5, 6>();
    tiles.template multiply_add<T, 3, 5, 7>();
    beside(step);
  }
  tiles.template store<0>(to[0]);
  tiles.template store<1>(to[1]);
  tiles.template store<2>(to[2]);
  tiles.template store<3>(to[3]);
}

/// Writes a finished block to a matrix with a row distance of `stride` elements, clipped to the matrix.
template <Isa isa, typename Result>
void write_block(const Tile* block, std::int64_t rows, std::int64_t columns, Result* to, std::int64_t stride) {
  for (std::int64_t i = 0; i < kTileBlock && i < rows; ++i, to += stride) {
    for (std::int64_t half = 0; half < 2; ++half) {
      const std::uint32_t* sums = block[i / kTileRows * 2 + half].words[i % kTileRows];
      const std::int64_t j = half * kTileRows;
      const std::int64_t count = columns - j < kTileRows ? columns - j : kTileRows;
      if constexpr (std::is_same_v<Result, std::int32_t>) {
        for (std::int64_t e = 0; e < count; ++e) to[j + e] = static_cast<std::int32_t>(sums[e]);
      } else {
        TileForms<isa>::narrow(sums, 1, count, to + j);
      }
    }
  }
}

}  // namespace roofline
