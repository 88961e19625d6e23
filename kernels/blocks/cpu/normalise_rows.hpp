// Layer norm and RMS norm of rows on the CPU: declarations of the vector kernels.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"

namespace roofline {

/// Normalises `rows` rows of x into y, each of `columns` elements: y = (x - mean) / sqrt(variance + epsilon) *
/// gamma + beta; if beta is null, y = x / sqrt(mean of x² + epsilon) * gamma.
template <Isa isa, typename T>
void normalise_rows(const T* x, const T* gamma, const T* beta, T* y, std::int64_t rows, std::int64_t columns,
                    double epsilon, bool streamed);

}  // namespace roofline
