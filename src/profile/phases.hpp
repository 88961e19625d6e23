// Which parts of a run were recorded, and what is known about the others: a sampled recording has only some of the
// steps.
#pragma once

#include <vector>

#include "profile/intervals.hpp"
#include "profile/recording.hpp"

namespace roofline {

/// When everything that a process launched was recorded: sorted, disjoint, within the recording. A part that
/// begins while the program runs counts from its first activity on, because what was queued before it ran unrecorded.
std::vector<Span> recorded(const Recording& recording, int process);

/// The same of all processes at once. Idle time and gaps outside of these spans are unknown, not the program's.
std::vector<Span> recorded(const Recording& recording);

/// The part of the recording's length that recorded() covers; 1 where all was recorded.
double recorded_share(const Recording& recording);

/// Seconds per step while nothing was recorded, one value for each step, or for the few steps between two marks.
/// `steps` are recorded ones, which give the number of marks per step. Empty where no step was timed.
std::vector<double> untouched_steps(const Recording& recording, const std::vector<Span>& steps);

}  // namespace roofline
