// Work that is taken by whichever worker is ready for it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

namespace roofline {

/// Pieces that workers have begun with, on a cache line of its own.
struct alignas(64) Claimed {
  std::atomic<std::int64_t> count{0};
};

/// From the first to behind the last of `all` pieces that the caller takes, by counting `next` up from 0: at most
/// `most`, and fewer and fewer towards the end, so that what slows one worker down, another program or the chip, costs
/// all of them its share instead of its whole. Both are `all` when nothing is left.
inline std::pair<std::int64_t, std::int64_t> claim(std::atomic<std::int64_t>& next, std::int64_t all,
                                                   std::int64_t workers, std::int64_t most) {
  std::int64_t begin = next.load(std::memory_order_relaxed);
  while (begin < all) {
    const std::int64_t end = begin + std::clamp<std::int64_t>((all - begin) / (2 * workers), 1, most);
    if (next.compare_exchange_weak(begin, end, std::memory_order_relaxed)) return {begin, end};
  }
  return {all, all};
}

}  // namespace roofline
