// The vector kernels of the sum, one for each instruction-set level.
#include "kernels/reduction/reduction.hpp"

#include "kernels/vector.hpp"

namespace roofline {
namespace {

/// 8 accumulators: an addition takes 4 cycles and 2 are begun in each, so fewer would wait on each other
/// where the data comes from a cache.
template <typename T>
T sum_block(const T* x, std::int64_t count) {
  using V = Vector<kIsa, T>;
  constexpr std::int64_t kWays = 8;
  typename V::Packet sums[kWays];
  for (auto& sum : sums) sum = V::all(T{0});
  std::int64_t i = 0;
  for (; i + kWays * V::kLanes <= count; i += kWays * V::kLanes) {
    for (std::int64_t way = 0; way < kWays; ++way) sums[way] = V::add(sums[way], V::load(x + i + way * V::kLanes));
  }
  for (std::int64_t step = kWays / 2; step > 0; step /= 2) {
    for (std::int64_t way = 0; way < step; ++way) sums[way] = V::add(sums[way], sums[way + step]);
  }
  T total = V::sum(sums[0]);
  for (; i < count; ++i) total += x[i];
  return total;
}

template <typename T>
double sum(const T* x, std::int64_t count) {
  constexpr std::int64_t kBlock = 4096;
  double total = 0;
  for (std::int64_t i = 0; i < count; i += kBlock) {
    total += static_cast<double>(sum_block(x + i, i + kBlock < count ? kBlock : count - i));
  }
  return total;
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

}  // namespace roofline
