// The `kernels:` of a suite: YAML → KernelSpec. Internal to src/config.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "config/yaml_value.hpp"
#include "user/kernel_spec.hpp"
#include "user/user_op.hpp"

namespace roofline {

/// A kernel of the suite, and the op that it makes; none where it is like another op.
struct SuiteKernel {
  std::shared_ptr<const KernelSpec> spec;
  std::shared_ptr<const UserOp> op;
  /// True if a workload runs it, or another kernel that must equal it. Of other kernels no shape is known: all is
  /// checked except the names of extents and what follows from their values.
  bool used = true;
};

/// By name.
using SuiteKernels = std::map<std::string, SuiteKernel, std::less<>>;

/// Reads the section. `workloads` says which extents each kernel's shape has; relative paths are those of the suite's
/// folder. Throws UsageError with file, line and column.
SuiteKernels read_kernels(const YamlValue& yaml, const YamlValue& workloads);

}  // namespace roofline
