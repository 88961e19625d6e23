// Sentences about the change in a program's cost, shared by page, Markdown and terminal.
#pragma once

#include <string>
#include <vector>

#include "report/comparison/program_change.hpp"

namespace roofline {

/// "3 %".
std::string slowdown_limit(double max_slowdown);

/// "−24.7 %" for 0.753; "–" for NaN.
std::string relative_change(double ratio);
/// "+1.20 ms", "−1.20 ms"; "0 s" for zero.
std::string signed_duration(double seconds);

/// "A step: 32.0 ms → 24.1 ms, −24.7 % (95 %: −25.3 % to −24.1 %).", the mean step, start-up, slow steps, and what the
/// intervals cover. For whole runs, the reason and the time in which the GPU is busy. Without a GPU, wall and CPU time.
std::vector<std::string> program_sentences(const ProgramChange& change);

/// "step" or "wall time": what decides.
std::string_view name_of_deciding(const ProgramChange& change);

/// "A step got slower by more than 3 %, beyond the interval: 24.1 ms → 32.0 ms, +32.8 %"; empty without a regression.
std::string step_regression(const ProgramChange& change);

/// "Pass: a step is not slower by more than 3 %."; undecided if the interval includes the limit, or if there is none.
std::string step_outcome(const ProgramChange& change);

/// Reasons why the costs are hard to compare: different GPUs, different ways to find steps, partial recordings.
std::vector<std::string> program_notes(const Report& base, const Report& now);

}  // namespace roofline
