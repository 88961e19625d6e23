// Elements of every type as tests of vector kernels make, keep and read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/blocks/cpu/small_float.hpp"

namespace roofline {

template <typename T>
double as_double(T value) {
  if constexpr (kSmallFloat<T>) {
    return widened(value);
  } else {
    return value;
  }
}

template <typename T>
T as_element(double value) {
  if constexpr (kSmallFloat<T>) {
    return narrowed<T>(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

/// Elements from the beginning of a cache line on, where stores past the caches can begin.
template <typename T>
class LineAligned {
 public:
  explicit LineAligned(std::int64_t count) : lines_(static_cast<std::size_t>(count) * sizeof(T) / sizeof(Line) + 1) {}
  T* data() { return reinterpret_cast<T*>(lines_.data()); }

 private:
  struct alignas(64) Line {
    char bytes[64];
  };
  std::vector<Line> lines_;
};

}  // namespace roofline
