// Graphs of PyTorch operators as problems: what a program of torch.export and a trace of a problem file have in common.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "problem/inference.hpp"

namespace roofline {

/// Memory of a tensor and of all its views.
struct TorchStorage {
  bool persistent = false;  ///< a parameter, an input or a constant: it must be read where it is used
  double bytes = 0;
};

/// Part of a storage that a call reads or writes, bytes.
struct TorchUse {
  std::size_t storage = 0;
  double bytes = 0;
};

/// A call of an operator, its arguments as the profiler of PyTorch writes them (OpCall in import/op_work.hpp).
struct TorchCall {
  std::string name, dims, types, concrete;
  double times = 1;   ///< calls one after the other
  bool tf32 = false;  ///< products of fp32 may round their inputs to TF32
  std::vector<TorchUse> reads, writes;
};

struct TorchGraph {
  std::string file;
  std::vector<TorchStorage> storages;
  std::vector<TorchCall> calls;  ///< without views
  std::vector<TorchUse> outputs;
};

/// A line of torch_trace.py. Throws UsageError with the reason that it has in place of a graph, and where it is no such
/// line.
TorchGraph parse_torch_trace(std::string_view line);

/// A part for each operator with its shapes; all of them as one kernel that reads what is persistent, as far as it is
/// used, once, and writes the outputs once. Operators without a model of their FLOPs have bytes, and are named in a
/// note. Throws UsageError where nothing computes.
BoundProblem problem_of(const TorchGraph& graph, const Inference& inference);

}  // namespace roofline
