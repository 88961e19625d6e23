// Arrays of 16-bit elements to and from fp32, by vectors of an instruction-set level, for kernels that widen their
// operands first.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"
#include "kernels/blocks/cpu/small_float.hpp"

namespace roofline {

/// Both directions for elements of type T (Fp16 or Bf16): exact when widening, to nearest even when narrowing.
/// `count` elements each, at any alignment.
template <typename T>
struct Converters {
  void (*widen)(const T* from, float* to, std::int64_t count);
  void (*narrow)(const float* from, T* to, std::int64_t count);
};

template <Isa isa, typename T>
Converters<T> converters();

}  // namespace roofline
