// ReLU on the CPU: declarations of the vector kernels.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"

namespace roofline {

/// y[i] = max(x[i], 0). `streamed`: non-temporal stores, for outputs that do not stay in the caches.
template <Isa isa, typename T>
void relu_range(const T* x, T* y, std::int64_t count, bool streamed);

}  // namespace roofline
