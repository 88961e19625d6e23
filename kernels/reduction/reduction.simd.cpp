// Vector kernels of sum and maximum, one per instruction-set level.
#include "kernels/reduction/reduction.hpp"

#include <limits>

#include "kernels/blocks/cpu/loads_ahead.hpp"
#include "kernels/blocks/cpu/vector.hpp"

namespace roofline {
namespace {

/// 8 accumulator registers: an operation has a latency of 4 cycles and 2 start per cycle, so fewer would be
/// latency-bound for data in a cache. `combine` takes packets, `whole` reduces a packet to one value.
template <typename T, typename Combine, typename Whole, typename Rest>
Computed<T> reduce(const T* x, std::int64_t count, Computed<T> identity, Combine combine, Whole whole, Rest rest) {
  using V = Vector<kIsa, T>;
  constexpr std::int64_t kWays = 8 * kVectorBytes / sizeof(typename V::Packet);
  typename V::Packet parts[kWays];
  for (auto& part : parts) part = V::all(identity);
  constexpr std::int64_t kLine = 64 / sizeof(T);
  const AskAheadOf<kIsa> ask_ahead;
  std::int64_t i = 0;
  for (; i + kWays * V::kLanes <= count; i += kWays * V::kLanes) {
    for (std::int64_t ahead = 0; ahead < kWays * V::kLanes; ahead += kLine) ask_ahead(x + i + ahead);
    for (std::int64_t way = 0; way < kWays; ++way) parts[way] = combine(parts[way], V::load(x + i + way * V::kLanes));
  }
  for (std::int64_t step = kWays / 2; step > 0; step /= 2) {
    for (std::int64_t way = 0; way < step; ++way) parts[way] = combine(parts[way], parts[way + step]);
  }
  Computed<T> total = whole(parts[0]);
  for (; i < count; ++i) total = rest(total, V::get(x + i));
  return total;
}

}  // namespace

template <Isa isa, typename T>
double sum_range(const T* x, std::int64_t count) {
  using V = Vector<isa, T>;
  constexpr std::int64_t kBlock = 4096;
  double total = 0;
  for (std::int64_t i = 0; i < count; i += kBlock) {
    total += static_cast<double>(reduce(
        x + i, i + kBlock < count ? kBlock : count - i, Computed<T>{0}, [](auto a, auto b) { return V::add(a, b); },
        [](auto packet) { return V::sum(packet); }, [](auto a, auto b) { return a + b; }));
  }
  return total;
}

template <Isa isa, typename T>
double maximum_range(const T* x, std::int64_t count) {
  using V = Vector<isa, T>;
  return static_cast<double>(reduce(
      x, count, -std::numeric_limits<Computed<T>>::infinity(), [](auto a, auto b) { return V::maximum(a, b); },
      [](auto packet) { return V::largest(packet); }, [](auto a, auto b) { return a > b ? a : b; }));
}

template double sum_range<kIsa, float>(const float*, std::int64_t);
template double sum_range<kIsa, double>(const double*, std::int64_t);
template double sum_range<kIsa, Fp16>(const Fp16*, std::int64_t);
template double sum_range<kIsa, Bf16>(const Bf16*, std::int64_t);
template double maximum_range<kIsa, float>(const float*, std::int64_t);
template double maximum_range<kIsa, double>(const double*, std::int64_t);
template double maximum_range<kIsa, Fp16>(const Fp16*, std::int64_t);
template double maximum_range<kIsa, Bf16>(const Bf16*, std::int64_t);

}  // namespace roofline
