// Calibration of all devices of a host: each separately, then all at once, then the links between them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calibrate/calibrate.hpp"
#include "calibrate/node_devices.hpp"
#include "op/link_probe.hpp"

namespace roofline {

struct NodeOptions {
  std::vector<int> devices;  ///< indices, ascending
  Effort effort;
  std::string only = "*";  ///< glob over the names of ceilings, of all three parts
  /// Calibrates one device while the others are idle. Throws DeviceError.
  std::function<Machine(int device)> calibrate_alone;
  /// Adds the topology of places and links. Throws Error if it is unavailable.
  std::function<void(std::span<const int> devices, Node& node)> describe_topology;
  OpenDevice open;
  std::vector<const Probe*> probes;  /// that may run on all devices at once
  std::vector<LinkProbe> link_probes;
  std::function<void(const Progress&)> progress = [](const Progress&) {};
};

/// The options of CUDA devices, except calibrate_alone.
NodeOptions cuda_node_options(std::vector<int> devices, const Effort& effort, const std::string& only);

/// An unusable device costs its own part only. Ends early at an interrupt, with `cancelled` and partial results.
Node calibrate_node(const NodeOptions& options);

}  // namespace roofline
