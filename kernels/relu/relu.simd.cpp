// Vector kernels of ReLU, one per instruction-set level.
#include "kernels/relu/relu.hpp"

#include "kernels/blocks/cpu/streamed_map.hpp"

namespace roofline {

template <Isa isa, typename T>
void relu_range(const T* x, T* y, std::int64_t count, bool streamed) {
  using V = Vector<isa, T>;
  const auto zero = V::all(0);
  map_elements<isa>(
      y, count, streamed, [zero](auto value) { return V::maximum(value, zero); }, x);
}

template void relu_range<kIsa, float>(const float*, float*, std::int64_t, bool);
template void relu_range<kIsa, double>(const double*, double*, std::int64_t, bool);
template void relu_range<kIsa, Fp16>(const Fp16*, Fp16*, std::int64_t, bool);
template void relu_range<kIsa, Bf16>(const Bf16*, Bf16*, std::int64_t, bool);

}  // namespace roofline
