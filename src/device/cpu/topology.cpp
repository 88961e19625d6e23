// Topology by hwloc, which is linked into this binary without its plugins: they would load the shared
// hwloc, and CUDA or X11 with it.
#include "device/cpu/topology.hpp"

#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <span>
#include <sstream>

#include "device/cpu/arm_cores.hpp"
#include "model/error.hpp"
#include "model/find.hpp"

namespace roofline {
namespace {

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Handle = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, Destroy>;

struct Free {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, Free>;

Handle new_handle() {
  // hwloc looks for plugins even when linked statically; an empty place keeps it from finding any.
  setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 0);
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw DeviceError("hwloc can't be initialised");
  return Handle(raw);
}

Handle load_host() {
  Handle handle = new_handle();
  hwloc_topology_t raw = handle.get();
  // Not what the machine has, but what this process may use: cpusets by default, taskset by these flags.
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING);
  if (hwloc_topology_load(raw) != 0) {
    throw DeviceError("the CPU topology can't be read", "is /sys mounted? (hwloc reads /sys/devices/system)");
  }
  return handle;
}

Handle load_described(const std::string& description, const std::string& allowed) {
  Handle handle = new_handle();
  hwloc_topology_t raw = handle.get();
  const bool xml = description.starts_with('<');
  const int set = xml ? hwloc_topology_set_xmlbuffer(raw, description.c_str(), static_cast<int>(description.size()) + 1)
                      : hwloc_topology_set_synthetic(raw, description.c_str());
  if (set != 0 || hwloc_topology_load(raw) != 0) {
    throw DeviceError("hwloc can't make a topology of '" + description.substr(0, 60) + "'");
  }
  if (allowed.empty()) return handle;
  const Bitmap bitmap(hwloc_bitmap_alloc());
  if (hwloc_bitmap_list_sscanf(bitmap.get(), allowed.c_str()) != 0 ||
      hwloc_topology_restrict(raw, bitmap.get(), 0) != 0) {
    throw DeviceError("hwloc can't restrict a topology to the CPUs '" + allowed + "'");
  }
  return handle;
}

std::vector<int> members(hwloc_const_bitmap_t set) {
  std::vector<int> cpus;
  for (int cpu = hwloc_bitmap_first(set); cpu >= 0; cpu = hwloc_bitmap_next(set, cpu)) cpus.push_back(cpu);
  return cpus;
}

std::vector<int> cpus_of(hwloc_obj_t object) { return members(object->cpuset); }

void add_caches(hwloc_topology_t topology, hwloc_obj_type_t type, Level level, std::vector<TopologyCache>& caches) {
  for (hwloc_obj_t cache = hwloc_get_next_obj_by_type(topology, type, nullptr); cache != nullptr;
       cache = hwloc_get_next_obj_by_type(topology, type, cache)) {
    caches.push_back({level, static_cast<double>(cache->attr->cache.size), cpus_of(cache)});
  }
}

double number_of(const char* text) { return std::strtod(text, nullptr); }

/// Cores of a kind get its rank; kinds of one design share theirs. Ranks begin at 0.
std::vector<int> ranks_of(hwloc_topology_t topology, const std::vector<std::vector<int>>& cores) {
  std::vector<int> ranks(cores.size(), 0);
  const Bitmap set(hwloc_bitmap_alloc());
  CoreKind before;
  int rank = 0;
  for (int index = 0; index < hwloc_cpukinds_get_nr(topology, 0); ++index) {  // slow ones first
    CoreKind kind;
    unsigned count = 0;
    hwloc_info_s* infos = nullptr;
    if (hwloc_cpukinds_get_info(topology, static_cast<unsigned>(index), set.get(), &kind.rank, &count, &infos, 0) != 0)
      continue;
    for (const hwloc_info_s& info : std::span(infos, count)) {
      const std::string name = info.name;
      if (name == "CoreType") kind.type = info.value;
      if (name == "FrequencyMaxMHz") kind.max_mhz = number_of(info.value);
      if (name == "LinuxCapacity") kind.capacity = number_of(info.value);
    }
    if (index > 0 && differ_in_design(before, kind)) ++rank;
    const std::vector<int> cpus = members(set.get());
    for (std::size_t core = 0; core < cores.size(); ++core) {
      if (meet(cores[core], cpus)) ranks[core] = rank;
    }
    before = kind;
  }
  return ranks;
}

Topology facts_of(hwloc_topology_t topology) {
  Topology found;
  for (hwloc_obj_t core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, nullptr); core != nullptr;
       core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)) {
    found.cores.push_back(cpus_of(core));
  }
  if (found.cores.empty()) {  // some virtual machines show logical CPUs only
    for (int cpu : cpus_of(hwloc_get_root_obj(topology))) found.cores.push_back({cpu});
  }
  found.ranks = ranks_of(topology, found.cores);
  add_caches(topology, HWLOC_OBJ_L1CACHE, Level::l1, found.caches);
  add_caches(topology, HWLOC_OBJ_L2CACHE, Level::l2, found.caches);
  add_caches(topology, HWLOC_OBJ_L3CACHE, Level::l3, found.caches);
  found.packages = std::max(1, hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE));
  for (hwloc_obj_t node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, nullptr); node != nullptr;
       node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) {
    // Nodes of memory alone (CXL, or a GPU's) have no CPU.
    std::vector<int> cpus = cpus_of(node);
    const auto memory = static_cast<double>(node->attr->numanode.local_memory);
    if (!cpus.empty()) found.numa_nodes.push_back({std::move(cpus), memory});
  }
  found.memory_bytes = static_cast<double>(hwloc_get_root_obj(topology)->total_memory);
  return found;
}

