// The system's clocks in nanoseconds.
#pragma once

#include <cstdint>
#include <ctime>

namespace roofline {

inline constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

/// The time of a clock, such as CLOCK_MONOTONIC.
inline std::uint64_t clock_ns(clockid_t clock) {
  timespec now = {};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kNsPerSecond + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace roofline
