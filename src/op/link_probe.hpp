// Probes of the links between devices of one kind: each becomes a Probe of one device when the other is named.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/node.hpp"
#include "op/probe.hpp"

namespace roofline {

struct LinkProbe {
  std::string name;  ///< of the ceiling: "link.read"
  DeviceKind device = DeviceKind::cuda;
  /// The probe of whichever device it is given, of its link to the device of index `peer`, which is of that kind.
  std::function<Probe(int peer, LinkKind kind)> to;
};

/// Those for devices of that kind, in the order of kLinkCeilings.
std::vector<LinkProbe> link_probes(DeviceKind device);

struct LinkProbeRegistrar {
  explicit LinkProbeRegistrar(std::vector<LinkProbe> probes);
};

}  // namespace roofline
