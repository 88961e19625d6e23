// Packing and multiplication of blocks, one per instruction-set level.
#include "kernels/blocks/cpu/packed_product.hpp"

#include <cstring>

#include "kernels/blocks/cpu/pack_panels.hpp"
#include "kernels/blocks/cpu/register_tile.hpp"

namespace roofline {
namespace {

std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
std::int64_t up_to(std::int64_t count, std::int64_t unit) { return (count + unit - 1) / unit * unit; }

/// 8-bit integers are offset if their products have initial sums.
template <int kWidth, typename T, typename Factor>
void pack_left(const T* from, std::int64_t stride, std::int64_t rows, std::int64_t depth, Factor* to) {
  pack_rows<kWidth, kIsa>(from, stride, rows, depth, to);
  if constexpr (kFirstSums<Factor> == 1) {
    const std::int64_t bytes = up_to(rows, kWidth) * steps_of<Factor>(depth) * std::int64_t{sizeof(Factor)};
    auto* raised = reinterpret_cast<unsigned char*>(to);
    for (std::int64_t i = 0; i < bytes; ++i) raised[i] ^= 0x80;
  }
}

/// What the offset of the left operand adds to each column, modulo 2^32 like the sums.
template <int kWidth, typename Factor>
void put_first_sums(const std::int8_t* from, std::int64_t stride, std::int64_t columns, std::int64_t depth,
                    Factor* to) {
  const std::int64_t panel = kWidth * (kFirstSums<Factor> + steps_of<Factor>(depth));
  for (std::int64_t j = 0; j < up_to(columns, kWidth); ++j) {
    const std::int8_t* column = from + smaller(j, columns - 1) * stride;
    std::int32_t sum = 0;
    for (std::int64_t p = 0; p < depth; ++p) sum += column[p];
    const auto taken_off = -128 * static_cast<std::uint32_t>(sum);
    std::memcpy(to + j / kWidth * panel + j % kWidth, &taken_off, sizeof taken_off);
  }
}

/// Several panels at a time, because their source rows are far apart. For 8-bit integers a column is a row in
/// memory.
template <int kWidth, typename T, typename Factor>
void pack_right(const T* from, std::int64_t stride, std::int64_t columns, std::int64_t depth, Factor* to) {
  if constexpr (kInt8Factor<Factor>) {
    pack_rows<kWidth, kIsa>(from, stride, columns, depth, to, kFirstSums<Factor>);
    if constexpr (kFirstSums<Factor> == 1) put_first_sums<kWidth>(from, stride, columns, depth, to);
  } else {
    constexpr std::int64_t kTogether = 4 * kWidth;
    constexpr std::int64_t kDepth = 64 * kProducts<Factor>;
    for (std::int64_t first = 0; first < columns; first += kTogether) {
      for (std::int64_t p = 0; p < depth; p += kDepth) {
        for (std::int64_t j = first; j < smaller(first + kTogether, columns); j += kWidth) {
          pack_along<kWidth, kIsa>(from + p * stride + j, stride, smaller(kDepth, depth - p),
                                   smaller(kWidth, columns - j),
                                   to + j * steps_of<Factor>(depth) + p / kProducts<Factor> * kWidth);
        }
      }
    }
  }
}

/// Tiles of the last columns, through a buffer of one tile.
template <typename Factor>
void multiply_edge(const Factor* left, const Factor* right, const ProductExtents& piece, Summed<Factor>* c,
                   std::int64_t ldc, bool add) {
  using Tile = RegisterTile<kIsa, Factor>;
  alignas(64) Summed<Factor> tile[Tile::kRows * Tile::kColumns];
  for (std::int64_t first = 0; first < piece.m; first += Tile::kRows) {
    const std::int64_t rows = smaller(Tile::kRows, piece.m - first);
    multiply_rows<kIsa>(left + first * piece.k, piece.k, right, piece.k, tile, Tile::kColumns, rows, Overwrite{});
    for (std::int64_t i = 0; i < rows; ++i) {
      Summed<Factor>* to = c + (first + i) * ldc;
      for (std::int64_t j = 0; j < piece.n; ++j) to[j] = (add ? to[j] : 0) + tile[i * Tile::kColumns + j];
    }
  }
}

/// Each tile prefetches part of the next panel into L2 while it iterates over k. Otherwise the first tile of that
/// panel would wait for all of it (Zen 5: 0.93 of the FMA rate, 0.91 without, 0.90 with one prefetch of the whole
/// panel at the start of a tile).
template <typename Factor>
void multiply(const Factor* left, const Factor* right, const ProductExtents& piece, Summed<Factor>* c, std::int64_t ldc,
              bool add) {
  using Tile = RegisterTile<kIsa, Factor>;
  constexpr std::int64_t kColumns = Tile::kColumns;
  const std::int64_t panel = (kFirstSums<Factor> + piece.k) * kColumns;
  const std::int64_t asked = Tile::kRows * (panel / piece.m + 1);  // bytes prefetched by a tile
  const std::int64_t times = piece.k < kDepthUnroll ? 1 : piece.k / kDepthUnroll;
  const std::int64_t bytes = asked * std::int64_t{sizeof(Factor)} / times;
  for (std::int64_t j = 0; j < piece.n; j += kColumns, right += panel) {
    const std::int64_t columns = piece.n - j;
    if (columns < kColumns) {
      return multiply_edge(left, right, {piece.m, columns, piece.k}, c + j, ldc, add);
    }
    const auto rows_of = [&](auto finish) {
      const Factor* next = right + panel;
      for (std::int64_t i = 0; i < piece.m; i += Tile::kRows, next += asked) {
        multiply_panels<kIsa>(left + i * piece.k, right, piece.k, c + i * ldc + j, ldc,
                              smaller(Tile::kRows, piece.m - i), finish,
                              AskAhead<kIsa>{reinterpret_cast<const char*>(next), bytes});
      }
    };
    if (add) {
      rows_of(AddTo{});
    } else {
      rows_of(Overwrite{});
    }
  }
}

}  // namespace

template <Isa isa, typename T, typename Factor>
ProductKernels<T, Factor> product_kernels() {
  using Tile = RegisterTile<isa, Factor>;
  ProductKernels<T, Factor> kernels{.tile = {Tile::kRows, Tile::kColumns, sizeof(Factor), Tile::kPanelLevel},
                                    .pack_left = &pack_left<Tile::kRows, T, Factor>,
                                    .pack_right = &pack_right<static_cast<int>(Tile::kColumns), T, Factor>,
                                    .multiply = &multiply<Factor>};
  if constexpr (kSmallFloat<T>) kernels.narrow = converters<isa, T>().narrow;
  return kernels;
}

template ProductKernels<float, float> product_kernels<kIsa>();
template ProductKernels<double, double> product_kernels<kIsa>();
template ProductKernels<Fp16, float> product_kernels<kIsa>();
template ProductKernels<Bf16, float> product_kernels<kIsa>();
template ProductKernels<Bf16, Bf16Pair> product_kernels<kIsa>();
template ProductKernels<std::int8_t, Int16Pair> product_kernels<kIsa>();
template ProductKernels<std::int8_t, Int8Quad> product_kernels<kIsa>();

}  // namespace roofline
