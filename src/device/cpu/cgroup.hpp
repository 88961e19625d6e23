// Limits of control groups (a container, a systemd slice) on this process. Reads both versions of the interface; empty
// without either.
#pragma once

#include <optional>
#include <string>

namespace roofline {

struct CgroupLimits {
  std::optional<double> cpus;               ///< CPU time per wall time
  std::optional<double> memory_bytes;       ///< the tightest limit on the way up
  std::optional<double> free_memory_bytes;  ///< what is left under that limit
};

/// Reads `root`/proc/self/cgroup and the files under `root`/sys/fs/cgroup; `root` is empty but in tests.
CgroupLimits read_cgroup_limits(const std::string& root = {});

/// Seconds for which a quota has had this process's group, or one above it, stopped so far: the CPUs of the group
/// together, of the group that was stopped longest. 0 if there is no quota.
double read_throttled_s(const std::string& root = {});

}  // namespace roofline
