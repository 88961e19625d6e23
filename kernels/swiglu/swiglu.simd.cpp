// The vector kernels of SwiGLU, one for each instruction-set level.
#include "kernels/swiglu/swiglu.hpp"

#include "kernels/blocks/cpu/streamed_map.hpp"

namespace roofline {
namespace {

template <typename T>
void swiglu(const T* gate, const T* up, T* z, std::int64_t count, bool streamed) {
  using V = Vector<kIsa, T>;
  const auto one = V::all(T{1});
  const auto zero = V::all(T{0});
  const auto gated = [=](auto g, auto u) {
    const auto denominator = V::add(one, V::exponential(V::subtract(zero, g)));
    return V::divide(V::multiply(g, u), denominator);
  };
  map_elements<kIsa>(z, count, streamed, gated, gate, up);
}

}  // namespace

template <>
void swiglu_range<kIsa, float>(const float* gate, const float* up, float* z, std::int64_t count, bool streamed) {
  swiglu(gate, up, z, count, streamed);
}

template <>
void swiglu_range<kIsa, double>(const double* gate, const double* up, double* z, std::int64_t count, bool streamed) {
  swiglu(gate, up, z, count, streamed);
}

}  // namespace roofline
