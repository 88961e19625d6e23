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

/// A kernel of the suite and its own op; no op if it is like another one.
struct SuiteKernel {
  std::shared_ptr<const KernelSpec> spec;
  std::shared_ptr<const UserOp> op;
  /// True if a workload runs it, or another kernel that must equal it. Unused kernels have no shape: all is checked
  /// except the names of extents and the values that depend on them.
  bool used = true;
};

/// Kernels by name.
using SuiteKernels = std::map<std::string, SuiteKernel, std::less<>>;

/// Reads the section. `workloads` says which extents each kernel's shape has; relative paths are those of the suite's
/// folder. Throws UsageError with file, line and column.
SuiteKernels read_kernels(const YamlValue& yaml, const YamlValue& workloads);

}  // namespace roofline
