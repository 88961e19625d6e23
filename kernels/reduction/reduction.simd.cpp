// The vector kernels of sum and maximum, one for each instruction-set level.
#include "kernels/reduction/reduction.hpp"

#include <limits>

#include "kernels/blocks/cpu/vector.hpp"

namespace roofline {
namespace {

/// 8 accumulators: an operation takes 4 cycles and 2 are begun in each, so fewer would wait on each other where the
/// data comes from a cache. `combine` takes packets, `whole` makes one value of a packet.
template <typename T, typename Combine, typename Whole, typename Rest>
T reduce(const T* x, std::int64_t count, T identity, Combine combine, Whole whole, Rest rest) {
  using V = Vector<kIsa, T>;
  constexpr std::int64_t kWays = 8;
  typename V::Packet parts[kWays];
  for (auto& part : parts) part = V::all(identity);
  std::int64_t i = 0;
  for (; i + kWays * V::kLanes <= count; i += kWays * V::kLanes) {
    for (std::int64_t way = 0; way < kWays; ++way) parts[way] = combine(parts[way], V::load(x + i + way * V::kLanes));
  }
  for (std::int64_t step = kWays / 2; step > 0; step /= 2) {
    for (std::int64_t way = 0; way < step; ++way) parts[way] = combine(parts[way], parts[way + step]);
  }
  T total = whole(parts[0]);
  for (; i < count; ++i) total = rest(total, x[i]);
  return total;
}

template <typename T>
double sum(const T* x, std::int64_t count) {
  using V = Vector<kIsa, T>;
  constexpr std::int64_t kBlock = 4096;
  double total = 0;
  for (std::int64_t i = 0; i < count; i += kBlock) {
    total += static_cast<double>(reduce(
        x + i, i + kBlock < count ? kBlock : count - i, T{0}, [](auto a, auto b) { return V::add(a, b); },
        [](auto packet) { return V::sum(packet); }, [](T a, T b) { return a + b; }));
  }
  return total;
}

template <typename T>
double maximum(const T* x, std::int64_t count) {
  using V = Vector<kIsa, T>;
  return static_cast<double>(reduce(
      x, count, -std::numeric_limits<T>::infinity(), [](auto a, auto b) { return V::maximum(a, b); },
      [](auto packet) { return V::largest(packet); }, [](T a, T b) { return a > b ? a : b; }));
}

}  // namespace

template <>
double sum_range<kIsa, float>(const float* x, std::int64_t count) {
  return sum(x, count);
}

template <>
double sum_range<kIsa, double>(const double* x, std::int64_t count) {
  return sum(x, count);
}

template <>
double maximum_range<kIsa, float>(const float* x, std::int64_t count) {
  return maximum(x, count);
}

template <>
double maximum_range<kIsa, double>(const double* x, std::int64_t count) {
  return maximum(x, count);
}

}  // namespace roofline
