// Layer normalisation: constants shared by CPU and GPU.
#pragma once

namespace roofline {

/// Added to the variance, as in the paper and in the frameworks.
inline constexpr double kLayerNormEpsilon = 1e-5;

}  // namespace roofline
