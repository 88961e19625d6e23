// A suite: YAML → the list of workloads, validated before anything is run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/names.hpp"
#include "op/op.hpp"

namespace roofline {

struct KernelSpec;
struct LastLevelCache;
struct Machine;

/// A workload of a suite, with all that it names looked up. Where the device can't run it, `skip_reason` says why and
/// it becomes a `skipped` row; everything else that is wrong with a suite is an error with file, line and column.
struct SuiteEntry {
  const Op* op = nullptr;                        ///< never null in a parsed suite
  std::optional<Implementation> implementation;  ///< nothing only where there is a reason to skip
  std::vector<Implementation> below;             ///< best first, if it is refused; empty where the suite has named it
  Workload workload;
  std::string skip_reason;
  int line = 0;                    ///< of the entry in the file
  std::optional<Pipe> needs = {};  ///< pipe without which there is no row
  std::shared_ptr<const KernelSpec>
      kernel;  ///< of the suite's own, where the implementation is one of its implementations
  /// Label of the row that is chosen among configurations, without the configuration, so that runs with different
  /// choices have one label. Empty unless chooses_fastest().
  std::string chosen_label = {};

  /// Time limit of the process in seconds; std::nullopt for built-in kernels.
  std::optional<double> time_limit_s() const;
  /// True if only the fastest of its kernel's configurations is to be kept for this shape.
  bool chooses_fastest() const;
};

struct Suite {
  std::string name;
  std::string description;
  std::string path;
  std::string text;
  std::vector<SuiteEntry> entries;
  std::vector<std::shared_ptr<const Op>> own_ops = {};  ///< of its `kernels`: entries point to them
  std::vector<std::string> unused_kernels = {};         ///< of its `kernels`, which no workload needs
};

/// Parses and validates a suite for devices of that kind. Entries for other kinds of device are validated too, if this
/// build knows them. The order is that of the file; a sweep is expanded with its shapes slowest, then dtypes, then
/// implementations, then cache modes, each in the order given. Throws UsageError such as "configs/ops.yaml:14:9:
/// unknown op 'gem'; did you mean 'gemm'? (see: roofline ops)".
Suite parse_suite(const std::string& text, const std::string& path, DeviceKind device);
Suite load_suite(const std::string& path, DeviceKind device);

/// Keeps the entries whose label or op matches the glob (* and ?). Throws UsageError when none does.
void keep_only(Suite& suite, const std::string& glob);

/// Removes the entries that need a pipe for which the machine has no ceiling. Throws UsageError when none is left.
void remove_without_pipe(Suite& suite, const Machine& machine);

/// Throws UsageError, with file and line, for the first entry that doesn't fit: its buffers, rotation and
/// guards included, may take `free_bytes`. Both are those of the device that will run the suite.
void require_memory(const Suite& suite, const LastLevelCache& last_level, double free_bytes);

}  // namespace roofline
