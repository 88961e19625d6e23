// PyTorch problems in Python for roofline bound: one file as one problem, a folder as one part for each file.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "problem/inference.hpp"

namespace roofline {

/// Traces `path`, or all problem files below it, with that Python, with progress on the terminal. Of a folder each part
/// is a file as one kernel; files that can't be traced are named in notes. Throws UsageError where none can.
BoundProblem bound_of_python_files(const std::string& path, const std::string& python, const Inference& inference);

/// Measured times of problem files.
struct ProblemTimings {
  std::map<std::string, double> seconds;  ///< by "level1/1_Square_matrix_multiplication_.py"

  /// Of the entry that ends in the same names as `file`, as many of them as both have; nothing where two do.
  std::optional<double> of(const std::string& file) const;
};

/// Reads JSON as KernelBench writes its timings: {"level1": {"1_Square….py": {"mean": 2.66, …}, …}, …} in milliseconds.
ProblemTimings read_problem_timings(const std::string& file);

}  // namespace roofline
