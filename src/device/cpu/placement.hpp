// Which logical CPUs the worker threads are pinned to: plain arithmetic on a topology, a quota and what the user asked.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "device/cpu/topology.hpp"

namespace roofline {

struct PlacementRequest {
  int threads = 0;             ///< 0: as many as make sense
  std::vector<int> cpus = {};  ///< --cpus; empty: the performance cores
  double cpu_quota = 0;        ///< CPU time per wall time that the control group allows; 0: no quota
};

struct Placement {
  std::vector<int> cpus;  ///< of each worker, in the workers' order; none twice
  /// The user named these CPUs, and as many threads without --cpus would run on others.
  bool chosen = false;
  /// What a reader of the device's description must know: cores left out, a quota that limits. A sentence each.
  std::vector<std::string> notes = {};
};

/// One worker a physical core first, in the topology's order, then their SMT siblings. Without --cpus, performance
/// cores only; 0 threads means one for each core (with --cpus: for each CPU named), but no more than the quota pays
/// for. Throws UsageError when there are fewer CPUs than threads, or a CPU is named that this process may not use.
Placement place_threads(const Topology& topology, const PlacementRequest& request);

/// "0-3,8": the kernel's own notation, ascending.
std::string cpu_list(std::vector<int> cpus);

/// The CPUs of such a list. Throws UsageError, naming `option`, when it is none or names a CPU twice.
std::vector<int> parse_cpu_list(const std::string& text, const std::string& option);

/// A name for a set of CPUs of lower-case letters, digits and '-', for identities: "0to3-8". No two sets share one
/// (long lists are abbreviated by a hash of 64 bits).
std::string cpu_set_name(const std::vector<int>& cpus);

/// Those CPUs and the SMT siblings of their cores: where a busy thread of another program is felt.
std::vector<int> with_siblings(const Topology& topology, const std::vector<int>& cpus);

}  // namespace roofline
