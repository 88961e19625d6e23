// Error bounds of a correct kernel, from the storage type and the length of the sums. One formula for all ops.
#pragma once

#include "model/names.hpp"
#include "op/op.hpp"

namespace roofline {

/// Half the relative distance from 1 to the next representable number of that type (tf32 is stored as fp32; 0 for
/// integers, which are exact).
double unit_roundoff(DType dtype);

/// Unit roundoff of product operands of that type: 2^-11 for tf32.
double operand_roundoff(DType dtype);

/// The largest error of storing `value` as that type. A fraction that is stored as an integer may be rounded to the
/// nearest one, and a whole number is exact.
double storage_error(DType dtype, double value);

/// What flushing subnormal numbers to zero changes at most: the smallest normal number; 0 for fp16, fp8 and integers.
double flush_error(DType dtype);

/// `permitted` for that result: without flush_error(), if the result is subnormal, which shows that such numbers are
/// not flushed.
double permitted_for(double result, DType dtype, double permitted);

/// The tolerance of outputs of size `magnitude`, each from a chain of `roundings` rounded fp32 (fp64 for
/// fp64) operations whose errors are about as large as the output's own unit roundoff:
///
///   relative = u_storage + q / (2 magnitude) + 8 u_accumulator roundings
///
/// u_storage bounds the one rounding on storing; q is the type's smallest positive number (fp16 goes
/// subnormal below 6e-5); 8 covers the largest of 10^8 elements, whose errors are sums of random
/// roundings (5.7 standard deviations, each at most 0.6 u).
/// A sum of n random terms of any sign has sqrt(n) effective roundings when added one after another:
/// its partial sums grow like sqrt(i), and so do their roundings, beside a result that is sqrt(n) large.
Tolerance storage_tolerance(DType dtype, double magnitude, double roundings);

}  // namespace roofline
