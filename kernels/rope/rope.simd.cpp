// Vector kernels of rotary position embedding, one per instruction-set level.
#include "kernels/rope/rope.hpp"

#include "kernels/blocks/cpu/loads_ahead.hpp"
#include "kernels/blocks/cpu/vector.hpp"

namespace roofline {
namespace {

/// A token's angles, in the order of elements in registers.
template <typename T>
struct Angles {
  static constexpr std::int64_t kMost = 256;
  alignas(64) Computed<T> cos[kMost];
  alignas(64) Computed<T> sin[kMost];
};

template <typename T>
void arrange(const Computed<T>* from, Computed<T>* to, std::int64_t count) {
  using V = Vector<kIsa, T>;
  std::int64_t i = 0;
  for (; i + V::kLanes <= count; i += V::kLanes) V::put_by(to + i, V::load_values(from + i));
  for (; i < count; ++i) to[i] = from[i];
}

/// `count` points of a head, whose two coordinates are `half` elements apart.
template <typename T, bool streamed>
void rotate(const T* x, const Angles<T>& by, T* y, std::int64_t count, std::int64_t half, AskAheadOf<kIsa> ask_ahead) {
  using V = Vector<kIsa, T>;
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t line = 0; line < count; line += 64 / kSize) {
    ask_ahead(x + line);
    ask_ahead(x + half + line);
  }
  const auto put = [](T* to, auto value) {
    if constexpr (streamed) {
      V::stream(to, value);
    } else {
      V::store(to, value);
    }
  };
  std::int64_t i = 0;
  for (; i + V::kLanes <= count; i += V::kLanes) {
    const auto c = V::take_back(by.cos + i);
    const auto s = V::take_back(by.sin + i);
    const auto lower = V::load(x + i);
    const auto upper = V::load(x + half + i);
    put(y + i, V::subtract(V::multiply(lower, c), V::multiply(upper, s)));
    put(y + half + i, V::multiply_add(upper, c, V::multiply(lower, s)));
  }
  for (; i < count; ++i) {
    const auto lower = V::get(x + i);
    const auto upper = V::get(x + half + i);
    V::put(y + i, lower * by.cos[i] - upper * by.sin[i]);
    V::put(y + half + i, upper * by.cos[i] + lower * by.sin[i]);
  }
}

template <typename T, bool streamed>
void rotate_tokens(const Rotation<Computed<T>>& by, const T* x, T* y, std::int64_t first, std::int64_t last) {
  const AskAheadOf<kIsa> ask_ahead;
  Angles<T> angles;
  for (std::int64_t token = first; token < last; ++token) {
    const std::int64_t entry = token % by.positions * by.half;
    for (std::int64_t point = 0; point < by.half; point += Angles<T>::kMost) {
      const std::int64_t count = by.half - point < Angles<T>::kMost ? by.half - point : Angles<T>::kMost;
      arrange<T>(by.cos + entry + point, angles.cos, count);
      arrange<T>(by.sin + entry + point, angles.sin, count);
      for (std::int64_t head = token * by.heads; head < (token + 1) * by.heads; ++head) {
        const std::int64_t at = head * 2 * by.half + point;
        rotate<T, streamed>(x + at, angles, y + at, count, by.half, ask_ahead);
      }
    }
  }
  if (streamed) Vector<kIsa, T>::fence();
}

}  // namespace

/// Non-temporal stores need aligned vectors: halves of whole vectors are aligned everywhere.
template <Isa isa, typename T>
void rope_tokens(const Rotation<Computed<T>>& by, const T* x, T* y, std::int64_t first, std::int64_t last,
                 bool streamed) {
  using V = Vector<isa, T>;
  if (streamed && by.half % V::kLanes == 0 && misaligned<V>(y) == 0) {
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
