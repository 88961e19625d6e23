// One pass from memory to memory on vectors of the level of a *.simd.cpp: common to copy and the elementwise ops.
// Include only in *.simd.cpp files.
#pragma once

#include "kernels/blocks/cpu/loads_ahead.hpp"
#include "kernels/blocks/cpu/vector.hpp"

namespace roofline {

/// y[i] = f(x[i]…) for one or more inputs with non-temporal stores, as the calibration copies: in blocks of 1 KiB,
/// so that DRAM serves the reads of a page together before it switches to writes, and with prefetched loads. `f`
/// takes packets; at the borders, packets of equal elements.
template <Isa isa, typename T, typename F, typename... X>
void map_streamed(T* y, std::int64_t count, F f, const X*... x) {
  using V = Vector<isa, T>;
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t kBlock = 1024 / kSize;
  constexpr std::int64_t kLine = 64 / kSize;
  const AskAheadOf<isa> ask_ahead;
  std::int64_t i = 0;
  const auto part = [&](std::int64_t elements) {
    store_part<V>(y + i, elements, f(load_part<V>(x + i, elements, 0)...));
    i += elements;
  };
  const std::int64_t head = misaligned<V>(y);
  part(head < count ? head : count);
  for (; i + kBlock <= count; i += kBlock) {
    for (std::int64_t line = 0; line < kBlock; line += kLine) (ask_ahead(x + i + line), ...);
    for (std::int64_t at = i; at < i + kBlock; at += V::kLanes) V::stream(y + at, f(V::load(x + at)...));
  }
  while (i < count) part(count - i < V::kLanes ? count - i : V::kLanes);
  V::fence();
}

/// The same with regular stores, for outputs that stay in the caches. Four packets at once hide the latency of `f`.
template <Isa isa, typename T, typename F, typename... X>
void map_cached(T* y, std::int64_t count, F f, const X*... x) {
  using V = Vector<isa, T>;
  std::int64_t i = 0;
  for (; i + 4 * V::kLanes <= count; i += 4 * V::kLanes) {
    for (std::int64_t at = i; at < i + 4 * V::kLanes; at += V::kLanes) V::store(y + at, f(V::load(x + at)...));
  }
  for (; i + V::kLanes <= count; i += V::kLanes) V::store(y + i, f(V::load(x + i)...));
  store_part<V>(y + i, count - i, f(load_part<V>(x + i, count - i, 0)...));
}

/// One or the other.
template <Isa isa, typename T, typename F, typename... X>
void map_elements(T* y, std::int64_t count, bool streamed, F f, const X*... x) {
  if (streamed) {
    map_streamed<isa>(y, count, f, x...);
  } else {
    map_cached<isa>(y, count, f, x...);
  }
}

}  // namespace roofline
