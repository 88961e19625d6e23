// SwiGLU on the CPU: declarations of the vector kernels.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"

namespace roofline {

/// z[i] = gate[i] / (1 + exp(-gate[i])) * up[i]. `streamed`: non-temporal stores, for outputs that do not stay in
/// the caches.
template <Isa isa, typename T>
void swiglu_range(const T* gate, const T* up, T* z, std::int64_t count, bool streamed);

}  // namespace roofline
