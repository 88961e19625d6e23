// Layer normalisation: what the CPU and the GPU must agree about.
#pragma once

namespace roofline {

/// Added to the variance, as in the paper and in the frameworks.
inline constexpr double kLayerNormEpsilon = 1e-5;

}  // namespace roofline
