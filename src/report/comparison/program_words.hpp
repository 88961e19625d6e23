// What changed in the cost of a program, in sentences. The same for page, Markdown and terminal.
#pragma once

#include <string>
#include <vector>

#include "report/comparison/program_change.hpp"

namespace roofline {

/// "−24.7 %" of 0.753; "–" if not a number.
std::string relative_change(double ratio);
/// "+1.20 ms", "−1.20 ms"; "0 s" for none.
std::string signed_duration(double seconds);

/// "A step: 32.0 ms → 24.1 ms, −24.7 % (95 %: −25.3 % to −24.1 %).", the mean step, the start-up, slow steps, and what
/// the intervals cover. Of runs why, and the time in which the GPU is busy.
std::vector<std::string> program_sentences(const ProgramChange& change);

/// "A step got slower by more than 3 %, beyond the interval: 24.1 ms → 32.0 ms, +32.8 %"; empty for no regression.
std::string step_regression(const ProgramChange& change);

/// "Pass: a step is not slower by more than 3 %."; undecided where the interval includes the limit.
std::string step_outcome(const ProgramChange& change);

/// What makes the costs hard to compare: other GPUs, other ways to find steps, samples of a run.
std::vector<std::string> program_notes(const Report& base, const Report& now);

}  // namespace roofline
