// RMS normalisation: what the CPU and the GPU must agree about.
#pragma once

namespace roofline {

/// Added to the mean of squares, as language models have it.
inline constexpr double kRmsNormEpsilon = 1e-5;

}  // namespace roofline
