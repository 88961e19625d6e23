// Direct convolution on register tiles: blocking, and declarations of its kernels. A worker copies the part of an
// image that some output rows need into its L2, padded, so that the windows of adjacent pixels are one pixel apart,
// and multiplies them in place by packed filters, without im2col.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/blocks/cpu/factors.hpp"
#include "kernels/blocks/cpu/packed_product.hpp"
#include "kernels/conv2d/conv2d.hpp"
#include "op/op.hpp"

namespace roofline {

/// Blocking of a convolution.
struct ConvBlocks {
  std::int64_t channels;  ///< factors of a pixel
  std::int64_t panels;    ///< of filters, each a tile's columns wide
  std::int64_t rows,
      columns;             /// of the output in a worker's block (upper bound); a chunk is one panel of filters for them
  std::int64_t part_rows;  /// of windows whose filters stay in L2, or
  std::int64_t part_steps;  /// of one row: this many factors
};
ConvBlocks conv_blocks(const ConvSize& size, const TileExtents& tile, std::int64_t products,
                       std::span<const CacheInfo> caches, int workers);

/// A part of one image's output.
struct ConvPiece {
  std::int64_t image, top, left;
  std::int64_t rows, columns;
  std::int64_t first_panel, last_panel;
};

/// The kernels of one instruction-set level, for elements of type T that are multiplied as factors.
template <typename T, typename Factor>
struct ConvKernels {
  TileExtents tile;
  /// Packs panels [first, last) of the filters, each over the whole depth: window row by row, pixel by pixel.
  void (*pack)(const T* filters, const ConvSize& size, const ConvBlocks& blocks, std::int64_t first, std::int64_t last,
               Factor* to);
  /// Copies the part of an image that the windows of the output part need. `image` has room for a block of
  /// conv_blocks() and its borders.
  void (*place)(const T* input, const ConvSize& size, const ConvBlocks& blocks, const ConvPiece& piece, Factor* image);
  /// Computes an output part from the copied image. `sums` has room for a panel's width of it.
  void (*convolve)(const Factor* image, const Factor* filters, T* output, const ConvSize& size,
                   const ConvBlocks& blocks, const ConvPiece& piece, Summed<Factor>* sums);
};

template <Isa isa, typename T, typename Factor>
ConvKernels<T, Factor> conv_kernels();

/// `direct` and `dots`.
std::vector<Implementation> direct_conv_implementations();

}  // namespace roofline