/// The value of a line "key : value" of /proc/cpuinfo: that of the logical CPU, or else of the first that has one.
std::string field(const std::string& cpuinfo, const std::string& key, int cpu = 0) {
  std::string found;
  std::string at;
  std::istringstream lines(cpuinfo);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::string name = line.substr(0, colon);
    name.erase(name.find_last_not_of(" \t") + 1);
    const std::size_t start = line.find_first_not_of(" \t", colon + 1);
    const std::string value = start == std::string::npos ? std::string() : line.substr(start);
    if (name == "processor") at = value;
    if (name != key) continue;
    if (at == std::to_string(cpu)) return value;
    if (found.empty()) found = value;
  }
  return found;
}

}  // namespace

int Topology::cpus() const {
  int count = 0;
  for (const std::vector<int>& core : cores) count += static_cast<int>(core.size());
  return count;
}

const Topology& host_topology() {
  static const Topology topology = [] {
    Topology found = facts_of(load_host().get());
    // Not hwloc's total_memory: the kernel's figures for the nodes leave out what a virtual machine was given later.
    found.memory_bytes = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
    return found;
  }();
  return topology;
}

Topology described_topology(const std::string& description, const std::string& allowed) {
  return facts_of(load_described(description, allowed).get());
}

bool differ_in_design(const CoreKind& slow, const CoreKind& fast) {
  // Favoured cores of one die reach up to a tenth more; compact cores of the same generation (Zen 5c) a third less.
  constexpr double kOneDesign = 0.85;
  if (slow.rank < 0 || fast.rank < 0) return false;
  if (!slow.type.empty() && !fast.type.empty() && slow.type != fast.type) return true;
  if (slow.capacity > 0 && fast.capacity > 0) return slow.capacity < kOneDesign * fast.capacity;
  if (slow.max_mhz > 0 && fast.max_mhz > 0) return slow.max_mhz < kOneDesign * fast.max_mhz;
  return slow.type.empty() && fast.type.empty() && slow.max_mhz == 0 && slow.capacity == 0;  // ranked by its maker
}

bool meet(const std::vector<int>& a, const std::vector<int>& b) {
  return std::any_of(a.begin(), a.end(), [&b](int cpu) { return contains(b, cpu); });
}

int cores_under(const Topology& topology, const std::vector<int>& cpus) {
  return static_cast<int>(std::count_if(topology.cores.begin(), topology.cores.end(),
                                        [&cpus](const std::vector<int>& core) { return meet(core, cpus); }));
}

std::vector<CacheInfo> caches_under(const Topology& topology, const std::vector<int>& cpus) {
  std::vector<CacheInfo> under;
  for (const Level level : {Level::l1, Level::l2, Level::l3}) {
    for (const TopologyCache& cache : topology.caches) {
      if (cache.level != level || !meet(cache.cpus, cpus)) continue;
      const auto alike = [&](const CacheInfo& info) { return info.level == cache.level && info.bytes == cache.bytes; };
      if (CacheInfo* const known = find_in(under, alike)) {
        ++known->instances;
      } else {
        under.push_back({level, cache.bytes, 1});
      }
    }
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

CpuName parse_cpu_name(const std::string& cpuinfo, int cpu) {
  CpuName found;
  found.name = field(cpuinfo, "model name", cpu);
  const std::string family = field(cpuinfo, "cpu family", cpu);
  if (!family.empty()) {
    found.version = family + '-' + field(cpuinfo, "model", cpu) + '-' + field(cpuinfo, "stepping", cpu);
    found.hypervisor = (' ' + field(cpuinfo, "flags", cpu) + ' ').find(" hypervisor ") != std::string::npos;
  } else if (const std::string part = field(cpuinfo, "CPU part", cpu); !part.empty()) {
    found.version = field(cpuinfo, "CPU implementer", cpu) + '-' + part;
    const ArmCore* core = find_arm_core(found.version);
    if (found.name.empty()) found.name = core != nullptr ? std::string(core->name) : "Arm " + found.version;
  }
  if (found.name.empty()) found.name = "CPU";
  return found;
}

}  // namespace roofline
