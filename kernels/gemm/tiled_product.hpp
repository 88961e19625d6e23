// Loops around blocks of tiles: C in parts whose accumulators stay in L2, the depth in steps that keep a strip of A
// in L1. Include only in files compiled for a level.
#pragma once

#include "kernels/blocks/cpu/tile_product.hpp"
#include "kernels/gemm/gemm_amx.hpp"

namespace roofline {

/// A part of a matrix in memory whose lines are prefetched one at a time. Hardware prefetchers miss it, because
/// each row begins on another page.
template <Isa isa>
class LinesAhead {
 public:
  LinesAhead() = default;
  LinesAhead(const void* from, std::int64_t stride, std::int64_t rows, std::int64_t bytes)
      : row_(static_cast<const char*>(from)), stride_(stride), rows_(rows), bytes_(bytes) {}

  void next() {
    if (rows_ <= 0) return;
    __builtin_prefetch(row_ + at_, 0, 2);  // into L2
    at_ += 64;
    if (at_ < bytes_) return;
    at_ = 0;
    row_ += stride_;
    --rows_;
  }

 private:
  const char* row_ = nullptr;
  std::int64_t stride_ = 0, rows_ = 0, bytes_ = 0, at_ = 0;
};

template <Isa isa, typename T, class Tiles>
class TiledLoops {
 public:
  TiledLoops(const TiledProduct<T>& product, Tile* workspace)
      : product_(product),
        left_(workspace),
        last_(left_ + kTiledSteps * kStepTiles),
        right_(last_ + kBlockTiles),
        sums_(right_ + blocks(smaller(product.columns, kTiledColumns)) * kTiledSteps * kStepTiles) {}

  void run() {
    for (std::int64_t j = 0; j < product_.columns; j += kTiledColumns) {
      for (std::int64_t i = 0; i < product_.rows; i += kTiledRows) {
        const Piece piece{i, j, smaller(kTiledRows, product_.rows - i), smaller(kTiledColumns, product_.columns - j)};
        for (std::int64_t p = 0; p < product_.depth; p += kDepth) multiply(piece, p);
      }
    }
  }

 private:
  using Forms = TileForms<isa>;
  static constexpr bool kTransposed = std::is_same_v<T, std::int8_t>;
  static constexpr std::int64_t kDepth = kTiledSteps * kTileDepth<T>;

  /// A part of C.
  struct Piece {
    std::int64_t top, left, rows, columns;
  };

  static std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
  static std::int64_t blocks(std::int64_t count) { return (count + kTileBlock - 1) / kTileBlock; }
  static std::int64_t bytes(std::int64_t elements) { return elements * std::int64_t{sizeof(T)}; }
  std::int64_t depth_from(std::int64_t p) const { return smaller(kDepth, product_.depth - p); }

  /// Adds the products of the depth from p on to a part of C.
  void multiply(const Piece& piece, std::int64_t p) {
    const std::int64_t depth = depth_from(p);
    const std::int64_t steps = (depth + kTileDepth<T> - 1) / kTileDepth<T>;
    const std::int64_t panels = blocks(piece.columns);
    const bool last = p + depth == product_.depth;
    pack_right(piece, p, panels, steps);
    LinesAhead<isa> b_ahead = last ? LinesAhead<isa>() : right_ahead(piece, p + depth);
    for (std::int64_t strip = 0; strip < blocks(piece.rows); ++strip) {
      pack_left(piece, strip, p, steps);
      const std::int64_t below = (strip + 1) * kTileBlock;
      LinesAhead<isa> a_ahead(product_.a + (piece.top + below) * product_.lda + p, bytes(product_.lda),
                              smaller(kTileBlock, piece.rows - below), bytes(depth));
      for (std::int64_t panel = 0; panel < panels; ++panel) {
        Tile* sums = sums_ + (strip * panels + panel) * kBlockTiles;
        const auto beside = [&](std::int64_t step) {
          a_ahead.next();
          b_ahead.next();
          for (int line = 0; p > 0 && line < 4; ++line) {  // the next block's accumulators, 64 lines
            __builtin_prefetch(sums[kBlockTiles + step / 4].words[step % 4 * 4 + line], 1);
          }
        };
        multiply_block<isa, T>(tiles_, left_, right_ + panel * steps * kStepTiles, steps, p > 0 ? sums : nullptr,
                               last ? last_ : sums, beside);
        if (!last) continue;
        const std::int64_t i = strip * kTileBlock;
        const std::int64_t j = panel * kTileBlock;
        write_block<isa>(last_, piece.rows - i, piece.columns - j,
                         product_.c + (piece.top + i) * product_.ldc + piece.left + j, product_.ldc);
      }
    }
  }

  void pack_left(const Piece& piece, std::int64_t strip, std::int64_t p, std::int64_t steps) {
    for (std::int64_t step = 0; step < steps; ++step, p += kTileDepth<T>) {
      for (std::int64_t half = 0; half < kStepTiles; ++half) {
        const std::int64_t i = strip * kTileBlock + half * kTileRows;
        Forms::rows(product_.a + (piece.top + i) * product_.lda + p, bytes(product_.lda), piece.rows - i,
                    bytes(product_.depth - p), left_[step * kStepTiles + half]);
      }
    }
  }

  /// In memory order, prefetching the next 32 rows while these are packed.
  void pack_right(const Piece& piece, std::int64_t p, std::int64_t panels, std::int64_t steps) {
    const std::int64_t j = kTransposed ? kTileBlock : 0;
    LinesAhead<isa> coming =
        right_ahead({piece.top, piece.left + j, piece.rows, piece.columns - j}, p + (kTransposed ? 0 : kTileBlock));
    for (std::int64_t row = 0; row < (kTransposed ? panels : steps); ++row) {
      for (std::int64_t along = 0; along < (kTransposed ? steps : panels); ++along) {
        for (std::int64_t line = 0; line < kTileBlock; ++line) coming.next();
        kTransposed ? pack_panel(piece, p, steps, row, along) : pack_panel(piece, p, steps, along, row);
      }
    }
  }

  /// One step of one panel.
  void pack_panel(const Piece& piece, std::int64_t p, std::int64_t steps, std::int64_t panel, std::int64_t step) {
    p += step * kTileDepth<T>;
    for (std::int64_t half = 0; half < kStepTiles; ++half) {
      const std::int64_t j = panel * kTileBlock + half * kTileRows;
      const T* from = b_at(p, piece.left + j);
      Tile& to = right_[(panel * steps + step) * kStepTiles + half];
      if constexpr (kTransposed) {
        Forms::rows(from, bytes(product_.ldb), piece.columns - j, bytes(product_.depth - p), to);
        Forms::transpose(to);
      } else {
        Forms::pairs(from, product_.ldb, product_.depth - p, piece.columns - j, to);
      }
    }
  }

  const T* b_at(std::int64_t p, std::int64_t j) const {
    return product_.b + (kTransposed ? j * product_.ldb + p : p * product_.ldb + j);
  }

  /// The part of B that the depth from p on will pack.
  LinesAhead<isa> right_ahead(const Piece& piece, std::int64_t p) const {
    const std::int64_t depth = depth_from(p);
    return {b_at(p, piece.left), bytes(product_.ldb), kTransposed ? piece.columns : depth,
            bytes(kTransposed ? depth : piece.columns)};
  }

  const TiledProduct<T> product_;
  Tiles tiles_;
  Tile* left_;   ///< a strip of A
  Tile* last_;   ///< a finished block
  Tile* right_;  ///< panels of B
  Tile* sums_;   /// blocks of C to which further depths are added
};

}  // namespace roofline
