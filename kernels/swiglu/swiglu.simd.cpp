// Vector kernels of SwiGLU, one per instruction-set level.
#include "kernels/swiglu/swiglu.hpp"

#include "kernels/blocks/cpu/streamed_map.hpp"

namespace roofline {

template <Isa isa, typename T>
void swiglu_range(const T* gate, const T* up, T* z, std::int64_t count, bool streamed) {
  using V = Vector<isa, T>;
  const auto one = V::all(1);
  const auto zero = V::all(0);
  const auto gated = [=](auto g, auto u) {
    const auto denominator = V::add(one, V::exponential(V::subtract(zero, g)));
    return V::divide(V::multiply(g, u), denominator);
  };
  map_elements<isa>(z, count, streamed, gated, gate, up);
}

template void swiglu_range<kIsa, float>(const float*, const float*, float*, std::int64_t, bool);
template void swiglu_range<kIsa, double>(const double*, const double*, double*, std::int64_t, bool);
template void swiglu_range<kIsa, Fp16>(const Fp16*, const Fp16*, Fp16*, std::int64_t, bool);
template void swiglu_range<kIsa, Bf16>(const Bf16*, const Bf16*, Bf16*, std::int64_t, bool);

}  // namespace roofline
