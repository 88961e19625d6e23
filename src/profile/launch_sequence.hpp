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
  std::vector<Span> on_gpu;  ///< by element: from its first activity's start to its last one's end
};

/// All that one call launched is one element: a graph is one. Copies that the driver makes by itself are none. A kind
/// is function, line, module and operation; an exact one also has grid, block and range, or bytes.
LaunchSequence launch_sequence(const Recording& recording, int process);

/// The process whose kernels took the most time; -1 where none ran a kernel.
int busiest_process(const Recording& recording);

}  // namespace roofline
