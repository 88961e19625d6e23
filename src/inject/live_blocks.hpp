// The addresses of recorded blocks of memory until they are freed. Lock-free, because every free of a caching allocator
// looks here, also while nothing is recorded.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "inject/mix.hpp"

namespace roofline::inject {

class LiveBlocks {
 public:
  /// False: there is no room near its place, and remove() will not find it.
  bool add(std::uint64_t address) {
    for (std::atomic<std::uint64_t>& slot : bucket(address)) {
      std::uint64_t empty = 0;
      if (slot.load(std::memory_order_relaxed) == 0 && slot.compare_exchange_strong(empty, address)) return true;
    }
    return false;
  }

  /// True if it was there.
  bool remove(std::uint64_t address) {
    for (std::atomic<std::uint64_t>& slot : bucket(address)) {
      std::uint64_t known = address;
      if (slot.load(std::memory_order_relaxed) == address && slot.compare_exchange_strong(known, 0)) return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t kWays = 4, kBuckets = 1 << 15;  // two buckets to a cache line, 1 MiB in all
  using Bucket = std::array<std::atomic<std::uint64_t>, kWays>;

  Bucket& bucket(std::uint64_t address) { return buckets_[(mix(0, address) >> 8U) % kBuckets]; }

  alignas(64) std::array<Bucket, kBuckets> buckets_ = {};
};

}  // namespace roofline::inject
