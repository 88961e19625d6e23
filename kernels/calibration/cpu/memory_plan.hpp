// What the bandwidth probes of a CPU stream over: bytes of each worker's set for every level, the points of the sweep,
// NUMA nodes to compare. Plain arithmetic on a topology, so that it can be held against machines that nobody has here.
#pragma once

#include <string>
#include <vector>

#include "device/cpu/topology.hpp"
#include "model/names.hpp"

namespace roofline {

inline constexpr double kMebibyte = 1 << 20;

/// The machine that is planned for.
struct PlannedMachine {
  const Topology& topology;
  const std::vector<int>& cpus;  ///< of the workers, in their order
  double free_memory_bytes = 0;
};

class CpuDevice;

/// What there is to plan for on an open device, for as long as that is open.
PlannedMachine planned_machine(const CpuDevice& cpu);

/// The sets of a cache level's probe. They are alike, so the worker with the least room decides.
struct CachePlan {
  double set_bytes = 0;  ///< of one worker, all arrays together: whole grains of each
  bool own = false;      ///< each worker can keep to a set of his own: it is four times the caches before the level
  bool in_turn = false;  ///< workers under one cache can change sets after every pass, and find none in their own L2
  std::vector<std::vector<int>> groups;  ///< who change sets: indices of workers
  double nearer_bytes = 0;  ///< of those that change sets, the largest cache that one of them has before the level
  std::string refusal;      ///< why there is neither; empty where there is
};
CachePlan plan_cache(const PlannedMachine& machine, Level level, Pattern pattern);

struct DramPlan {
  double bytes = 0;     ///< of all sets together; a triad's are whole grains of each of its three arrays
  std::string refusal;  ///< why main memory can't be told from caches here; empty where it can
};
/// Sets for the first `threads` workers that exceed every cache level of all workers 32 times, as far as an eighth of
/// the free memory has room for them, and at least four times.
DramPlan plan_dram(const PlannedMachine& machine, int threads, Pattern pattern);

/// Bytes of all sets together at each point of the working-set sweep, ascending.
std::vector<double> plan_sweep(const PlannedMachine& machine);

/// Workers on one NUMA node, and those on the next that has memory of its own for the sets.
struct NumaPlan {
  std::vector<int> local;   ///< logical CPUs
  std::vector<int> remote;  ///< logical CPUs
  double bytes = 0;         ///< of all sets together, as main memory's, but half of a node's memory at most
  std::string refusal;      ///< why there is nothing to compare; empty where there is
};
NumaPlan plan_numa(const PlannedMachine& machine);

}  // namespace roofline
