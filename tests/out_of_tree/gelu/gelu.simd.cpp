// The vector kernels of GELU, one for each instruction-set level. In 16 bits V loads, computes in fp32, and rounds as
// it stores.
#include "gelu.hpp"

#include "kernels/blocks/cpu/streamed_map.hpp"

namespace roofline {

template <Isa isa, typename T>
void gelu_range(const T* x, T* y, std::int64_t count, bool streamed) {
  using V = Vector<isa, T>;
  const auto one = V::all(1);
  const auto linear = V::all(Computed<T>(kGeluLinear));
  const auto cubic = V::all(Computed<T>(kGeluCubic));
  const auto formula = [=](auto v) {
    const auto exponent = V::multiply(v, V::multiply_add(cubic, V::multiply(v, v), linear));
    return V::divide(v, V::add(one, V::exponential(exponent)));
  };
  map_elements<isa>(y, count, streamed, formula, x);
}

template void gelu_range<kIsa, float>(const float*, float*, std::int64_t, bool);
template void gelu_range<kIsa, double>(const double*, double*, std::int64_t, bool);
template void gelu_range<kIsa, Fp16>(const Fp16*, Fp16*, std::int64_t, bool);
template void gelu_range<kIsa, Bf16>(const Bf16*, Bf16*, std::int64_t, bool);

}  // namespace roofline
