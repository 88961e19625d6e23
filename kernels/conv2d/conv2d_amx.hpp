// Convolution on AMX tiles: declarations of the kernels.
#pragma once

#include <cstdint>

#include "kernels/blocks/cpu/tile.hpp"
#include "kernels/conv2d/conv2d.hpp"

namespace roofline {

/// Blocks of pixels and of filters per step, and steps along k. Windows of a block of pixels, 32 KiB, stay in L1
/// while those steps of all filters, 512 KiB, stream through L2; accumulators are behind them.
inline constexpr std::int64_t kConvPixelBlocks = 32;
inline constexpr std::int64_t kConvFilterBlocks = 16;
inline constexpr std::int64_t kConvSteps = 16;

/// Counts for 16-bit elements.
struct ConvTiles {
  explicit ConvTiles(const ConvSize& size);

  std::int64_t pixel_blocks, filter_blocks;
  std::int64_t steps;      ///< of the depth
  std::int64_t filters;    ///< tiles of all packed filters
  std::int64_t workspace;  ///< tiles that a thread needs beside them
};

/// Packs steps of the filters, numbered block by block, and step by step within a block. `to` is the start of the
/// whole packed array.
template <Isa isa, typename T>
void amx_pack_filters(const T* filters, const ConvSize& size, std::int64_t first, std::int64_t count, Tile* to);

/// Blocks of 32 output pixels, all filters of each, single-threaded, at level avx512, with T = Bf16 or Fp16;
/// requires amx_missing() to return nothing.
template <Isa isa, typename T>
void amx_convolution(const T* input, const Tile* filters, T* output, const ConvSize& size, std::int64_t first,
                     std::int64_t count, Tile* workspace);

}  // namespace roofline
