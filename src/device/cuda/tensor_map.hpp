// Tensor maps: how the copy engine of sm_90 finds tiles of a tensor in global memory (tma.cuh).
#pragma once

#include <cuda.h>

#include <cstdint>
#include <span>

#include "model/names.hpp"

namespace roofline {

/// How a tile lies in shared memory: rows as they come, or with the 128-byte swizzle that wgmma's descriptors name
/// (then a row of the box is 128 bytes at most, and the tile aligned to 1024).
enum class TileLayout : std::uint8_t { plain, swizzle_128 };

/// Bytes that L2 fetches if a tile needs fewer: 256 for neighbours that other tiles need soon, 128 for data that is
/// streamed once. On an H200, streaming a matrix in tiles 128 bytes wide takes 5 to 8 % longer with neighbours.
enum class L2Fetch : std::uint8_t { bytes_128, bytes_256 };

/// A map of a dense tensor at `base` (device memory, 16-byte aligned). `extents` in elements, innermost first;
/// `strides` in elements of all but the innermost dimension, so one fewer, each a multiple of 16 bytes; `box`: the
/// extents of one tile (256 at most each). Throws Error with the driver's message.
CUtensorMap make_tensor_map(const void* base, DType dtype, std::span<const std::int64_t> extents,
                            std::span<const std::int64_t> strides, std::span<const int> box,
                            TileLayout layout = TileLayout::swizzle_128, L2Fetch fetch = L2Fetch::bytes_256);

/// As above, for convolution (im2col mode): `extents` and `strides` of an N, H, W, C tensor are given innermost first
/// (C, W, H, N); a tile is `pixels` consecutive output pixels (along W, then H, then N) by `channels` channels.
/// `lower` and `upper` are the corners of the box of base pixels relative to the image's edges, (w, h), as
/// cuTensorMapEncodeIm2col takes them.
CUtensorMap make_im2col_map(const void* base, DType dtype, std::span<const std::int64_t, 4> extents,
                            std::span<const std::int64_t, 3> strides, std::span<const int, 2> lower,
                            std::span<const int, 2> upper, int channels, int pixels);

}  // namespace roofline
