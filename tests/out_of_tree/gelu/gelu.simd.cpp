// The vector kernels of GELU, one for each instruction-set level.
#include "gelu.hpp"

#include "kernels/blocks/cpu/streamed_map.hpp"

namespace roofline {
namespace {

template <typename T>
void gelu(const T* x, T* y, std::int64_t count, bool streamed) {
  using V = Vector<kIsa, T>;
  const auto one = V::all(T{1});
  const auto linear = V::all(T(kGeluLinear));
  const auto cubic = V::all(T(kGeluCubic));
  const auto formula = [=](auto v) {
    const auto exponent = V::multiply(v, V::multiply_add(cubic, V::multiply(v, v), linear));
    return V::divide(v, V::add(one, V::exponential(exponent)));
  };
  map_elements<kIsa>(y, count, streamed, formula, x);
}

}  // namespace

template <>
void gelu_range<kIsa, float>(const float* x, float* y, std::int64_t count, bool streamed) {
  gelu(x, y, count, streamed);
}

template <>
void gelu_range<kIsa, double>(const double* x, double* y, std::int64_t count, bool streamed) {
  gelu(x, y, count, streamed);
}

}  // namespace roofline
