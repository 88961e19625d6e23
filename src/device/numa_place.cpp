// /sys, which may be absent or hidden: then so is the answer.
#include "device/numa_place.hpp"

#include <sched.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "device/cpu/placement.hpp"
#include "host/files.hpp"
#include "model/error.hpp"
#include "text/text.hpp"

namespace roofline {
namespace fs = std::filesystem;

DevicePlace place_of(int device, const std::string& pci_address, const fs::path& sys) {
  DevicePlace place{.device = device, .pci_address = lower_case(pci_address), .numa_node = {}, .cpus = {}};
  const fs::path folder = sys / "bus/pci/devices" / place.pci_address;
  // -1: not given by the firmware.
  if (const auto node = number_in(folder / "numa_node"); node && *node >= 0) place.numa_node = static_cast<int>(*node);
  place.cpus = first_line(folder / "local_cpulist");
  return place;
}

void read_numa_nodes(NodeTopology& topology, const fs::path& sys) {
  const fs::path folder = sys / "devices/system/node";
  std::error_code hidden;
  for (const auto& entry : fs::directory_iterator(folder, hidden)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("node") || name.size() == 4) continue;
    if (!std::all_of(name.begin() + 4, name.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) continue;
    topology.numa_nodes.push_back(std::stoi(name.substr(4)));
  }
  std::sort(topology.numa_nodes.begin(), topology.numa_nodes.end());
  for (const int node : topology.numa_nodes) {
    std::istringstream line(first_line(folder / ("node" + std::to_string(node)) / "distance"));
    auto& row = topology.numa_distances.emplace_back();
    for (int distance = 0; line >> distance;) row.push_back(distance);
  }
}

void stay_near(const std::string& cpus) {
  cpu_set_t allowed, near;
  CPU_ZERO(&near);
  if (cpus.empty() || ::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  try {
    for (const int cpu : parse_cpu_list(cpus, "local_cpulist")) {
      if (cpu < CPU_SETSIZE && CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &near);
    }
  } catch (const UsageError&) {
    return;  // no list that can be read: anywhere will do
  }
  if (CPU_COUNT(&near) > 0) ::sched_setaffinity(0, sizeof near, &near);
}

}  // namespace roofline
