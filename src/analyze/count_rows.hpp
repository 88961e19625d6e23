// The hardware counters of a suite's rows, read in a child process after everything has been timed.
#pragma once

#include "analyze/analyze.hpp"

namespace roofline {

/// Counts every timed row, a few at a time. What cannot be counted becomes a note; one note if nothing can.
void count_rows(const Suite& suite, const AnalyzeOptions& options, Report& report);

}  // namespace roofline
