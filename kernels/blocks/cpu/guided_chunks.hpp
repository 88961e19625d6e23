// Guided self-scheduling: workers fetch chunks from a shared counter, smaller ones towards the end.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

namespace roofline {

/// Index of the next chunk, on a separate cache line.
struct alignas(64) ChunkCounter {
  std::atomic<std::int64_t> next{0};
};

/// The next chunk [begin, end) of [0, count), or {count, count} when none is left. A chunk has at most `max_chunk`
/// elements and half of an equal share of what is left, so that a slow worker delays the end by little.
inline std::pair<std::int64_t, std::int64_t> next_guided_chunk(std::atomic<std::int64_t>& next, std::int64_t count,
                                                               std::int64_t workers, std::int64_t max_chunk) {
  std::int64_t begin = next.load(std::memory_order_relaxed);
  while (begin < count) {
    const std::int64_t end = begin + std::clamp<std::int64_t>((count - begin) / (2 * workers), 1, max_chunk);
    if (next.compare_exchange_weak(begin, end, std::memory_order_relaxed)) return {begin, end};
  }
  return {count, count};
}

}  // namespace roofline
