// Working sets of the CPU's bandwidth probes: bytes per worker for every level, the points of the sweep, NUMA nodes
// to compare. Pure functions of a topology, so that they can be tested on machines that are not available.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/cpu/topology.hpp"
#include "model/names.hpp"

namespace roofline {

inline constexpr double kMebibyte = 1 << 20;

/// The machine to plan for.
struct PlannedMachine {
  const Topology& topology;
  const std::vector<int>& cpus;  ///< of the workers, in their order
  double free_memory_bytes = 0;
  /// What the caches hold by measurement (Device::measured_cache_bytes); std::nullopt: as much as they report.
  std::optional<double> measured_cache_bytes = {};
};

class CpuDevice;

/// The machine of an open device, valid while that is open.
PlannedMachine planned_machine(const CpuDevice& cpu);

/// Sets of a cache level's probe. They are equal, so the worker with the least room decides.
struct CachePlan {
  double set_bytes = 0;                  ///< of one worker, all arrays together: whole grains of each
  bool own = false;                      /// each worker can keep its own set: it is four times the inner caches
  bool in_turn = false;                  /// workers under one cache can exchange sets after every pass without L2 hits
  std::vector<std::vector<int>> groups;  /// that exchange sets: indices of workers
  double nearer_bytes = 0;  ///< of those that change sets, the largest cache that one of them has before the level
  std::string refusal;      /// why neither is possible; empty if one is
};
CachePlan plan_cache(const PlannedMachine& machine, Level level, Pattern pattern);

struct DramPlan {
  double bytes = 0;     ///< of all sets together; a triad's are whole grains of each of its three arrays
  std::string refusal;  /// why main memory cannot be distinguished from caches; empty if it can
};
/// Sets for the first `threads` workers that exceed every cache level of all workers 32 times, as far as an eighth
/// of the free memory allows, and at least four times. A virtual machine reports its host's caches, of which it has a
/// part: measured ones decide the least size, and get 16 times theirs as far as half of the free memory allows.
DramPlan plan_dram(const PlannedMachine& machine, int threads, Pattern pattern);

/// True if the reported caches are too large to plan for: 16 times their size is more than main memory's sets have, so
/// that only their measured size shows whether the sets exceed them.
bool needs_measured_caches(const PlannedMachine& machine);

/// Bytes of all sets together at each point of the working-set sweep, ascending.
std::vector<double> plan_sweep(const PlannedMachine& machine);

/// Workers on one NUMA node, and those on the next one that has enough memory for the sets.
struct NumaPlan {
  std::vector<int> local;   ///< logical CPUs
  std::vector<int> remote;  ///< logical CPUs
  double bytes = 0;         ///< of all sets together, as main memory's, but half of a node's memory at most
  std::string refusal;      /// why there is nothing to compare; empty if there is
};
NumaPlan plan_numa(const PlannedMachine& machine);

}  // namespace roofline
