// Problem files in Python, as KernelBench has them, traced by the PyTorch of the machine. Their code runs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "import/torch_graph.hpp"

namespace roofline {

struct TracedProblem {
  std::string file;
  TorchGraph graph;
  std::string error;  ///< why there is no graph; empty: there is one
};

/// Traces the files one by one in one process of `python` (import/torch_trace.py): operators are called on tensors
/// without data. `progress` gets the number of traced files. Throws Error where that Python or its PyTorch does not
/// start, and UsageError where it ends before its last file. At most `limit_s` seconds a file.
std::vector<TracedProblem> trace_problems(const std::string& python, const std::vector<std::string>& files,
                                          double limit_s, const std::function<void(std::size_t)>& progress);

}  // namespace roofline
