// The links between the devices of a node, pair by pair.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calibrate/calibrate.hpp"
#include "calibrate/node_devices.hpp"
#include "op/link_probe.hpp"

namespace roofline {

struct LinkOptions {
  Effort effort;
  std::vector<LinkProbe> probes;
  OpenDevice open;
  std::function<void(const Progress&)> progress = [](const Progress&) {};
};

/// Measures the ceilings of the existing `node.links`, in the conflict-free rounds of schedule_pairs. Pairs whose
/// process was lost are measured again, each in its own round. What could not be measured has its reason in the
/// link. Ends early at an interrupt, with `cancelled`.
void measure_links(Node& node, const LinkOptions& options);

}  // namespace roofline
