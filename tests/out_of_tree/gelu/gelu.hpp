// GELU: what its files share. It is the example of CONTRIBUTING.md, and built as a folder outside kernels/ by tests.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"

namespace roofline {

// 0.5 x (1 + tanh(u)) is x / (1 + exp(-2 u)), and -2 u is x (kGeluLinear + kGeluCubic x^2).
inline constexpr double kGeluLinear = -1.5957691216057308;  // -2 sqrt(2 / pi)
inline constexpr double kGeluCubic = 0.044715 * kGeluLinear;

/// y[i] = gelu(x[i]). `streamed`: stores go past the caches, for outputs that don't stay in them.
template <Isa isa, typename T>
void gelu_range(const T* x, T* y, std::int64_t count, bool streamed);

}  // namespace roofline
