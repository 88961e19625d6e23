// The recorded parts of a run, and step times outside them: a sampled recording contains only some of the steps.
#pragma once

#include <vector>

#include "profile/intervals.hpp"
#include "profile/recording.hpp"

namespace roofline {

/// Times in which everything that a process launched was recorded: sorted, disjoint, within the recording. A part that
/// begins while the program runs counts from its first activity, because work queued before it was not recorded.
std::vector<Span> recorded(const Recording& recording, int process);

/// The same for all processes at once. Gaps outside these spans are unknown, not idle time of the program.
std::vector<Span> recorded(const Recording& recording);

/// Fraction of the recording's length that recorded() covers; 1 if everything was recorded.
double recorded_share(const Recording& recording);

/// Seconds per step outside the recording, one value per step or per few steps between two marks. `steps`: recorded
/// steps, which give the number of marks per step. Empty if no step was timed.
std::vector<double> untouched_steps(const Recording& recording, const std::vector<Span>& steps);

}  // namespace roofline
