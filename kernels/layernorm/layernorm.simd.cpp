// The vector kernels of layer normalisation. Three sweeps over a row, each of which fetches a third of the next row;
// two-pass variance, so nothing cancels.
#include "kernels/layernorm/layernorm.hpp"

#include <cmath>

#include "kernels/row_sums.hpp"

namespace roofline {
namespace {

template <typename T, bool streamed>
void normalise(const T* x, const T* gamma, const T* beta, T* y, const T* next, std::int64_t count, T mean, T scale) {
  using V = Vector<kIsa, T>;
  const auto means = V::all(mean);
  const auto scales = V::all(scale);
  store_row<kIsa, T, streamed>(
      y, count,
      [&](std::int64_t i) {
        const auto normal = V::multiply(V::subtract(V::load(x + i), means), scales);
        return V::multiply_add(normal, V::load(gamma + i), V::load(beta + i));
      },
      [&](std::int64_t i) { return (x[i] - mean) * scale * gamma[i] + beta[i]; },
      [&](std::int64_t i) { fetch_share<2, 3>(next, count, i); });
}

template <typename T>
void layernorm(const T* x, const T* gamma, const T* beta, T* y, std::int64_t rows, std::int64_t columns,
               bool streamed) {
  using V = Vector<kIsa, T>;
  const auto count = static_cast<T>(columns);
  for (std::int64_t row = 0; row < rows; ++row, x += columns, y += columns) {
    // The last row has no successor: it fetches itself once more, which is free.
    const T* next = row + 1 < rows ? x + columns : x;
    const T total = sum_of<kIsa>(x, columns, [&](auto sum, auto v, std::int64_t i) {
      fetch_share<0, 3>(next, columns, i);
      return V::add(sum, v);
    });
    const T mean = total / count;
    const auto means = V::all(mean);
    const T squares = sum_of<kIsa>(x, columns, [&](auto sum, auto v, std::int64_t i) {
      fetch_share<1, 3>(next, columns, i);
      const auto distance = V::subtract(v, means);
      return V::multiply_add(distance, distance, sum);
    });
    const T scale = T{1} / std::sqrt(squares / count + static_cast<T>(kLayerNormEpsilon));
    if (streamed) {
      normalise<T, true>(x, gamma, beta, y, next, columns, mean, scale);
    } else {
      normalise<T, false>(x, gamma, beta, y, next, columns, mean, scale);
    }
  }
  if (streamed) V::fence();
}

}  // namespace

template <>
void layernorm_rows<kIsa, float>(const float* x, const float* gamma, const float* beta, float* y, std::int64_t rows,
                                 std::int64_t columns, bool streamed) {
  layernorm(x, gamma, beta, y, rows, columns, streamed);
}

template <>
void layernorm_rows<kIsa, double>(const double* x, const double* gamma, const double* beta, double* y,
                                  std::int64_t rows, std::int64_t columns, bool streamed) {
  layernorm(x, gamma, beta, y, rows, columns, streamed);
}

}  // namespace roofline
