// The vector kernels of the residual sum, one for each instruction-set level.
#include "kernels/add/add.hpp"

#include "kernels/blocks/cpu/streamed_map.hpp"

namespace roofline {
namespace {

template <typename T>
void add(const T* x, const T* y, T* z, std::int64_t count, bool streamed) {
  map_elements<kIsa>(
      z, count, streamed, [](auto a, auto b) { return Vector<kIsa, T>::add(a, b); }, x, y);
}

}  // namespace

template <>
void add_range<kIsa, float>(const float* x, const float* y, float* z, std::int64_t count, bool streamed) {
  add(x, y, z, count, streamed);
}

template <>
void add_range<kIsa, double>(const double* x, const double* y, double* z, std::int64_t count, bool streamed) {
  add(x, y, z, count, streamed);
}

}  // namespace roofline
