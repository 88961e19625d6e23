// Probes of links between devices of one kind: each becomes a Probe of one device for a given peer.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/node.hpp"
#include "op/probe.hpp"

namespace roofline {

struct LinkProbe {
  std::string name;  ///< name of the ceiling: "link.read"
  DeviceKind device = DeviceKind::cuda;
  /// The probe of the given device's link to the device of index `peer`, of the same kind.
  std::function<Probe(int peer, LinkKind kind)> to;
};

/// The link probes for devices of that kind, in the order of kLinkCeilings.
std::vector<LinkProbe> link_probes(DeviceKind device);

struct LinkProbeRegistrar {
  explicit LinkProbeRegistrar(std::vector<LinkProbe> probes);
};

}  // namespace roofline
