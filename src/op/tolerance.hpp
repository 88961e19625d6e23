// How wrong a correct kernel may be: bounds from the storage type and the length of the sums. The formulas
// are written here once, so that no op brings a number of its own.
#pragma once

#include "model/names.hpp"
#include "op/op.hpp"

namespace roofline {

/// Half the distance from 1 to the next number that a tensor of that type can hold, relative to the number (tf32 is
/// stored as fp32; 0 for integers, which are exact).
double unit_roundoff(DType dtype);

/// Half the distance from 1 to the next number that a product of that type can be given: 2^-11 for tf32.
double operand_roundoff(DType dtype);

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
