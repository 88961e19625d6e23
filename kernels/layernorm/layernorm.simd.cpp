// The vector kernels of layer normalisation. Three sweeps over a row: it comes from memory in the first
// and from the cache in the others, while the next row is fetched; two-pass variance, so nothing cancels.
#include "kernels/layernorm/layernorm.hpp"

#include <cmath>

#include "kernels/vector.hpp"

namespace roofline {
namespace {

template <typename T, typename F>
T sum_of(const T* x, std::int64_t count, F f) {
  using V = Vector<kIsa, T>;
  constexpr std::int64_t kWays = 4;
  typename V::Packet sums[kWays];
  for (auto& sum : sums) sum = V::all(T{0});
  std::int64_t i = 0;
  for (; i + kWays * V::kLanes <= count; i += kWays * V::kLanes) {
    for (std::int64_t way = 0; way < kWays; ++way) sums[way] = f(sums[way], V::load(x + i + way * V::kLanes), i);
  }
  T total = V::sum(V::add(V::add(sums[0], sums[1]), V::add(sums[2], sums[3])));
  for (; i < count; ++i) total += Eigen::internal::pfirst(f(V::all(T{0}), V::all(x[i]), i));
  return total;
}

template <typename T, bool streamed>
void normalise(const T* x, const T* gamma, const T* beta, T* y, std::int64_t count, T mean, T scale) {
  using V = Vector<kIsa, T>;
  const auto one = [&](std::int64_t i) { y[i] = (x[i] - mean) * scale * gamma[i] + beta[i]; };
  const auto means = V::all(mean);
  const auto scales = V::all(scale);
  std::int64_t i = 0;
  for (const std::int64_t head = V::misaligned(y); i < head && i < count; ++i) one(i);
  for (; i + V::kLanes <= count; i += V::kLanes) {
    const auto normal = V::multiply(V::subtract(V::load(x + i), means), scales);
    const auto result = V::multiply_add(normal, V::load(gamma + i), V::load(beta + i));
    if constexpr (streamed) {
      V::stream(y + i, result);
    } else {
      V::store(y + i, result);
    }
  }
  for (; i < count; ++i) one(i);
}

template <typename T>
void layernorm(const T* x, const T* gamma, const T* beta, T* y, std::int64_t rows, std::int64_t columns,
               bool streamed) {
  using V = Vector<kIsa, T>;
  for (std::int64_t row = 0; row < rows; ++row, x += columns, y += columns) {
    const T mean =
        sum_of(x, columns, [](auto sum, auto v, std::int64_t) { return V::add(sum, v); }) / static_cast<T>(columns);
    const auto means = V::all(mean);
    // The last row has no successor: it fetches itself once more, which is free.
    const T* next = row + 1 < rows ? x + columns : x;
    const T squares = sum_of(x, columns, [&](auto sum, auto v, std::int64_t i) {
      __builtin_prefetch(next + i);
      const auto distance = V::subtract(v, means);
      return V::multiply_add(distance, distance, sum);
    });
    const T scale = T{1} / std::sqrt(squares / static_cast<T>(columns) + static_cast<T>(kLayerNormEpsilon));
    if (streamed) {
      normalise<T, true>(x, gamma, beta, y, columns, mean, scale);
    } else {
      normalise<T, false>(x, gamma, beta, y, columns, mean, scale);
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
