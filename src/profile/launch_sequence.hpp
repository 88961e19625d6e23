// Sequence of launches by the host of one process: kernels, graphs, copies and memsets.
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
  std::vector<Span> on_gpu;           ///< from the start of its first activity to the end of its last
  std::vector<bool> has_line;         ///< true if its line in the program is known
  std::vector<bool> of_tuner;         ///< true if a compiler launched it to choose among candidates for a kernel
  std::vector<std::size_t> position;  ///< its number among all launches of the process
};

/// One element per launching call; a graph is one element, copies made by the driver itself are none. A kind consists
/// of function, line, module and operation, with one kind for all graphs of a place; an exact kind adds grid, block and
/// range, the number of kernels of a graph, or bytes.
LaunchSequence launch_sequence(const Recording& recording, int process);

/// Elements with a line in the program, which excludes launches from a runtime's own threads, and without those of a
/// tuner.
LaunchSequence of_program(const LaunchSequence& sequence);
/// Elements launched within that time.
LaunchSequence launched_within(const LaunchSequence& sequence, const Span& time);

/// The process with the most kernel time; -1 if none ran a kernel.
int busiest_process(const Recording& recording);

}  // namespace roofline
