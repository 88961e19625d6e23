// How a compute probe's rounds are divided among the workers.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace roofline {

/// Rounds that are claimed by whichever worker is ready for them, fewer and fewer towards the end, as a product's rows
/// are (packed_product.cpp): the roof is what all cores do together. With fixed shares it would be that of the slowest
/// one times their number, half of the truth where a hypervisor has put but one pair of its CPUs on one core.
struct SharedRounds {
  std::int64_t all = 0;
  std::int64_t least = 1;  ///< that a claim has, but for the last: a microsecond or two, for it costs some 50 ns
  std::int64_t workers = 1;
  alignas(64) std::atomic<std::int64_t> left{0};

  void begin() { left.store(all, std::memory_order_relaxed); }

  /// Whole multiples of `least`, and half of a fair share at the most; none when all are taken.
  std::int64_t claim() {
    std::int64_t from = left.load(std::memory_order_relaxed);
    std::int64_t claimed = 0;
    do {
      claimed = std::min(from, std::max<std::int64_t>(from / (2 * workers * least), 1) * least);
    } while (!left.compare_exchange_weak(from, from - claimed, std::memory_order_relaxed));
    return claimed;
  }
};

}  // namespace roofline
