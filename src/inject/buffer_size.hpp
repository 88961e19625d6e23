// How large the next buffer for records of activities is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "inject/clock.hpp"

namespace roofline::inject {

/// CUPTI hands a buffer over when it is full. Asked for more often, with cuptiActivityFlushAll, CUPTI 13.0 crashes
/// programs of XLA that have about 900 launches of a CUDA graph in the queue (docs/evidence/profile-counting.md). So
/// buffers are small where records are rare, that they come soon, and grow where they are many, that few are handed
/// over.
class BufferSize {
 public:
  static constexpr std::size_t kLeast = 4 << 10;   ///< bytes; twenty kernels
  static constexpr std::size_t kMost = 256 << 10;  ///< bytes; a thousand kernels

  /// Bytes of the buffer that CUPTI asks for at this time, in ns.
  std::size_t next(std::uint64_t time) {
    constexpr std::uint64_t kOften = kSecond / 50, kSeldom = kSecond / 5;
    const std::uint64_t since = time - last_;
    last_ = time;
    if (since < kOften) bytes_ = std::min(bytes_ * 2, kMost);
    if (since > kSeldom) bytes_ = std::max(bytes_ / 2, kLeast);
    return bytes_;
  }

 private:
  std::uint64_t last_ = 0;
  std::size_t bytes_ = kLeast;
};

}  // namespace roofline::inject
