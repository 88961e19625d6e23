// The residual sum on the CPU: what the launcher sees of the vector kernels.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"

namespace roofline {

/// z[i] = x[i] + y[i]. `streamed`: stores go past the caches, for outputs that don't stay in them.
template <Isa isa, typename T>
void add_range(const T* x, const T* y, T* z, std::int64_t count, bool streamed);

}  // namespace roofline
