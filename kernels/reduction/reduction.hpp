// Sum and maximum on the CPU: declarations of the vector kernels.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"

namespace roofline {

/// Sum of x[0 … count): blocks of 4096 elements in type Computed<T>, their sums in fp64.
template <Isa isa, typename T>
double sum_range(const T* x, std::int64_t count);

/// Largest of x[0 … count); -inf when there is none.
template <Isa isa, typename T>
double maximum_range(const T* x, std::int64_t count);

}  // namespace roofline
