// What a thread did between two samples of which the second finds it ready to run.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sample/proc_text.hpp"

namespace roofline {

/// Shares of the time.
struct ReadyTime {
  double running = 0, runnable = 0, blocked = 0;
};

/// `elapsed`, and `unaccounted`, which is kept from one sample of a thread to its next: ns. A thread may also have
/// waited in between. The kernel updates its times every few milliseconds, so that a short interval may lack time: what
/// lacks is a wait as soon as it is more than that.
inline ReadyTime ready_time(std::uint64_t elapsed, const ThreadTimes& before, const ThreadTimes& now, bool seen_running,
                            std::int64_t& unaccounted) {
  constexpr std::int64_t kUpdate = 20'000'000;
  constexpr double kNegligible = 0.05;
  const auto cpu = static_cast<double>(now.cpu - before.cpu), waited = static_cast<double>(now.waited - before.waited);
  double share = cpu + waited > 0 ? cpu / (cpu + waited) : seen_running ? 1 : 0;
  if (share < kNegligible) share = 0;
  if (share > 1 - kNegligible) share = 1;
  if (now.cpu == 0) return {share, 1 - share, 0};  // a kernel that does not keep them
  const auto length = static_cast<std::int64_t>(elapsed);
  unaccounted = std::max<std::int64_t>(0, unaccounted + length - static_cast<std::int64_t>(cpu + waited));
  const std::int64_t blocked = std::clamp<std::int64_t>(unaccounted - kUpdate, 0, length);
  unaccounted -= blocked;
  const double ready = length > 0 ? 1 - static_cast<double>(blocked) / static_cast<double>(length) : 1;
  return {ready * share, ready * (1 - share), 1 - ready};
}

}  // namespace roofline
