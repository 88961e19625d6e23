// CUDA graphs that a tool traced as a whole: their kernels are not known.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "profile/process_trace.hpp"

namespace roofline {

struct WholeGraphs {
  std::int64_t launches = 0;
  double share = 0;  ///< of the wall time of the GPUs in use: in such a graph, without another kernel
};

/// Whole graphs of a finished trace. `graphs` are the launch signatures of such graphs.
WholeGraphs whole_graphs_of(const ProcessTrace& trace, const std::set<spool::Id>& graphs);

/// What to do about them; empty without such graphs.
std::string note_of(const WholeGraphs& graphs);

}  // namespace roofline
