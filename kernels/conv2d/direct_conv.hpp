// The direct convolution on register tiles: how it is cut, and what the launcher sees of its kernels. A worker copies
// the part of an image that some rows of the output need into its L2, with its padding, so that the windows of
// neighbouring pixels lie a pixel apart, and multiplies them where they lie by packed filters: no window is gathered.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/blocks/cpu/factors.hpp"
#include "kernels/blocks/cpu/packed_product.hpp"
#include "kernels/conv2d/conv2d.hpp"
#include "op/op.hpp"

namespace roofline {

/// How a convolution is cut.
struct ConvBlocks {
  std::int64_t channels;       ///< factors of a pixel
  std::int64_t panels;         ///< of filters, each a tile's columns wide
  std::int64_t rows, columns;  ///< of the output that a worker is at, at most; what it takes is a panel of them
  std::int64_t part_rows;      ///< of windows whose filters stay in L2, or
  std::int64_t part_steps;     ///< of one row: so many factors
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
  /// Panels [first, last) of the filters, each of all steps of the depth: window row by row, pixel by pixel.
  void (*pack)(const T* filters, const ConvSize& size, const ConvBlocks& blocks, std::int64_t first, std::int64_t last,
               Factor* to);
  /// The part of an image that the piece's windows see. `image` holds what conv_blocks() lets a worker be at, and its
  /// borders.
  void (*place)(const T* input, const ConvSize& size, const ConvBlocks& blocks, const ConvPiece& piece, Factor* image);
  /// A piece of the output, of the image as it was placed. `sums` holds a panel's width of it.
  void (*convolve)(const Factor* image, const Factor* filters, T* output, const ConvSize& size,
                   const ConvBlocks& blocks, const ConvPiece& piece, Summed<Factor>* sums);
};

template <Isa isa, typename T, typename Factor>
ConvKernels<T, Factor> conv_kernels();

/// `direct` and `dots`.
std::vector<Implementation> direct_conv_implementations();

}  // namespace roofline
