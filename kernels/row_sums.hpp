// Sums over a row and stores of its outputs, on vectors of the level that a *.simd.cpp is compiled for: what the
// norms and softmax have in common. Only for *.simd.cpp files.
#pragma once

#include "kernels/vector.hpp"

namespace roofline {

/// How a row's sweeps share the work of fetching the next row into L2, so that DRAM stays busy in all of them: called
/// with every packet's index i, this is the `part`-th sweep of `parts`.
template <int part, int parts, typename T>
void fetch_share(const T* next, std::int64_t count, std::int64_t i) {
  __builtin_prefetch(next + (part * count + i) / parts, 0, 2);
}

/// f(sum, values of x, index of the first) over packets; what is left past the last one as packets of equal elements,
/// of which one counts. Four sums at once: an addition takes 4 cycles.
template <Isa isa, typename T, typename F>
T sum_of(const T* x, std::int64_t count, F f) {
  using V = Vector<isa, T>;
  constexpr std::int64_t kWays = 4;
  typename V::Packet sums[kWays];
  for (auto& sum : sums) sum = V::all(T{0});
  std::int64_t i = 0;
  for (; i + kWays * V::kLanes <= count; i += kWays * V::kLanes) {
    for (std::int64_t way = 0; way < kWays; ++way) {
      const std::int64_t at = i + way * V::kLanes;
      sums[way] = f(sums[way], V::load(x + at), at);
    }
  }
  T total = V::sum(V::add(V::add(sums[0], sums[1]), V::add(sums[2], sums[3])));
  for (; i < count; ++i) total += Eigen::internal::pfirst(f(V::all(T{0}), V::all(x[i]), i));
  return total;
}

/// y[i] = packet(i) where y is aligned and one(i) at the borders. `streamed` stores go past the caches, in blocks of
/// 1 KiB between which fetch(i) requests what is read next: DRAM turns round less often, as in a copy.
template <Isa isa, typename T, bool streamed, typename Packet, typename One, typename Fetch>
void store_row(T* y, std::int64_t count, Packet packet, One one, Fetch fetch) {
  using V = Vector<isa, T>;
  constexpr auto kBlock = static_cast<std::int64_t>(1024 / sizeof(T));
  std::int64_t i = 0;
  for (const std::int64_t head = V::misaligned(y); i < head && i < count; ++i) y[i] = one(i);
  if constexpr (streamed) {
    for (; i + kBlock <= count; i += kBlock) {
      for (std::int64_t at = i; at < i + kBlock; at += V::kLanes) fetch(at);
      for (std::int64_t at = i; at < i + kBlock; at += V::kLanes) V::stream(y + at, packet(at));
    }
  }
  for (; i + V::kLanes <= count; i += V::kLanes) V::store(y + i, packet(i));
  for (; i < count; ++i) y[i] = one(i);
}

}  // namespace roofline
