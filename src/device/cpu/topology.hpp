// The shape of the host as this process may use it: cores, caches, memory. Facts only; who is pinned
// where is decided from them by choose_cpus.
#pragma once

#include <string>
#include <vector>

#include "model/names.hpp"

namespace roofline {

/// A cache and the logical CPUs that share it.
struct TopologyCache {
  Level level = Level::l1;
  double bytes = 0;
  std::vector<int> cpus;
};

struct Topology {
  std::vector<std::vector<int>>
      cores;                          ///< logical CPUs (the kernel's numbers) of each physical core, only those allowed
  std::vector<TopologyCache> caches;  ///< data and unified ones
  int packages = 1;
  std::vector<std::vector<int>> numa_nodes;  ///< logical CPUs of each node that has any
  double memory_bytes = 0;

  int cpus() const;  ///< logical CPUs in all
};

/// The host, restricted to the cpuset and affinity that this process had at the first call: later pins of
/// our own don't narrow it. Throws DeviceError when it can't be read.
const Topology& host_topology();

/// The logical CPUs of `threads` workers: one on each physical core in order, then their SMT siblings.
/// 0 means one for each core, but no more than `cpu_quota` CPUs' worth (0: no quota).
/// Throws UsageError when there are fewer CPUs than threads.
std::vector<int> choose_cpus(const Topology& topology, int threads, double cpu_quota);

/// Physical cores under those logical CPUs.
int cores_under(const Topology& topology, const std::vector<int>& cpus);

/// How many of a level's caches serve those logical CPUs, and the bytes of one (the smallest); 0 if none.
struct CachesUnder {
  int instances = 0;
  double bytes = 0;
};
CachesUnder caches_under(const Topology& topology, Level level, const std::vector<int>& cpus);

/// Which of `cpus` lie together in one of `sets` (the caches of a level, the NUMA nodes): for each set that holds
/// any, their indices. Every index is in exactly one group; CPUs that no set holds form the last one.
std::vector<std::vector<int>> grouped(const std::vector<int>& cpus, const std::vector<std::vector<int>>& sets);

/// The CPUs behind each cache of a level.
std::vector<std::vector<int>> sets_of(const Topology& topology, Level level);

/// "AMD EPYC 7763" and what tells one generation from another behind a vague name: "25-1-1"
/// (family, model, stepping) on x86-64, implementer and part on AArch64.
struct CpuName {
  std::string name;
  std::string version;
  bool hypervisor = false;
};

/// Reads the text of /proc/cpuinfo.
CpuName parse_cpu_name(const std::string& cpuinfo);

}  // namespace roofline
