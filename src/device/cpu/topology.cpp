// Topology by hwloc, which is linked into this binary without its plugins: they would load the shared
// hwloc, and CUDA or X11 with it. The choice of CPUs is plain arithmetic on what it found.
#include "device/cpu/topology.hpp"

#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <sstream>

#include "model/error.hpp"

namespace roofline {
namespace {

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Handle = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, Destroy>;

Handle load() {
  // hwloc looks for plugins even when linked statically; an empty place keeps it from finding any.
  setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 0);
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw DeviceError("hwloc can't be initialised");
  Handle handle(raw);
  // Not what the machine has, but what this process may use: cpusets by default, taskset by these flags.
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING);
  if (hwloc_topology_load(raw) != 0) {
    throw DeviceError("the CPU topology can't be read", "is /sys mounted? (hwloc reads /sys/devices/system)");
  }
  return handle;
}

std::vector<int> cpus_of(hwloc_obj_t object) {
  std::vector<int> cpus;
  for (int cpu = hwloc_bitmap_first(object->cpuset); cpu >= 0; cpu = hwloc_bitmap_next(object->cpuset, cpu)) {
    cpus.push_back(cpu);
  }
  return cpus;
}

void add_caches(hwloc_topology_t topology, hwloc_obj_type_t type, Level level, std::vector<TopologyCache>& caches) {
  for (hwloc_obj_t cache = hwloc_get_next_obj_by_type(topology, type, nullptr); cache != nullptr;
       cache = hwloc_get_next_obj_by_type(topology, type, cache)) {
    caches.push_back({level, static_cast<double>(cache->attr->cache.size), cpus_of(cache)});
  }
}

Topology discover() {
  const Handle handle = load();
  hwloc_topology_t topology = handle.get();
  Topology found;
  for (hwloc_obj_t core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, nullptr); core != nullptr;
       core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)) {
    found.cores.push_back(cpus_of(core));
  }
  if (found.cores.empty()) {  // some virtual machines show logical CPUs only
    for (int cpu : cpus_of(hwloc_get_root_obj(topology))) found.cores.push_back({cpu});
  }
  add_caches(topology, HWLOC_OBJ_L1CACHE, Level::l1, found.caches);
  add_caches(topology, HWLOC_OBJ_L2CACHE, Level::l2, found.caches);
  add_caches(topology, HWLOC_OBJ_L3CACHE, Level::l3, found.caches);
  found.packages = std::max(1, hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE));
  for (hwloc_obj_t node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, nullptr); node != nullptr;
       node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) {
    // Nodes of memory alone (CXL, or a GPU's) have no CPU.
    if (std::vector<int> cpus = cpus_of(node); !cpus.empty()) found.numa_nodes.push_back(std::move(cpus));
  }
  // Not hwloc's total_memory: the kernel's figures for the nodes leave out what a virtual machine was given later.
  found.memory_bytes = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  return found;
}

bool contains(const std::vector<int>& set, int cpu) { return std::find(set.begin(), set.end(), cpu) != set.end(); }

bool meet(const std::vector<int>& a, const std::vector<int>& b) {
  return std::any_of(a.begin(), a.end(), [&b](int cpu) { return contains(b, cpu); });
}

/// The value of the first line "key : value" of /proc/cpuinfo, or nothing.
std::string field(const std::string& cpuinfo, const std::string& key) {
  std::istringstream lines(cpuinfo);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::string name = line.substr(0, colon);
    name.erase(name.find_last_not_of(" \t") + 1);
    if (name != key) continue;
    const std::size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? std::string() : line.substr(start);
  }
  return {};
}

}  // namespace

int Topology::cpus() const {
  int count = 0;
  for (const std::vector<int>& core : cores) count += static_cast<int>(core.size());
  return count;
}

const Topology& host_topology() {
  static const Topology topology = discover();
  return topology;
}

std::vector<int> choose_cpus(const Topology& topology, int threads, double cpu_quota) {
  if (threads < 0) throw UsageError("the number of threads can't be negative", "leave --threads out to use every core");
  int wanted = threads;
  if (wanted == 0) {
    wanted = static_cast<int>(topology.cores.size());
    // More runnable threads than the quota pays for are all stopped together for part of every period.
    if (cpu_quota > 0) wanted = std::clamp(static_cast<int>(std::floor(cpu_quota)), 1, wanted);
  }
  if (wanted > topology.cpus()) {
    throw UsageError(std::to_string(wanted) + " threads were asked for, but this process may use only " +
                         std::to_string(topology.cpus()) + " logical CPUs",
                     "use --threads " + std::to_string(topology.cpus()) + " or fewer");
  }
  std::vector<int> chosen;
  for (std::size_t sibling = 0; static_cast<int>(chosen.size()) < wanted; ++sibling) {
    for (const std::vector<int>& core : topology.cores) {
      if (sibling < core.size() && static_cast<int>(chosen.size()) < wanted) chosen.push_back(core[sibling]);
    }
  }
  return chosen;
}

int cores_under(const Topology& topology, const std::vector<int>& cpus) {
  return static_cast<int>(std::count_if(topology.cores.begin(), topology.cores.end(),
                                        [&cpus](const std::vector<int>& core) { return meet(core, cpus); }));
}

CachesUnder caches_under(const Topology& topology, Level level, const std::vector<int>& cpus) {
  CachesUnder under;
  for (const TopologyCache& cache : topology.caches) {
    if (cache.level != level || !meet(cache.cpus, cpus)) continue;
    under.bytes = under.instances == 0 ? cache.bytes : std::min(under.bytes, cache.bytes);
    ++under.instances;
  }
  return under;
}

std::vector<std::vector<int>> grouped(const std::vector<int>& cpus, const std::vector<std::vector<int>>& sets) {
  std::vector<std::vector<int>> groups(sets.size() + 1);
  for (std::size_t index = 0; index < cpus.size(); ++index) {
    const auto holds = [&](const std::vector<int>& set) { return contains(set, cpus[index]); };
    const auto found = std::find_if(sets.begin(), sets.end(), holds);
    groups[static_cast<std::size_t>(found - sets.begin())].push_back(static_cast<int>(index));
  }
  std::erase_if(groups, [](const std::vector<int>& group) { return group.empty(); });
  return groups;
}

std::vector<std::vector<int>> sets_of(const Topology& topology, Level level) {
  std::vector<std::vector<int>> sets;
  for (const TopologyCache& cache : topology.caches) {
    if (cache.level == level) sets.push_back(cache.cpus);
  }
  return sets;
}

CpuName parse_cpu_name(const std::string& cpuinfo) {
  CpuName cpu;
  cpu.name = field(cpuinfo, "model name");
  const std::string family = field(cpuinfo, "cpu family");
  if (!family.empty()) {
    cpu.version = family + '-' + field(cpuinfo, "model") + '-' + field(cpuinfo, "stepping");
  } else if (const std::string part = field(cpuinfo, "CPU part"); !part.empty()) {
    cpu.version = field(cpuinfo, "CPU implementer") + '-' + part;
    if (cpu.name.empty()) cpu.name = "Arm " + cpu.version;
  }
  if (cpu.name.empty()) cpu.name = "CPU";
  cpu.hypervisor = (' ' + field(cpuinfo, "flags") + ' ').find(" hypervisor ") != std::string::npos;
  return cpu;
}

}  // namespace roofline
