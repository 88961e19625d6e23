// 2-D convolution: its extents, and what the CPU launcher sees of the vector kernel.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"
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

/// Output pixels whose sums wait in the cache at a time.
inline constexpr std::int64_t kConvPixels = 256;

/// What the implicit product is made of, at one instruction-set level.
template <typename T>
struct ConvKernels {
  std::int64_t panel;  ///< filters side by side in vectors
  /// The filters of one panel, tap by tap: packed[kernel * kernel * channels × panel], zeros past the last filter.
  void (*pack)(const T* filters, T* packed, const ConvSize& size, std::int64_t first_filter);
  /// Rows [begin, end) of all output images, for the panel of filters from `first_filter` on. `sums` has room for
  /// kConvPixels × panel and is aligned to 64 bytes.
  void (*rows)(const T* input, const T* packed, T* output, T* sums, const ConvSize& size, std::int64_t first_filter,
               std::int64_t begin, std::int64_t end);
};

template <Isa isa, typename T>
ConvKernels<T> conv_kernels();

}  // namespace roofline
