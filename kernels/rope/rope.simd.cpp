// The vector kernels of rotary position embedding, one for each instruction-set level.
#include "kernels/rope/rope.hpp"

#include "kernels/blocks/cpu/vector.hpp"

namespace roofline {
namespace {

/// One head: element i of its lower half and of its upper half are the two coordinates of a point. Requests what is
/// read 16 KiB further on, as map_streamed does.
template <typename T, bool streamed>
void rotate(const T* x, const Computed<T>* cos, const Computed<T>* sin, T* y, std::int64_t half) {
  using V = Vector<kIsa, T>;
  using Table = Vector<kIsa, Computed<T>>;
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t line = 0; line < 2 * half; line += 64 / kSize) {
    __builtin_prefetch(x + line + 16384 / kSize, 0, 2);
  }
  const auto put = [](T* to, auto value) {
    if constexpr (streamed) {
      V::stream(to, value);
    } else {
      V::store(to, value);
    }
  };
  std::int64_t i = 0;
  for (; i + V::kLanes <= half; i += V::kLanes) {
    const auto c = Table::load(cos + i);
    const auto s = Table::load(sin + i);
    const auto lower = V::load(x + i);
    const auto upper = V::load(x + half + i);
    put(y + i, V::subtract(V::multiply(lower, c), V::multiply(upper, s)));
    put(y + half + i, V::multiply_add(upper, c, V::multiply(lower, s)));
  }
  for (; i < half; ++i) {
    const auto lower = V::get(x + i);
    const auto upper = V::get(x + half + i);
    V::put(y + i, lower * cos[i] - upper * sin[i]);
    V::put(y + half + i, upper * cos[i] + lower * sin[i]);
  }
}

template <typename T, bool streamed>
void rotate_tokens(const Rotation<Computed<T>>& by, const T* x, T* y, std::int64_t first, std::int64_t last) {
  for (std::int64_t token = first; token < last; ++token) {
    const std::int64_t entry = token % by.positions * by.half;
    for (std::int64_t head = token * by.heads; head < (token + 1) * by.heads; ++head) {
      const std::int64_t at = head * 2 * by.half;
      rotate<T, streamed>(x + at, by.cos + entry, by.sin + entry, y + at, by.half);
    }
  }
  if (streamed) Vector<kIsa, T>::fence();
}

}  // namespace

/// Stores past the caches want aligned vectors: halves of whole vectors have them everywhere.
template <Isa isa, typename T>
void rope_tokens(const Rotation<Computed<T>>& by, const T* x, T* y, std::int64_t first, std::int64_t last,
                 bool streamed) {
  using V = Vector<isa, T>;
  if (streamed && by.half % V::kLanes == 0 && V::misaligned(y) == 0) {
    rotate_tokens<T, true>(by, x, y, first, last);
  } else {
    rotate_tokens<T, false>(by, x, y, first, last);
  }
}

template void rope_tokens<kIsa, float>(const Rotation<float>&, const float*, float*, std::int64_t, std::int64_t, bool);
template void rope_tokens<kIsa, double>(const Rotation<double>&, const double*, double*, std::int64_t, std::int64_t,
                                        bool);
template void rope_tokens<kIsa, Fp16>(const Rotation<float>&, const Fp16*, Fp16*, std::int64_t, std::int64_t, bool);
template void rope_tokens<kIsa, Bf16>(const Rotation<float>&, const Bf16*, Bf16*, std::int64_t, std::int64_t, bool);

}  // namespace roofline
