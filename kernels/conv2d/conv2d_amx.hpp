// Convolution on the tiles of AMX: what the launcher sees of the kernels.
#pragma once

#include <cstdint>

#include "kernels/blocks/cpu/tile.hpp"
#include "kernels/conv2d/conv2d.hpp"

namespace roofline {

/// Blocks of pixels and of filters that are worked on at a time, and steps of the depth. Windows of a block of pixels,
/// 32 KiB, stay in L1 while those steps of all filters, 512 KiB, go by in L2; sums wait behind that.
inline constexpr std::int64_t kConvPixelBlocks = 32;
inline constexpr std::int64_t kConvFilterBlocks = 16;
inline constexpr std::int64_t kConvSteps = 16;

/// Of 16-bit elements.
struct ConvTiles {
  explicit ConvTiles(const ConvSize& size);

  std::int64_t pixel_blocks, filter_blocks;
  std::int64_t steps;      ///< of the depth
  std::int64_t filters;    ///< tiles of all packed filters
  std::int64_t workspace;  ///< tiles that a thread needs beside them
};

/// Brings steps of the filters into their form, numbered block by block, and step by step within a block. `to` is that
/// of all.
template <Isa isa, typename T>
void amx_pack_filters(const T* filters, const ConvSize& size, std::int64_t first, std::int64_t count, Tile* to);

/// Blocks of 32 output pixels, all filters of each, on the calling thread, at level avx512, with T = Bf16 or Fp16:
/// where amx_missing() has no objection.
template <Isa isa, typename T>
void amx_convolution(const T* input, const Tile* filters, T* output, const ConvSize& size, std::int64_t first,
                     std::int64_t count, Tile* workspace);

}  // namespace roofline
