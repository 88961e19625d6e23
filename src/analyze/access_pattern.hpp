// Order of accesses in a trace: how often lines and pages are entered again, and which accesses cross lines. Pure.
#pragma once

#include <cstddef>
#include <span>

#include "device/cpu/access_trace.hpp"

namespace roofline {

struct AccessPattern {
  std::size_t accesses = 0;
  /// Visits until all accessed bytes of a cache line were accessed: 1 for streams, however often they are repeated, 16
  /// if each fp32 element is reached by its own visit. A visit ends after 16 other lines of the buffer. The maximum
  /// over the buffers.
  double line_visits = 0;
  /// Share of accesses that enter a page; the last 8 pages of the same buffer do not count as entered.
  double page_jumps = 0;
  /// Share of accesses that cross a line: by their address and the distance to the next one of a stream.
  double split_share = 0;
};

AccessPattern pattern_of(std::span<const TracedAccess> accesses);

}  // namespace roofline
