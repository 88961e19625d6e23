// How the rounds of a compute probe are scheduled over the workers.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace roofline {

/// Guided self-scheduling of rounds: the ceiling is the throughput of all cores together. A static schedule would
/// measure the slowest core times their number, which is half of the truth where a hypervisor puts two of its virtual
/// CPUs on one core.
struct GuidedRounds {
  std::int64_t all = 0;
  std::int64_t min_chunk = 1;  ///< rounds, except in the last chunk; 1 to 2 us, because fetching a chunk costs 50 ns
  std::int64_t workers = 1;
  alignas(64) std::atomic<std::int64_t> left{0};

  void begin() { left.store(all, std::memory_order_relaxed); }

  /// A multiple of `min_chunk`, at most half of an equal share of what is left; 0 when none are left.
  std::int64_t next_chunk() {
    std::int64_t from = left.load(std::memory_order_relaxed);
    std::int64_t chunk = 0;
    do {
      chunk = std::min(from, std::max<std::int64_t>(from / (2 * workers * min_chunk), 1) * min_chunk);
    } while (!left.compare_exchange_weak(from, from - chunk, std::memory_order_relaxed));
    return chunk;
  }
};

}  // namespace roofline
