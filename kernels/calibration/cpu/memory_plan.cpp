// Working-set rules. What the audit requires of a working set (docs/method.md) is required of each worker here: four
// times its share of the inner caches, and no more than its share of the level.
#include "kernels/calibration/cpu/memory_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "device/cpu/cpu_device.hpp"
#include "kernels/calibration/cpu/stream_set.hpp"
#include "measure/audit.hpp"

namespace roofline {
namespace {

constexpr double kKiB = 1 << 10;

// A set of this many times the inner caches has almost no hits there.
constexpr double kPast = 4;
// Usable fraction of a level: stacks, page tables and, in an L3, other tenants use some of it.
constexpr double kMost = 0.75;
// Servers whose L3 is hardly larger than all L2s together can still be measured if workers exchange sets after every
// pass: one and a half times all L2s under one L3 is enough for most of a set to have left the other L2s.
constexpr double kPastOthers = 1.5;
// A last-level cache that is not LRU keeps part of what streams through it: on a Zen 5, sets of 4 times its L3 were
// read 2.3 times as fast as memory, of 8 times 9 % faster, of 16 times 2 %, of 32 times equally fast
// (docs/method.md). 32 times is used if that is at most an eighth of the free memory.
constexpr double kCold = 32;
constexpr double kOfFreeMemory = 1.0 / 8, kMostOfFreeMemory = 1.0 / 2;
// Virtual machines may report a slice of a shared last-level cache, or one cache where each core has its own.
constexpr double kLeastDram = 128 * kMebibyte;
constexpr double kColdDram = 1024 * kMebibyte;
// If a CPU reports no caches: four times a large L3.
constexpr double kUnknownCaches = 1024 * kMebibyte;
constexpr double kPointsPerOctave = 2;

/// Cache sizes that workers have at a level. All zero if no core reports one.
struct Room {
  double total = 0;    ///< of all instances in use
  double least = 0;    ///< of the worker with the smallest share of an instance; 0 when one has no instance at all
  double most = 0;     ///< of the worker with the largest share
  double largest = 0;  ///< instance
};

bool has(const std::vector<int>& cpus, int cpu) { return std::find(cpus.begin(), cpus.end(), cpu) != cpus.end(); }

/// Cache room of the workers `workers` (indices into the machine's CPUs).
Room room_of(const PlannedMachine& machine, Level level, const std::vector<int>& workers) {
  Room room;
  std::size_t served = 0;
  for (const TopologyCache& cache : machine.topology.caches) {
    if (cache.level != level) continue;
    const auto under = std::count_if(workers.begin(), workers.end(), [&](int worker) {
      return has(cache.cpus, machine.cpus[static_cast<std::size_t>(worker)]);
    });
    if (under == 0) continue;
    const double share = cache.bytes / static_cast<double>(under);
    room.least = served == 0 ? share : std::min(room.least, share);
    room.most = std::max(room.most, share);
    room.largest = std::max(room.largest, cache.bytes);
    room.total += cache.bytes;
    served += static_cast<std::size_t>(under);
  }
  if (served < workers.size()) room.least = 0;
  return room;
}

std::vector<int> all_workers(const PlannedMachine& machine) {
  std::vector<int> workers(machine.cpus.size());
  for (std::size_t i = 0; i < workers.size(); ++i) workers[i] = static_cast<int>(i);
  return workers;
}

/// The largest figure of each kind among the levels before that one: a set must exceed all of them.
Room before(const PlannedMachine& machine, Level level, const std::vector<int>& workers) {
  Room largest;
  for (const Level nearer : {Level::l1, Level::l2, Level::l3}) {
    const bool is_nearer = nearer > level;  // levels are declared from the farthest to the nearest
    if (!is_nearer) continue;
    const Room room = room_of(machine, nearer, workers);
    largest.total = std::max(largest.total, room.total);
    largest.most = std::max(largest.most, room.most);
    largest.largest = std::max(largest.largest, room.largest);
  }
  return largest;
}

double round_up(double bytes, double grain) { return std::ceil(bytes / grain) * grain; }

/// Set of one worker: half of its share of the level. In an L3 only the part that exceeds the L2s, because other
/// tenants use the rest (68 GB/s at 16 MiB and 60 at 130 MiB of a 260 MiB L3 on a 2-core virtual machine).
double wanted_set(Level level, const Room& own, const Room& nearer) {
  const double past = kPast * nearer.most;
  const bool least_will_do = level == Level::l3 && past > 0;
  return std::min(least_will_do ? past : std::max(past, 0.5 * own.least), kMost * own.least);
}

/// True if every group of workers under one cache is large enough to have no hits of its own after exchanging sets.
bool changes_sets(const PlannedMachine& machine, Level level, const CachePlan& plan) {
  return std::all_of(plan.groups.begin(), plan.groups.end(), [&](const std::vector<int>& group) {
    const double sets = plan.set_bytes * static_cast<double>(group.size());
    const Room nearer = before(machine, level, group);
    return group.size() > 1 && sets >= kPast * nearer.largest && sets >= kPastOthers * nearer.total;
  });
}

/// The largest total capacity of any level before main memory; with exclusive or small last levels it need not be
/// the last.
double most_cached(const PlannedMachine& machine) { return before(machine, Level::dram, all_workers(machine)).total; }

/// The smallest sets that can still be distinguished from the caches.
double least_dram_bytes(const PlannedMachine& machine) {
  const double cached = machine.measured_cache_bytes.value_or(most_cached(machine));
  return cached > 0 ? std::max(kPast * cached, kLeastDram) : kUnknownCaches;
}

double dram_bytes(const PlannedMachine& machine) {
  const double cached = most_cached(machine);
  const double least = least_dram_bytes(machine);
  if (cached <= 0) return least;
  double bytes = kOfFreeMemory * machine.free_memory_bytes;
  if (machine.measured_cache_bytes) {
    const double wanted = std::max(kPastLastLevel * *machine.measured_cache_bytes, kPast * cached);
    bytes = std::max(bytes, std::min(wanted, kMostOfFreeMemory * machine.free_memory_bytes));
  }
  return std::clamp(bytes, least, std::max(kCold * cached, kColdDram));
}

}  // namespace

PlannedMachine planned_machine(const CpuDevice& cpu) {
  return {cpu.topology(), cpu.cpus(), cpu.free_memory_at_opening(), cpu.measured_cache_bytes()};
}

CachePlan plan_cache(const PlannedMachine& machine, Level level, Pattern pattern) {
  CachePlan plan;
  const std::vector<int> workers = all_workers(machine);
  const Room own = room_of(machine, level, workers);
  const Room nearer = before(machine, level, workers);
  const std::string name(to_string(level));
  if (own.total == 0) {
    plan.refusal = "the CPU reports no " + name + " cache";
    return plan;
  }
  if (own.least == 0) {
    plan.refusal = "not every core in use reports an " + name + " cache";
    return plan;
  }
  // Rounded up if there is an inner cache, because the sets would otherwise be smaller than what exceeds it.
  const auto grain = static_cast<double>(arrays_of(pattern) * kStreamGrain);
  const double wanted = wanted_set(level, own, nearer);
  plan.set_bytes = nearer.most > 0 ? round_up(wanted, grain) : std::max(1.0, std::round(wanted / grain)) * grain;
  const bool fits = plan.set_bytes <= own.least;
  plan.own = fits && plan.set_bytes >= kPast * nearer.most;
  if (fits && level == Level::l3 && pattern == Pattern::read) {
    plan.groups = grouped(machine.cpus, sets_of(machine.topology, level));
    plan.in_turn = changes_sets(machine, level, plan);
    plan.nearer_bytes = nearer.largest;
  }
  if (!plan.in_turn) plan.groups.clear();
  if (!plan.own && !plan.in_turn) {
    plan.refusal =
        fits ? fmt::format("working sets of {:g} x the inner caches ({:.1f} MiB) do not fit in {} of {:.1f} MiB", kPast,
                           nearer.total / kMebibyte, name, own.total / kMebibyte)
             : fmt::format("one thread's share of {} ({:.0f} KiB) is less than {:.0f} KiB of whole pages", name,
                           own.least / kKiB, plan.set_bytes / kKiB);
  }
  return plan;
}

DramPlan plan_dram(const PlannedMachine& machine, int threads, Pattern pattern) {
  const double grains = static_cast<double>(arrays_of(pattern) * kStreamGrain) * threads;
  DramPlan plan;
  const double bytes = dram_bytes(machine);
  plan.bytes = round_up(bytes, grains);
  if (bytes > kMostOfFreeMemory * machine.free_memory_bytes) {
    plan.refusal = fmt::format(
        "working sets of {:g} x the caches ({:.0f} MiB in total) exceed half of the free memory ({:.0f} MiB)", kPast,
        plan.bytes / kMebibyte, machine.free_memory_bytes / kMebibyte);
  }
  return plan;
}

bool needs_measured_caches(const PlannedMachine& machine) {
  return !machine.measured_cache_bytes && dram_bytes(machine) < kPastLastLevel * most_cached(machine);
}

std::vector<double> plan_sweep(const PlannedMachine& machine) {
  // From 8 KiB per thread, well inside any L1, to past the last-level cache.
  const double first = std::max(16 * kKiB, 8 * kKiB * static_cast<double>(machine.cpus.size()));
  const double last =
      std::min(std::max(kPast * most_cached(machine), 512 * kMebibyte), kMostOfFreeMemory * machine.free_memory_bytes);
  std::vector<double> sizes;
  for (int index = 0; first < last && (sizes.empty() || sizes.back() < last); ++index) {
    sizes.push_back(std::min(last, first * std::exp2(index / kPointsPerOctave)));
  }
  return sizes;
}

NumaPlan plan_numa(const PlannedMachine& machine) {
  const double wanted = 2 * least_dram_bytes(machine);  // a node's memory holds other things too
  NumaPlan plan;
  plan.bytes = dram_bytes(machine);
  std::vector<std::vector<int>> nodes;
  for (const NumaNode& node : machine.topology.numa_nodes) {
    // Pages that its workers touch first would come from another node if it has too little memory or none.
    if (node.memory_bytes < wanted) continue;
    std::vector<int> cpus;
    std::copy_if(machine.cpus.begin(), machine.cpus.end(), std::back_inserter(cpus),
                 [&node](int cpu) { return has(node.cpus, cpu); });
    if (cpus.empty() || nodes.size() == 2) continue;
    nodes.push_back(std::move(cpus));
    plan.bytes = std::min(plan.bytes, node.memory_bytes / 2);
  }
  if (nodes.size() >= 2) {
    plan.local = nodes[0];
    plan.remote = nodes[1];
  } else {
    plan.refusal = "all threads run on one NUMA node, or the other nodes have too little memory";
  }
  return plan;
}

}  // namespace roofline
