// The vector kernels of the copy, one for each instruction-set level.
#include "kernels/copy/copy.hpp"

#include "kernels/blocks/cpu/streamed_map.hpp"

namespace roofline {

template <>
void copy_streamed<kIsa, float>(const float* x, float* y, std::int64_t count) {
  map_streamed<kIsa>(
      y, count, [](auto value) { return value; }, x);
}

template <>
void copy_streamed<kIsa, double>(const double* x, double* y, std::int64_t count) {
  map_streamed<kIsa>(
      y, count, [](auto value) { return value; }, x);
}

}  // namespace roofline
