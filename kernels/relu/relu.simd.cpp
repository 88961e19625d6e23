// The vector kernels of ReLU, one for each instruction-set level.
#include "kernels/relu/relu.hpp"

#include "kernels/blocks/cpu/streamed_map.hpp"

namespace roofline {
namespace {

template <typename T>
void relu(const T* x, T* y, std::int64_t count, bool streamed) {
  using V = Vector<kIsa, T>;
  const auto zero = V::all(T{0});
  map_elements<kIsa>(
      y, count, streamed, [zero](auto value) { return V::maximum(value, zero); }, x);
}

}  // namespace

template <>
void relu_range<kIsa, float>(const float* x, float* y, std::int64_t count, bool streamed) {
  relu(x, y, count, streamed);
}

template <>
void relu_range<kIsa, double>(const double* x, double* y, std::int64_t count, bool streamed) {
  relu(x, y, count, streamed);
}

}  // namespace roofline
