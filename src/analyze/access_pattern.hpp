// What a trace of accesses says of their order: how often lines and pages are entered again, and which accesses cross
// lines. Pure.
#pragma once

#include <cstddef>
#include <span>

#include "device/cpu/access_trace.hpp"

namespace roofline {

struct AccessPattern {
  std::size_t accesses = 0;
  /// Visits that it takes until all that is accessed of a cache line was: 1 for streams, however often they are
  /// repeated, 16 where each fp32 element is reached alone. A visit ends after 16 other lines of the buffer. Of the
  /// buffer with the most.
  double line_visits = 0;
  /// Of the accesses, the share that enter a page, where the last 8 pages of the same buffer are no entry.
  double page_jumps = 0;
  /// Of the accesses, the share that cross a line: by their address and the distance to the next one of a stream.
  double split_share = 0;
};

AccessPattern pattern_of(std::span<const TracedAccess> accesses);

}  // namespace roofline
