// The logical CPUs that worker threads are pinned to: a pure function of topology, quota and options.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "device/cpu/topology.hpp"

namespace roofline {

struct PlacementRequest {
  int threads = 0;             ///< 0: one per core, within the quota
  std::vector<int> cpus = {};  ///< --cpus; empty: the performance cores
  double cpu_quota = 0;        ///< CPU time per wall time that the control group allows; 0: no quota
};

struct Placement {
  std::vector<int> cpus;  ///< of each worker, in the workers' order; none twice
  /// --cpus was given, and the default placement of as many threads differs.
  bool chosen = false;
  /// Notes for the device description, one sentence each: unused cores, a limiting quota.
  std::vector<std::string> notes = {};
};

/// One worker per physical core in the topology's order, then their SMT siblings. Without --cpus, performance cores
/// only; 0 threads means one per core (with --cpus: one per listed CPU), limited by the quota. Throws UsageError if
/// there are fewer CPUs than threads, or if a listed CPU is not in this process's affinity mask.
Placement place_threads(const Topology& topology, const PlacementRequest& request);

/// "0-3,8": Linux's CPU list format, ascending.
std::string cpu_list(std::vector<int> cpus);

/// Parses such a list. Throws UsageError with the name of `option` if it is malformed or has duplicates.
std::vector<int> parse_cpu_list(const std::string& text, const std::string& option);

/// A unique name for a set of CPUs in lower-case letters, digits and '-', for identities: "0to3-8". Long lists are
/// abbreviated by a 64-bit hash.
std::string cpu_set_name(const std::vector<int>& cpus);

/// Those CPUs and the SMT siblings of their cores: other threads there slow down the workers.
std::vector<int> with_siblings(const Topology& topology, const std::vector<int>& cpus);

}  // namespace roofline
