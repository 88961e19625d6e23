// The shape of the host as this process may use it: cores, caches, memory. Facts only; who is pinned where is decided
// from them in placement.hpp, and what probes stream over in kernels/calibration/cpu/memory_plan.hpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/machine.hpp"

namespace roofline {

/// A cache and the logical CPUs that share it.
struct TopologyCache {
  Level level = Level::l1;
  double bytes = 0;
  std::vector<int> cpus;
};

/// Memory, and the logical CPUs that are nearest to it.
struct NumaNode {
  std::vector<int> cpus;
  double memory_bytes = 0;  ///< 0: its CPUs have no memory of their own
};

struct Topology {
  /// Logical CPUs (the kernel's numbers) of each physical core, only those allowed.
  std::vector<std::vector<int>> cores;
  /// Performance rank of each core: 0 for all if they are equal or unknown, 1 and more for performance cores.
  std::vector<int> ranks;
  std::vector<TopologyCache> caches;  ///< data and unified ones
  int packages = 1;
  std::vector<NumaNode> numa_nodes;  ///< those that have CPUs
  double memory_bytes = 0;

  int cpus() const;  ///< logical CPUs in all
};

/// The host, restricted to the cpuset and affinity that this process had at the first call: later pins of
/// our own don't narrow it. Throws DeviceError when it can't be read.
const Topology& host_topology();

/// A topology that hwloc is told of instead of asking the system: its XML, or a synthetic description as in
/// "pack:2 l3:1(size=32m) l2:8(size=1m) core:1 pu:2". `allowed` restricts it to those CPUs ("0-3,8"; empty: all).
/// Throws DeviceError when hwloc can't make sense of it.
Topology described_topology(const std::string& description, const std::string& allowed = {});

/// What hwloc and the system say of one kind of core.
struct CoreKind {
  int rank = 0;         ///< hwloc's, ascending with speed; -1 if unknown
  std::string type;     ///< "IntelCore", "IntelAtom"; empty where the system doesn't say
  double max_mhz = 0;   ///< 0: unknown
  double capacity = 0;  ///< the Linux scheduler's (Arm), 0: unknown
};

/// True if two kinds differ as performance and efficiency cores do. Cores of one design whose highest clocks differ by
/// some per cent ("favoured" cores) don't.
bool differ_in_design(const CoreKind& slow, const CoreKind& fast);

/// Physical cores under those logical CPUs.
int cores_under(const Topology& topology, const std::vector<int>& cpus);

/// The caches of those logical CPUs, nearest level first; one entry for each size if a level has several.
std::vector<CacheInfo> caches_under(const Topology& topology, const std::vector<int>& cpus);

/// Which of `cpus` lie together in one of `sets` (the caches of a level, the NUMA nodes): for each set that holds
/// any, their indices. Every index is in exactly one group; CPUs that no set holds form the last one.
std::vector<std::vector<int>> grouped(const std::vector<int>& cpus, const std::vector<std::vector<int>>& sets);

/// The CPUs behind each cache of a level.
std::vector<std::vector<int>> sets_of(const Topology& topology, Level level);

/// True if the two share an element.
bool meet(const std::vector<int>& a, const std::vector<int>& b);

/// "AMD EPYC 7763" and, to identify the generation behind a vague name, "25-1-1" (family, model, stepping) on x86-64 or
/// "0x41-0xd0c" (implementer and part) on AArch64.
struct CpuName {
  std::string name;
  std::string version;
  std::optional<bool> hypervisor;  ///< std::nullopt if the CPU does not say
};

/// Parses the section of /proc/cpuinfo for one logical CPU: cores may be of different designs.
CpuName parse_cpu_name(const std::string& cpuinfo, int cpu = 0);

}  // namespace roofline
