// A machine that is the same wherever tests run: what they measure over depends neither on the caches of the machine at
// hand nor on its memory.
#pragma once

#include <algorithm>

#include "device/cpu/topology.hpp"

namespace roofline {

/// Two cores on a NUMA node each, or one where this process may use one only: 32 KiB of L1, 512 KiB of L2, 4 MiB of L3
/// and 512 MiB of memory a core. Its CPUs are some that this process may use.
inline Topology small_machine() {
  constexpr double kKib = 1024;
  Topology machine;
  std::vector<int> cpus;
  for (const std::vector<int>& core : host_topology().cores) {
    if (cpus.size() < 2) cpus.push_back(core.front());
  }
  for (const int cpu : cpus) {
    machine.cores.push_back({cpu});
    machine.ranks.push_back(0);
    machine.caches.push_back({Level::l1, 32 * kKib, {cpu}});
    machine.caches.push_back({Level::l2, 512 * kKib, {cpu}});
    machine.numa_nodes.push_back({.cpus = {cpu}, .memory_bytes = 512 * kKib * kKib});
    machine.memory_bytes += machine.numa_nodes.back().memory_bytes;
  }
  machine.caches.push_back({Level::l3, 4096 * kKib * static_cast<double>(cpus.size()), cpus});
  return machine;
}

}  // namespace roofline
