// Softmax on the CPU: what the launcher sees of the vector kernels.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"

namespace roofline {

/// y = exp(x - max x) / sum of those, for `rows` rows of `columns` elements. `scratch` has room for one
/// row: exponentials wait there in the cache, so that memory sees y once.
template <Isa isa, typename T>
void softmax_rows(const T* x, T* y, T* scratch, std::int64_t rows, std::int64_t columns, bool streamed);

}  // namespace roofline
