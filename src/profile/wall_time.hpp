// What a program's wall time went to, GPU by GPU.
#pragma once

#include <vector>

#include "profile/intervals.hpp"
#include "profile/recording.hpp"
#include "report/profile.hpp"

namespace roofline {

/// One for each device that did something. The parts of each add up to the length of `steps` (sorted, disjoint);
/// without steps to the recording's.
std::vector<WallTime> wall_times(const Recording& recording, const std::vector<Span>& steps = {});

/// Seconds in which the device was idle within its steps or its active time, of whatever kind.
inline double idle_seconds(const WallTime& wall) {
  return wall.idle_launching_s + wall.idle_waiting_s + wall.idle_elsewhere_s + wall.idle_unknown_s;
}

/// When the library read counters in that process, or prepared to, or sampled instructions: what happens then is no
/// measure of the program. Sorted, disjoint.
std::vector<Span> counting_spans(const Recording& recording, int process);

/// Of that, what it took from the program: while instructions are sampled, the program goes on.
std::vector<Span> profiler_spans(const ProcessTrace& trace);

/// From the first activity of any GPU to the last one's end, without the time in which counters were read.
std::vector<Span> active_spans(const Recording& recording);

}  // namespace roofline
