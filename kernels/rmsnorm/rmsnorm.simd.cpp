// The vector kernels of RMS normalisation. Two sweeps over a row, each of which fetches half of the next row.
#include "kernels/rmsnorm/rmsnorm.hpp"

#include <cmath>

#include "kernels/row_sums.hpp"

namespace roofline {
namespace {

template <typename T, bool streamed>
void scale_row(const T* x, const T* gamma, const T* next, T* y, std::int64_t count, T scale) {
  using V = Vector<kIsa, T>;
  const auto scales = V::all(scale);
  store_row<kIsa, T, streamed>(
      y, count, [&](std::int64_t i) { return V::multiply(V::multiply(V::load(x + i), scales), V::load(gamma + i)); },
      [&](std::int64_t i) { return x[i] * scale * gamma[i]; },
      [&](std::int64_t i) { fetch_share<1, 2>(next, count, i); });
}

template <typename T>
void rmsnorm(const T* x, const T* gamma, T* y, std::int64_t rows, std::int64_t columns, bool streamed) {
  using V = Vector<kIsa, T>;
  for (std::int64_t row = 0; row < rows; ++row, x += columns, y += columns) {
    // The last row has no successor: it fetches itself once more, which is free.
    const T* next = row + 1 < rows ? x + columns : x;
    const T squares = sum_of<kIsa>(x, columns, [&](auto sum, auto v, std::int64_t i) {
      fetch_share<0, 2>(next, columns, i);
      return V::multiply_add(v, v, sum);
    });
    const T scale = T{1} / std::sqrt(squares / static_cast<T>(columns) + static_cast<T>(kRmsNormEpsilon));
    if (streamed) {
      scale_row<T, true>(x, gamma, next, y, columns, scale);
    } else {
      scale_row<T, false>(x, gamma, next, y, columns, scale);
    }
  }
  if (streamed) V::fence();
}

}  // namespace

template <>
void rmsnorm_rows<kIsa, float>(const float* x, const float* gamma, float* y, std::int64_t rows, std::int64_t columns,
                               bool streamed) {
  rmsnorm(x, gamma, y, rows, columns, streamed);
}

template <>
void rmsnorm_rows<kIsa, double>(const double* x, const double* gamma, double* y, std::int64_t rows,
                                std::int64_t columns, bool streamed) {
  rmsnorm(x, gamma, y, rows, columns, streamed);
}

}  // namespace roofline
