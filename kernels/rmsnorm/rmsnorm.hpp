// RMS normalisation on the CPU: what the launcher sees of the vector kernels.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"

namespace roofline {

/// Added to the mean of squares, as language models have it.
inline constexpr double kRmsNormEpsilon = 1e-5;

/// Normalises `rows` rows of x into y, each of `columns` elements: y = x / sqrt(mean of x² + epsilon) * gamma.
template <Isa isa, typename T>
void rmsnorm_rows(const T* x, const T* gamma, T* y, std::int64_t rows, std::int64_t columns, bool streamed);

}  // namespace roofline
