// 2-D convolution: extents, and declarations of the CPU's vector kernels.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"
#include "kernels/blocks/cpu/small_float.hpp"
#include "op/workload.hpp"

namespace roofline {

/// Extents of one convolution: input [batch, height, width, channels], filters [filters, kernel, kernel, channels],
/// output [batch, rows, columns, filters], stride 1.
struct ConvSize {
  std::int64_t batch, height, width, channels;
  std::int64_t filters, kernel, padding;
  std::int64_t rows, columns;  ///< of an output image
  std::int64_t pixels;         ///< of all output images
  std::int64_t depth;          ///< products in one output: kernel * kernel * channels
};

ConvSize conv_size(const Shape& shape);

/// out[pixels, filters] = windows[pixels, depth] · transposed filters[filters, depth], all row-major.
template <Isa isa, typename T>
void conv_block(const T* windows, const T* filters, T* out, std::int64_t pixels, std::int64_t filter_count,
                std::int64_t depth);

}  // namespace roofline
