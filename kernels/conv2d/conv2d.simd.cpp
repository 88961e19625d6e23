// Convolution, compiled for each instruction-set level: the product of gathered windows and filters by Eigen, and one
// on register tiles that reads the input where it lies.
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
std::int64_t larger(std::int64_t a, std::int64_t b) { return a > b ? a : b; }

template <typename T>
constexpr std::int64_t kPanel = RegisterTile<kIsa, T>::kColumns;

/// In blocks whose lines stay in L1 while they are taken apart.
template <typename T>
void pack(const T* filters, T* packed, const ConvSize& size, std::int64_t first_filter) {
  constexpr std::int64_t kBlock = 64 / sizeof(T);
  const std::int64_t count = smaller(kPanel<T>, size.filters - first_filter);
  for (std::int64_t first = 0; first < size.depth; first += kBlock) {
    const std::int64_t last = smaller(first + kBlock, size.depth);
    for (std::int64_t lane = 0; lane < kPanel<T>; ++lane) {
      const T* filter = filters + (first_filter + lane) * size.depth;
      for (std::int64_t p = first; p < last; ++p) packed[p * kPanel<T> + lane] = lane < count ? filter[p] : T{0};
    }
  }
}

/// A rectangle of one output image.
struct Patch {
  std::int64_t image, top, bottom, left, right;

  std::int64_t width() const { return right - left; }
  std::int64_t pixels() const { return (bottom - top) * width(); }
};

/// Adds what one tap of the filters contributes, from `depth` channels that begin at `channel`. Pixels whose tap lies
/// in the padding are left out.
template <typename T>
void add_tap(const T* input, const T* packed, T* sums, const ConvSize& size, const Patch& patch, std::int64_t tap,
             std::int64_t channel, std::int64_t depth) {
  const std::int64_t down = tap / size.kernel - size.padding;
  const std::int64_t across = tap % size.kernel - size.padding;
  const std::int64_t left = larger(patch.left, -across);
  const std::int64_t right = smaller(patch.right, size.width - across);
  if (left >= right) return;
  const T* factors = packed + (tap * size.channels + channel) * kPanel<T>;
  for (std::int64_t row = larger(patch.top, -down); row < smaller(patch.bottom, size.height - down); ++row) {
    const std::int64_t from = ((patch.image * size.height + row + down) * size.width + left + across) * size.channels;
    T* to = sums + ((row - patch.top) * patch.width() + left - patch.left) * kPanel<T>;
    multiply_rows<kIsa>(StridedMatrix<T>{input + from + channel, size.channels, 1}, factors, to, right - left, depth,
                        [](auto sum, int) { return sum; });
  }
}

template <typename T>
void convolve(const T* input, const T* packed, T* output, T* sums, const ConvSize& size, std::int64_t first_filter,
              const Patch& patch) {
  // The filters of this many channels, 32 KiB with AVX-512, stay in L1 for all pixels of the patch.
  constexpr std::int64_t kDepth = 128;
  for (std::int64_t i = 0; i < patch.pixels() * kPanel<T>; ++i) sums[i] = 0;
  for (std::int64_t tap = 0; tap < size.kernel * size.kernel; ++tap) {
    for (std::int64_t channel = 0; channel < size.channels; channel += kDepth) {
      add_tap(input, packed, sums, size, patch, tap, channel, smaller(kDepth, size.channels - channel));
    }
  }
  const std::int64_t count = smaller(kPanel<T>, size.filters - first_filter);
  for (std::int64_t row = patch.top; row < patch.bottom; ++row) {
    for (std::int64_t column = patch.left; column < patch.right; ++column, sums += kPanel<T>) {
      T* to = output + ((patch.image * size.rows + row) * size.columns + column) * size.filters + first_filter;
      for (std::int64_t i = 0; i < count; ++i) to[i] = sums[i];
    }
  }
}

template <typename T>
void convolve_rows(const T* input, const T* packed, T* output, T* sums, const ConvSize& size, std::int64_t first_filter,
                   std::int64_t begin, std::int64_t end) {
  const std::int64_t width = smaller(size.columns, kConvPixels);
  const std::int64_t height = kConvPixels / width;
  while (begin < end) {
    const std::int64_t image = begin / size.rows;
    const std::int64_t top = begin % size.rows;
    const std::int64_t bottom = smaller(smaller(top + height, size.rows), top + end - begin);
    for (std::int64_t left = 0; left < size.columns; left += width) {
      const Patch patch{image, top, bottom, left, smaller(left + width, size.columns)};
      convolve(input, packed, output, sums, size, first_filter, patch);
    }
    begin += bottom - top;
  }
}

}  // namespace

template <>
ConvKernels<float> conv_kernels<kIsa, float>() {
  return {.panel = kPanel<float>, .pack = &pack<float>, .rows = &convolve_rows<float>};
}

template <>
ConvKernels<double> conv_kernels<kIsa, double>() {
  return {.panel = kPanel<double>, .pack = &pack<double>, .rows = &convolve_rows<double>};
}

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
