// SwiGLU on the CPU: what the launcher sees of the vector kernels.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"

namespace roofline {

/// z[i] = gate[i] / (1 + exp(-gate[i])) * up[i]. `streamed`: stores go past the caches, for outputs that don't stay in
/// them.
template <Isa isa, typename T>
void swiglu_range(const T* gate, const T* up, T* z, std::int64_t count, bool streamed);

}  // namespace roofline
