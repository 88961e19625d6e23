// Elements of a tensor of any type: stored from a double or a whole number, and sorted.
#pragma once

#include "op/tensor.hpp"

namespace roofline {

/// Stores one element, rounded to the tensor's type.
void store_element(HostTensor& tensor, std::int64_t index, double value);

/// Stores a value in a tensor of 64-bit integers; a value out of range is stored as another one.
void store_whole(HostTensor& tensor, std::int64_t index, Whole value);

/// Sorts integer types in ascending order; others keep their order.
void sort_elements(HostTensor& tensor);

}  // namespace roofline
