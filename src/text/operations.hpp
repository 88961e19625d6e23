// Operations are FLOPs where they are of floating-point numbers, and OPs of integers.
#pragma once

#include <string>
#include <string_view>

#include "model/names.hpp"

namespace roofline {

/// A rate of compute in the unit of its operands: "798 TFLOP/s", of integers "1.34 POP/s".
std::string compute_rate(double value, DType dtype);

/// Whether a pipe or a ceiling of that name works on integers: "tensor.int8".
bool counts_integers(std::string_view name);

}  // namespace roofline
