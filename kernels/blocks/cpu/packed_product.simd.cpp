// Packing and multiplying of blocks, one for each instruction-set level.
#include "kernels/blocks/cpu/packed_product.hpp"

#include "kernels/blocks/cpu/register_tile.hpp"

namespace roofline {
namespace {

std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

/// The last panel is filled up with copies of the last row.
template <int kWidth, typename T>
void pack_rows(const T* from, std::int64_t stride, std::int64_t rows, std::int64_t depth, Computed<T>* to) {
  for (std::int64_t first = 0; first < rows; first += kWidth, to += kWidth * depth) {
    const T* panel[kWidth];
    for (std::int64_t i = 0; i < kWidth; ++i) panel[i] = from + smaller(first + i, rows - 1) * stride;
    pack_across<kWidth, kIsa>(panel, depth, to);
  }
}

/// Some panels side by side, for what they are read from lies in rows far apart.
template <int kWidth, typename T>
void pack_columns(const T* from, std::int64_t stride, std::int64_t columns, std::int64_t depth, Computed<T>* to) {
  constexpr std::int64_t kTogether = 4 * kWidth;
  constexpr std::int64_t kSteps = 64;
  for (std::int64_t first = 0; first < columns; first += kTogether) {
    for (std::int64_t p = 0; p < depth; p += kSteps) {
      for (std::int64_t j = first; j < smaller(first + kTogether, columns); j += kWidth) {
        pack_along<kWidth, kIsa>(from + p * stride + j, stride, smaller(kSteps, depth - p),
                                 smaller(kWidth, columns - j), to + j * depth + p * kWidth);
      }
    }
  }
}

/// The tiles of the last columns, by way of a tile of their own.
template <typename Value>
void multiply_edge(const Value* left, const Value* right, const ProductExtents& piece, Value* c, std::int64_t ldc,
                   bool add) {
  using Tile = RegisterTile<kIsa, Value>;
  alignas(64) Value tile[Tile::kRows * Tile::kColumns];
  for (std::int64_t first = 0; first < piece.m; first += Tile::kRows) {
    const std::int64_t rows = smaller(Tile::kRows, piece.m - first);
    multiply_rows<kIsa>(left + first * piece.k, piece.k, right, piece.k, tile, Tile::kColumns, rows, Overwrite{});
    for (std::int64_t i = 0; i < rows; ++i) {
      Value* to = c + (first + i) * ldc;
      for (std::int64_t j = 0; j < piece.n; ++j) to[j] = (add ? to[j] : 0) + tile[i * Tile::kColumns + j];
    }
  }
}

/// Each tile asks for some of the next panel, into L2, while it walks the depth: the first tile of that would wait for
/// all of it (0.93 of the FMAs on a Zen 5, 0.91 without, and 0.90 asking for it all at once as the tile begins).
template <typename Value>
void multiply(const Value* left, const Value* right, const ProductExtents& piece, Value* c, std::int64_t ldc,
              bool add) {
  using Tile = RegisterTile<kIsa, Value>;
  constexpr std::int64_t kColumns = Tile::kColumns;
  const std::int64_t panel = piece.k * kColumns;
  const std::int64_t asked = Tile::kRows * (panel / piece.m + 1);  // by a tile
  const std::int64_t times = piece.k < kDepthUnroll ? 1 : piece.k / kDepthUnroll;
  const std::int64_t bytes = asked * std::int64_t{sizeof(Value)} / times;
  for (std::int64_t j = 0; j < piece.n; j += kColumns, right += panel) {
    const std::int64_t columns = piece.n - j;
    if (columns < kColumns) {
      return multiply_edge(left, right, {piece.m, columns, piece.k}, c + j, ldc, add);
    }
    const auto rows_of = [&](auto finish) {
      const Value* next = right + panel;
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

template <typename T>
ProductKernels<T> kernels_of() {
  using Value = Computed<T>;
  using Tile = RegisterTile<kIsa, Value>;
  ProductKernels<T> kernels{.tile = {Tile::kRows, Tile::kColumns, sizeof(Value), Tile::kPanelLevel},
                            .pack_left = &pack_rows<Tile::kRows, T>,
                            .pack_right = &pack_columns<static_cast<int>(Tile::kColumns), T>,
                            .pack_right_transposed = &pack_rows<static_cast<int>(Tile::kColumns), T>,
                            .multiply = &multiply<Value>};
  if constexpr (kSmallFloat<T>) kernels.narrow = converters<kIsa, T>().narrow;
  return kernels;
}

}  // namespace

template <>
ProductKernels<float> product_kernels<kIsa, float>() {
  return kernels_of<float>();
}
template <>
ProductKernels<double> product_kernels<kIsa, double>() {
  return kernels_of<double>();
}
template <>
ProductKernels<Fp16> product_kernels<kIsa, Fp16>() {
  return kernels_of<Fp16>();
}
template <>
ProductKernels<Bf16> product_kernels<kIsa, Bf16>() {
  return kernels_of<Bf16>();
}

}  // namespace roofline
