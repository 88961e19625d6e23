// Lanes of a timeline: activity of GPUs and host threads in a window of a recording. Bars are clipped to the window.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/intervals.hpp"
#include "profile/recording.hpp"
#include "report/profile.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// A slice for the part of [start, end) within the window, ns; empty outside it.
Slice slice_within(const Span& window, std::uint64_t start, std::uint64_t end);

/// One lane per stream with activity.
std::vector<Lane> stream_lanes(const Recording& recording, const Span& window);

/// One lane per GPU with idle time: each gap with its main cause, from driver calls and samples in it; without samples,
/// from those in similar gaps of the other `steps`.
std::vector<Lane> idle_lanes(const Recording& recording, const Span& window, const HostSamples& samples,
                             const std::vector<Span>& steps);

struct ThreadLanes {
  std::vector<Lane> lanes;  ///< per thread: its calls, then its samples
  std::int64_t hidden = 0;  ///< sampled threads without lanes: no calls, and never runnable
};

/// Threads that called CUDA, then the busiest of those that ran on a CPU.
ThreadLanes thread_lanes(const Recording& recording, const Span& window, const HostSamples& samples);

}  // namespace roofline
