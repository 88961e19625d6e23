// The vector kernels of softmax. Three sweeps over a row: the maximum, the exponentials and their sum, the scaled
// result (past the caches). The second, much the longest, fetches the next row.
#include "kernels/softmax/softmax.hpp"

#include "kernels/row_sums.hpp"

namespace roofline {
namespace {

template <typename T>
T maximum_of(const T* x, std::int64_t count) {
  using V = Vector<kIsa, T>;
  constexpr std::int64_t kWays = 4;
  typename V::Packet largest[kWays];
  for (auto& packet : largest) packet = V::all(x[0]);
  std::int64_t i = 0;
  for (; i + kWays * V::kLanes <= count; i += kWays * V::kLanes) {
    for (std::int64_t way = 0; way < kWays; ++way) {
      largest[way] = V::maximum(largest[way], V::load(x + i + way * V::kLanes));
    }
  }
  T result = V::largest(V::maximum(V::maximum(largest[0], largest[1]), V::maximum(largest[2], largest[3])));
  for (; i < count; ++i) result = x[i] > result ? x[i] : result;
  return result;
}

/// Stores exp(x - shift) and returns the sum. 4 packets at once: an exponential is a chain of 20 dependent
/// operations, and only independent ones fill the time between.
template <typename T>
T exponentials(const T* x, T* out, std::int64_t count, T shift, const T* next) {
  using V = Vector<kIsa, T>;
  constexpr std::int64_t kWays = 4;
  const auto shifts = V::all(shift);
  typename V::Packet sums[kWays];
  for (auto& sum : sums) sum = V::all(T{0});
  std::int64_t i = 0;
  for (; i + kWays * V::kLanes <= count; i += kWays * V::kLanes) {
    for (std::int64_t way = 0; way < kWays; ++way) {
      const std::int64_t at = i + way * V::kLanes;
      fetch_share<0, 1>(next, count, at);
      const auto value = V::exponential(V::subtract(V::load(x + at), shifts));
      V::store(out + at, value);
      sums[way] = V::add(sums[way], value);
    }
  }
  T total = V::sum(V::add(V::add(sums[0], sums[1]), V::add(sums[2], sums[3])));
  for (; i < count; ++i) {
    out[i] = Eigen::internal::pfirst(V::exponential(V::all(x[i] - shift)));
    total += out[i];
  }
  return total;
}

template <typename T, bool streamed>
void softmax(const T* x, T* y, T* scratch, std::int64_t rows, std::int64_t columns) {
  using V = Vector<kIsa, T>;
  for (std::int64_t row = 0; row < rows; ++row, x += columns, y += columns) {
    // The last row has no successor: it fetches itself once more, which is free.
    const T* next = row + 1 < rows ? x + columns : x;
    const T scale = T{1} / exponentials(x, scratch, columns, maximum_of(x, columns), next);
    store_row<kIsa, T, streamed>(
        y, columns, [&, scales = V::all(scale)](std::int64_t i) { return V::multiply(V::load(scratch + i), scales); },
        [&](std::int64_t i) { return scratch[i] * scale; }, [](std::int64_t) {});
  }
  if (streamed) V::fence();
}

template <typename T>
void softmax(const T* x, T* y, T* scratch, std::int64_t rows, std::int64_t columns, bool streamed) {
  if (streamed) {
    softmax<T, true>(x, y, scratch, rows, columns);
  } else {
    softmax<T, false>(x, y, scratch, rows, columns);
  }
}

}  // namespace

template <>
void softmax_rows<kIsa, float>(const float* x, float* y, float* scratch, std::int64_t rows, std::int64_t columns,
                               bool streamed) {
  softmax(x, y, scratch, rows, columns, streamed);
}

template <>
void softmax_rows<kIsa, double>(const double* x, double* y, double* scratch, std::int64_t rows, std::int64_t columns,
                                bool streamed) {
  softmax(x, y, scratch, rows, columns, streamed);
}

}  // namespace roofline
