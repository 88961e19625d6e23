// Convolution, compiled for each instruction-set level: the product of gathered windows and filters by Eigen, and the
// packing of windows for one on register tiles.
#include "kernels/conv2d/conv2d.hpp"

#include "kernels/blocks/cpu/register_tile.hpp"

namespace roofline {
namespace {

template <typename T>
void product(const T* windows, const T* filters, T* out, std::int64_t pixels, std::int64_t filter_count,
             std::int64_t depth) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const Matrix> left(windows, pixels, depth);
  const Eigen::Map<const Matrix> right(filters, filter_count, depth);
  Eigen::Map<Matrix> result(out, pixels, filter_count);
  result.noalias() = left * right.transpose();
}

std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
/// An output pixel: the image, and where its window begins.
struct Corner {
  std::int64_t image, top, left;
};

Corner corner_of(const ConvSize& size, std::int64_t pixel) {
  const std::int64_t row = pixel / size.columns;
  return {row / size.rows, row % size.rows - size.padding, pixel % size.columns - size.padding};
}

/// `count` elements of a row of a window from the `from`-th on: they lie side by side in the image. Where some are
/// padding, all of them in `copy`.
template <typename T>
const T* window_part(const T* input, const ConvSize& size, const Corner& corner, std::int64_t row, std::int64_t from,
                     std::int64_t count, T* copy) {
  const std::int64_t y = corner.top + row;
  const std::int64_t line = size.width * size.channels;
  const std::int64_t first = corner.left * size.channels + from;
  const std::int64_t origin = (corner.image * size.height + y) * line + first;
  const bool in_image = y >= 0 && y < size.height;
  if (in_image && first >= 0 && first + count <= line) return input + origin;
  for (std::int64_t i = 0; i < count; ++i) {
    copy[i] = in_image && first + i >= 0 && first + i < line ? input[origin + i] : T{};
  }
  return copy;
}

}  // namespace

template <Isa isa, typename T>
void pack_windows(const T* input, const ConvSize& size, std::int64_t first, std::int64_t count, std::int64_t depth,
                  std::int64_t steps, Computed<T>* to) {
  constexpr std::int64_t kRows = RegisterTile<isa, Computed<T>>::kRows;
  constexpr std::int64_t kChunk = 256;
  T copies[kRows * kChunk];
  const std::int64_t line = size.kernel * size.channels;
  for (std::int64_t pixel = first; pixel < first + count; pixel += kRows, to += kRows * steps) {
    Corner corners[kRows];
    for (std::int64_t i = 0; i < kRows; ++i) corners[i] = corner_of(size, smaller(pixel + i, first + count - 1));
    for (std::int64_t p = 0; p < steps;) {
      const std::int64_t row = (depth + p) / line;
      const std::int64_t from = (depth + p) % line;
      const std::int64_t chunk = smaller(smaller(line - from, steps - p), kChunk);
      const T* parts[kRows];
      for (std::int64_t i = 0; i < kRows; ++i) {
        parts[i] = window_part(input, size, corners[i], row, from, chunk, copies + i * kChunk);
      }
      pack_across<kRows, isa>(parts, chunk, to + p * kRows);
      p += chunk;
    }
  }
}

template void pack_windows<kIsa, float>(const float*, const ConvSize&, std::int64_t, std::int64_t, std::int64_t,
                                        std::int64_t, float*);
template void pack_windows<kIsa, double>(const double*, const ConvSize&, std::int64_t, std::int64_t, std::int64_t,
                                         std::int64_t, double*);
template void pack_windows<kIsa, Fp16>(const Fp16*, const ConvSize&, std::int64_t, std::int64_t, std::int64_t,
                                       std::int64_t, float*);
template void pack_windows<kIsa, Bf16>(const Bf16*, const ConvSize&, std::int64_t, std::int64_t, std::int64_t,
                                       std::int64_t, float*);

template <>
void conv_block<kIsa, float>(const float* windows, const float* filters, float* out, std::int64_t pixels,
                             std::int64_t filter_count, std::int64_t depth) {
  product(windows, filters, out, pixels, filter_count, depth);
}

template <>
void conv_block<kIsa, double>(const double* windows, const double* filters, double* out, std::int64_t pixels,
                              std::int64_t filter_count, std::int64_t depth) {
  product(windows, filters, out, pixels, filter_count, depth);
}

}  // namespace roofline
