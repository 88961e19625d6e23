// One pass from memory to memory, past the caches, on vectors of the level that a *.simd.cpp is compiled for: what copy
// and ReLU have in common. Only for *.simd.cpp files.
#pragma once

#include "kernels/vector.hpp"

namespace roofline {

/// y[i] = f(x[i]) with non-temporal stores, as the calibration copies: in blocks of 1 KiB, so that DRAM serves a page's
/// reads together before it turns round for the stores, and with loads requested 16 KiB ahead into L2 (cpu_stream.hpp).
/// `f` takes a packet.
template <Isa isa, typename T, typename F>
void map_streamed(const T* x, T* y, std::int64_t count, F f) {
  using V = Vector<isa, T>;
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t kBlock = 1024 / kSize;
  constexpr std::int64_t kLine = 64 / kSize;
  constexpr std::int64_t kAhead = 16384 / kSize;
  const auto one = [&](std::int64_t i) { y[i] = Eigen::internal::pfirst(f(V::all(x[i]))); };
  std::int64_t i = 0;
  for (const std::int64_t head = V::misaligned(y); i < head && i < count; ++i) one(i);
  for (; i + kBlock <= count; i += kBlock) {
    for (std::int64_t line = 0; line < kBlock; line += kLine) __builtin_prefetch(x + i + kAhead + line, 0, 2);
    for (std::int64_t at = i; at < i + kBlock; at += V::kLanes) V::stream(y + at, f(V::load(x + at)));
  }
  for (; i < count; ++i) one(i);
  V::fence();
}

}  // namespace roofline
