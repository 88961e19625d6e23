// Wall time of a program by use, per GPU.
#pragma once

#include <vector>

#include "profile/intervals.hpp"
#include "profile/recording.hpp"
#include "report/profile.hpp"

namespace roofline {

/// The number that each of the recording's devices is shown with: its ordinal if those of the used devices differ
/// (ranks may each see one GPU 0), else its position.
std::vector<int> device_numbers(const Recording& recording);

/// Replaces positions in the recording by these numbers.
void number_devices(Profile& profile, const std::vector<int>& numbers);

/// One entry per active device. Its parts add up to the length of `steps` (sorted, disjoint), or of the recording
/// without steps.
std::vector<WallTime> wall_times(const Recording& recording, const std::vector<Span>& steps = {});

/// Idle seconds of the device within its steps or its active time, of any kind.
inline double idle_seconds(const WallTime& wall) {
  return wall.idle_launching_s + wall.idle_waiting_s + wall.idle_elsewhere_s + wall.idle_unknown_s;
}

/// Times in which the library read counters in that process, prepared to, or sampled instructions; they do not
/// represent the program. Sorted, disjoint.
std::vector<Span> counting_spans(const Recording& recording, int process);

/// The part of these times in which the program was stopped: it continues during instruction sampling.
std::vector<Span> profiler_spans(const ProcessTrace& trace);

/// From the first activity of any GPU to the end of the last, without the time for reading counters.
std::vector<Span> active_spans(const Recording& recording);

}  // namespace roofline
