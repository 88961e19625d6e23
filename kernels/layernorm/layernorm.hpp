// Layer normalisation on the CPU: what the launcher sees of the vector kernels.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"

namespace roofline {

/// Added to the variance, as in the paper and in the frameworks.
inline constexpr double kLayerNormEpsilon = 1e-5;

/// Normalises `rows` rows of x into y, each of `columns` elements:
/// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta.
template <Isa isa, typename T>
void layernorm_rows(const T* x, const T* gamma, const T* beta, T* y, std::int64_t rows, std::int64_t columns,
                    bool streamed);

}  // namespace roofline
