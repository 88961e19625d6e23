// Elements of a tensor of any type: stored from a double or a whole number, and sorted.
#pragma once

#include "op/tensor.hpp"

namespace roofline {

/// Stores one element, rounded to the tensor's type.
void store_element(HostTensor& tensor, std::int64_t index, double value);

/// Into a tensor of 64-bit integers; what they do not hold is stored as something else.
void store_whole(HostTensor& tensor, std::int64_t index, Whole value);

/// Ascending. Of integer types; others keep their order.
void sort_elements(HostTensor& tensor);

}  // namespace roofline
