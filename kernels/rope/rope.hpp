// Rotary position embedding on the CPU: declarations of the vector kernels.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"
#include "kernels/blocks/cpu/small_float.hpp"

namespace roofline {

/// Cosines and sines, [positions, half], and the heads of a token that they rotate, each of 2 half elements.
template <typename T>
struct Rotation {
  const T* cos = nullptr;
  const T* sin = nullptr;
  std::int64_t positions = 0;
  std::int64_t heads = 0;
  std::int64_t half = 0;
};

/// Rotates the heads of tokens [first, last) of x into y; token t is at position t mod positions. `streamed`:
/// non-temporal stores, for outputs that do not stay in the caches.
template <Isa isa, typename T>
void rope_tokens(const Rotation<Computed<T>>& by, const T* x, T* y, std::int64_t first, std::int64_t last,
                 bool streamed);

}  // namespace roofline
