// Vector kernels of the residual sum, one per instruction-set level.
#include "kernels/add/add.hpp"

#include "kernels/blocks/cpu/streamed_map.hpp"

namespace roofline {

template <Isa isa, typename T>
void add_range(const T* x, const T* y, T* z, std::int64_t count, bool streamed) {
  map_elements<isa>(
      z, count, streamed, [](auto a, auto b) { return Vector<isa, T>::add(a, b); }, x, y);
}

template void add_range<kIsa, float>(const float*, const float*, float*, std::int64_t, bool);
template void add_range<kIsa, double>(const double*, const double*, double*, std::int64_t, bool);
template void add_range<kIsa, Fp16>(const Fp16*, const Fp16*, Fp16*, std::int64_t, bool);
template void add_range<kIsa, Bf16>(const Bf16*, const Bf16*, Bf16*, std::int64_t, bool);

}  // namespace roofline
