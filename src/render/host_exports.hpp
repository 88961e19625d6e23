// The stacks of a program's threads and of its GPU time, for other programs that draw flame graphs.
#pragma once

#include <string>

#include "report/runs.hpp"

namespace roofline {

// Each throws UsageError if there are none.

/// host.stacks: collapsed stacks, a line for each, with microseconds: "python3 4711;main;train (train.py:31) 1250000".
/// Those of GPUs are after those of the host: "GPU 0;layer1;conv1;train.py:40 train;sgemm 820000".
std::string render_stacks(const Runs& runs);

/// host.speedscope: a profile for each thread, and one of GPU time, as https://www.speedscope.app reads it.
std::string render_speedscope(const Runs& runs);

}  // namespace roofline
