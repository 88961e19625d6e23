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

/// Fills the ceilings of `node.links`, which are there: those that nothing else travels over at the same time, by
/// schedule_pairs. Pairs whose process was lost are measured again, each in a round of its own. What could not be
/// measured has its reason in the link. Ends early at an interrupt, with `cancelled`.
void measure_links(Node& node, const LinkOptions& options);

}  // namespace roofline
