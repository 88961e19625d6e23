// Convolution as a tile product: windows are gathered from the images into tiles of the left operand, a few steps of
// the depth at a time. Include only in files compiled for a level.
#pragma once

#include "kernels/blocks/cpu/tile_product.hpp"
#include "kernels/conv2d/conv2d_amx.hpp"

namespace roofline {

template <Isa isa, typename T, class Tiles>
class TiledConv {
 public:
  static void pack(const T* filters, const ConvSize& size, std::int64_t first, std::int64_t count, Tile* to) {
    const std::int64_t steps = ConvTiles(size).steps;
    for (std::int64_t number = first; number < first + count; ++number) {
      const std::int64_t p = number % steps * kStep;
      for (std::int64_t half = 0; half < kStepTiles; ++half) {
        const std::int64_t filter = number / steps * kTileBlock + half * kTileRows;
        Tile& tile = to[number * kStepTiles + half];
        Forms::rows(filters + filter * size.depth + p, bytes(size.depth), size.filters - filter, bytes(size.depth - p),
                    tile);
        Forms::transpose(tile);
      }
    }
  }

  TiledConv(const T* input, const Tile* filters, T* output, const ConvSize& size, Tile* workspace)
      : input_(input),
        filters_(filters),
        output_(output),
        size_(size),
        count_(size),
        line_(size.width * size.channels),
        window_line_(size.kernel * size.channels),
        left_(workspace),
        last_(left_ + kConvSteps * kStepTiles),
        sums_(last_ + kBlockTiles) {}

  void run(std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; i += kConvPixelBlocks) {
      for (std::int64_t j = 0; j < count_.filter_blocks; j += kConvFilterBlocks) {
        const Piece piece{i, j, smaller(kConvPixelBlocks, first + count - i),
                          smaller(kConvFilterBlocks, count_.filter_blocks - j)};
        for (std::int64_t step = 0; step < count_.steps; step += kConvSteps) multiply(piece, step);
      }
    }
  }

 private:
  using Forms = TileForms<isa>;
  static constexpr std::int64_t kStep = kTileDepth<T>;

  /// A part of the output, in blocks.
  struct Piece {
    std::int64_t pixel_block, filter_block, pixel_blocks, filter_blocks;
  };
  /// Position of a window: the image's element (0, 0, 0), and its own start in it, which may be padding.
  struct Corner {
    std::int64_t image, top, left;
  };

  static std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
  static std::int64_t bytes(std::int64_t elements) { return elements * std::int64_t{sizeof(T)}; }

  /// Adds the products of a few steps of the depth to a part of the output.
  void multiply(const Piece& piece, std::int64_t first) {
    const std::int64_t steps = smaller(kConvSteps, count_.steps - first);
    const bool last = first + steps == count_.steps;
    for (std::int64_t i = 0; i < piece.pixel_blocks; ++i) {
      const std::int64_t pixel = (piece.pixel_block + i) * kTileBlock;
      gather(pixel, first, steps);
      for (std::int64_t j = 0; j < piece.filter_blocks; ++j) {
        Tile* sums = sums_ + (i * piece.filter_blocks + j) * kBlockTiles;
        const Tile* right = filters_ + ((piece.filter_block + j) * count_.steps + first) * kStepTiles;
        multiply_block<isa, T>(tiles_, left_, right, steps, first > 0 ? sums : nullptr, last ? last_ : sums,
                               [](std::int64_t) {});
        if (!last) continue;
        const std::int64_t filter = (piece.filter_block + j) * kTileBlock;
        write_block<isa>(last_, size_.pixels - pixel, size_.filters - filter, output_ + pixel * size_.filters + filter,
                         size_.filters);
      }
    }
  }

  /// The windows of a block of pixels, `steps` steps of their depth, as tiles.
  void gather(std::int64_t pixel, std::int64_t first, std::int64_t steps) {
    Corner corners[kTileBlock];
    find_corners(pixel, corners);
    std::int64_t row = first * kStep / window_line_;
    std::int64_t from = first * kStep % window_line_;
    for (std::int64_t step = 0; step < steps; ++step) {
      Tile* tiles = left_ + step * kStepTiles;
      for (std::int64_t i = 0; i < kTileBlock; ++i) {
        gather_row(corners[i], row, from, tiles[i / kTileRows].words[i % kTileRows]);
      }
      for (from += kStep; from >= window_line_; from -= window_line_) ++row;
    }
  }

  /// Pixel by pixel, without a division for each. Past the last pixel they are below the image.
  void find_corners(std::int64_t pixel, Corner (&corners)[kTileBlock]) const {
    std::int64_t column = pixel % size_.columns;
    std::int64_t row = pixel / size_.columns % size_.rows;
    std::int64_t image = pixel / size_.columns / size_.rows;
    for (Corner& corner : corners) {
      corner = {image * size_.height * line_, image < size_.batch ? row - size_.padding : size_.height,
                column - size_.padding};
      if (++column < size_.columns) continue;
      column = 0;
      if (++row < size_.rows) continue;
      row = 0;
      ++image;
    }
  }

  /// A step's elements of a window, from element `from` of its row `row` on.
  void gather_row(const Corner& corner, std::int64_t row, std::int64_t from, std::uint32_t (&to)[kTileRows]) const {
    const std::int64_t y = corner.top + row;
    const std::int64_t x = corner.left * size_.channels + from;
    const bool whole = from + kStep <= window_line_ && row < size_.kernel;  // contiguous elements of the image
    if (whole && y >= 0 && y < size_.height && x >= 0 && x + kStep <= line_) {
      std::memcpy(to, input_ + corner.image + y * line_ + x, sizeof to);
    } else if (whole && (y < 0 || y >= size_.height)) {
      std::memset(to, 0, sizeof to);
    } else {
      gather_elements(corner, row, from, to);
    }
  }

  void gather_elements(const Corner& corner, std::int64_t row, std::int64_t from,
                       std::uint32_t (&to)[kTileRows]) const {
    T elements[kStep]{};
    for (T& element : elements) {
      const std::int64_t y = corner.top + row;
      const std::int64_t x = corner.left * size_.channels + from;
      if (row < size_.kernel && y >= 0 && y < size_.height && x >= 0 && x < line_) {
        element = input_[corner.image + y * line_ + x];
      }
      if (++from < window_line_) continue;
      from = 0;
      ++row;
    }
    std::memcpy(to, elements, sizeof to);
  }

  const T* input_;
  const Tile* filters_;
  T* output_;
  const ConvSize size_;
  const ConvTiles count_;
  const std::int64_t line_, window_line_;  ///< elements of a row of an image, and of a window
  Tiles tiles_;
  Tile* left_;  ///< windows
  Tile* last_;  ///< a finished block
  Tile* sums_;  /// blocks to which further depths are added
};

}  // namespace roofline
