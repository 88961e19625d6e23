// What the host of one process launched, in its order: kernels, graphs, copies and memsets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/intervals.hpp"
#include "profile/recording.hpp"
#include "profile/repetition.hpp"

namespace roofline {

struct LaunchSequence {
  std::vector<SequenceElement> elements;
  // By element.
  std::vector<Span> on_gpu;           ///< from its first activity's start to its last one's end
  std::vector<bool> has_line;         ///< its line in the program is known
  std::vector<std::size_t> position;  ///< its number among all that the process launched
};

/// All that one call launched is one element: a graph is one. Copies that the driver makes by itself are none. A kind
/// is function, line, module and operation, and all graphs of a place are one; an exact one also has grid, block and
/// range, the number of a graph's kernels, or bytes.
LaunchSequence launch_sequence(const Recording& recording, int process);

/// Those of its elements that have a line in the program: not what a runtime launches from threads of its own, as a
/// compiler that tunes kernels does.
LaunchSequence with_lines(const LaunchSequence& sequence);
/// Those that were launched in that time.
LaunchSequence launched_within(const LaunchSequence& sequence, const Span& time);

/// The process whose kernels took the most time; -1 where none ran a kernel.
int busiest_process(const Recording& recording);

}  // namespace roofline
