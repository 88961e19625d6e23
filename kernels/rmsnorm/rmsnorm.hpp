// RMS normalisation: constants shared by CPU and GPU.
#pragma once

namespace roofline {

/// Added to the mean of squares, as in language models.
inline constexpr double kRmsNormEpsilon = 1e-5;

}  // namespace roofline
