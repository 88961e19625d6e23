// ReLU on the CPU: what the launcher sees of the vector kernels.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"

namespace roofline {

/// y[i] = max(x[i], 0). `streamed`: stores go past the caches, for outputs that don't stay in them.
template <Isa isa, typename T>
void relu_range(const T* x, T* y, std::int64_t count, bool streamed);

}  // namespace roofline
