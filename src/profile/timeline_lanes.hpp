// The lanes of a timeline: what GPUs and host threads did in a window of a recording. Bars are cut at the window's
// ends.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/intervals.hpp"
#include "profile/recording.hpp"
#include "report/profile.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// A slice over the part of [start, end) that is within the window; ns. Without length outside of it.
Slice slice_within(const Span& window, std::uint64_t start, std::uint64_t end);

/// One for each stream on which something ran.
std::vector<Lane> stream_lanes(const Recording& recording, const Span& window);

/// One for each GPU that was idle: its idle times, each with the cause that explains most of it as far as calls of the
/// driver in it and samples taken in it show one; without samples, those in like idle times of the other `steps`.
std::vector<Lane> idle_lanes(const Recording& recording, const Span& window, const HostSamples& samples,
                             const std::vector<Span>& steps);

struct ThreadLanes {
  std::vector<Lane> lanes;  ///< of a thread its calls, then its samples
  std::int64_t hidden = 0;  ///< sampled threads without lanes: they made no call and were never ready to run
};

/// Of the threads that called CUDA, then of those that were on a CPU, the busiest ones.
ThreadLanes thread_lanes(const Recording& recording, const Span& window, const HostSamples& samples);

}  // namespace roofline
