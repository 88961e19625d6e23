// Softmax on the CPU: declarations of the vector kernels.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"
#include "kernels/blocks/cpu/small_float.hpp"

namespace roofline {

/// Scratch of softmax_rows() in values: a row, whose exponentials stay there in the cache, so that memory sees y
/// once, the remainder of its last vector, and three for each of its blocks of 4 KiB.
template <typename T>
std::int64_t softmax_scratch(std::int64_t columns) {
  return columns + 64 + 3 * (columns * std::int64_t{sizeof(T)} / 4096 + 1);
}

/// y = exp(x - max x) / sum of those, for `rows` rows of `columns` elements.
template <Isa isa, typename T>
void softmax_rows(const T* x, T* y, Computed<T>* scratch, std::int64_t rows, std::int64_t columns, bool streamed);

}  // namespace roofline
