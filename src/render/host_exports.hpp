// The stacks of a program's threads for other programs that draw flame graphs.
#pragma once

#include <string>

#include "report/runs.hpp"

namespace roofline {

// Each throws UsageError where the host was not sampled.

/// host.stacks: collapsed stacks, a line for each, with microseconds: "python3 4711;main;train (train.py:31) 1250000".
std::string render_stacks(const Runs& runs);

/// host.speedscope: a profile for each thread, as https://www.speedscope.app reads it.
std::string render_speedscope(const Runs& runs);

}  // namespace roofline
