// Array conversions, one per instruction-set level.
#include "kernels/blocks/cpu/convert.hpp"

#include "kernels/blocks/cpu/vector.hpp"

namespace roofline {
namespace {

template <typename T>
void widen(const T* from, float* to, std::int64_t count) {
  using V = Vector<kIsa, T>;
  std::int64_t i = 0;
  for (; i + V::kLanes <= count; i += V::kLanes) V::store_values(to + i, V::load(from + i));
  for (; i < count; ++i) to[i] = V::get(from + i);
}

template <typename T>
void narrow(const float* from, T* to, std::int64_t count) {
  using V = Vector<kIsa, T>;
  std::int64_t i = 0;
  // Any NaN may occur here, which vectors of bf16 do not handle. The compiler vectorises this loop.
  if constexpr (!std::is_same_v<T, Bf16>) {
    for (; i + V::kLanes <= count; i += V::kLanes) V::store(to + i, V::load_values(from + i));
  }
  for (; i < count; ++i) V::put(to + i, from[i]);
}

}  // namespace

template <>
Converters<Fp16> converters<kIsa, Fp16>() {
  return {.widen = &widen<Fp16>, .narrow = &narrow<Fp16>};
}

template <>
Converters<Bf16> converters<kIsa, Bf16>() {
  return {.widen = &widen<Bf16>, .narrow = &narrow<Bf16>};
}

}  // namespace roofline
