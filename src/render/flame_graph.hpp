// The layout of a flame graph that hangs from the top: stacks → bars. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/folded_stacks.hpp"

namespace roofline {

struct FlameBar {
  StackFrame frame;
  int depth = 0;
  double start_s = 0;       ///< end of the preceding bars
  double seconds = 0;       ///< including children
  std::int64_t merged = 0;  ///< number of frames merged into it; 0: none
};

struct FlameGraph {
  std::vector<FlameBar> bars;  ///< sorted by depth, then by position
  double seconds = 0;          ///< sum of all stacks
  int depth = 0;               ///< rows
  std::int64_t merged = 0;     ///< frames that have no bar of their own
};

/// Sibling frames are sorted, longest first. At most `most` bars, plus as many for merged frames; frames deeper than
/// `deepest` rows are merged.
FlameGraph flame_graph(const std::vector<FoldedStack>& stacks, std::size_t most, int deepest = 100);

}  // namespace roofline
