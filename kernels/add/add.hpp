// Residual sum on the CPU: declarations of the vector kernels.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"

namespace roofline {

/// z[i] = x[i] + y[i]. `streamed`: non-temporal stores, for outputs that do not stay in the caches.
template <Isa isa, typename T>
void add_range(const T* x, const T* y, T* z, std::int64_t count, bool streamed);

}  // namespace roofline
