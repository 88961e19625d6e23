// NUMA nodes of devices, from /sys.
#pragma once

#include <filesystem>
#include <string>

#include "model/node.hpp"

namespace roofline {

/// The NUMA node of the device at that PCI address ("0000:3B:00.0"), and the CPUs near it.
DevicePlace place_of(int device, const std::string& pci_address, const std::filesystem::path& sys = "/sys");

/// The host's NUMA nodes and their distances; empty if the system does not report them.
void read_numa_nodes(NodeTopology& topology, const std::filesystem::path& sys = "/sys");

/// Restricts the calling thread and its later children to those of the CPUs ("0-31,64-95") that it may use; no change
/// if there are none.
void stay_near(const std::string& cpus);

}  // namespace roofline
