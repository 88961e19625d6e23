// A copy on the CPU: what the launcher sees of the vector kernels.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"

namespace roofline {

/// y[0 … count) = x[0 … count), past the caches.
template <Isa isa, typename T>
void copy_streamed(const T* x, T* y, std::int64_t count);

}  // namespace roofline
