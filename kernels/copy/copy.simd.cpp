// Vector kernels of the copy, one per instruction-set level.
#include "kernels/copy/copy.hpp"

#include <cstring>

#include "kernels/blocks/cpu/streamed_map.hpp"

namespace roofline {

template <>
void copy_streamed<kIsa>(const std::byte* x, std::byte* y, std::int64_t bytes) {
  constexpr std::int64_t kWord = sizeof(float);
  const std::int64_t words = bytes / kWord;
  map_streamed<kIsa>(
      reinterpret_cast<float*>(y), words, [](auto value) { return value; }, reinterpret_cast<const float*>(x));
  std::memcpy(y + words * kWord, x + words * kWord, static_cast<std::size_t>(bytes % kWord));
}

}  // namespace roofline
