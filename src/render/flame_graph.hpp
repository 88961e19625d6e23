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
  double start_s = 0;       ///< of what is beside and before it
  double seconds = 0;       ///< with what is below it
  std::int64_t merged = 0;  ///< frames that this one stands for; 0: itself alone
};

struct FlameGraph {
  std::vector<FlameBar> bars;  ///< by depth, then by place
  double seconds = 0;          ///< of all stacks
  int depth = 0;               ///< rows
  std::int64_t merged = 0;     ///< frames that have no bar of their own
};

/// Frames beside each other have the longest first. At most `most` bars, and as many of merged frames; frames deeper
/// than `deepest` rows are merged.
FlameGraph flame_graph(const std::vector<FoldedStack>& stacks, std::size_t most, int deepest = 100);

}  // namespace roofline
