// Loops and functions of a CPU program as rows of a report: native time, counted work, the roofs of its threads.
#pragma once

#include "profile/cpu/counted_instructions.hpp"
#include "report/report.hpp"
#include "sample/code_samples.hpp"

namespace roofline {

struct EmulationFacts {
  double seconds = 0;       ///< wall time of the emulated run
  std::int64_t signal = 0;  ///< signal that ended the native run; 0: none
};

/// Adds a row for each loop and function with at least 0.5 % of the user-code time, and notes about mismatches.
void add_cpu_rows(Report& report, const CountedInstructions& counted, const CodeSamples& samples,
                  const EmulationFacts& facts);

}  // namespace roofline
