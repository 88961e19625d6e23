// The one clock of a spool.
#pragma once

#include <cstdint>
#include <ctime>

namespace roofline::inject {

/// Nanoseconds of CLOCK_MONOTONIC.
inline std::uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace roofline::inject
