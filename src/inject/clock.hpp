// The one clock of a spool.
#pragma once

#include <cstdint>
#include <ctime>

namespace roofline::inject {

inline constexpr std::uint64_t kSecond = 1'000'000'000;  ///< in the unit of now()

/// Nanoseconds of CLOCK_MONOTONIC.
inline std::uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * kSecond + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace roofline::inject
