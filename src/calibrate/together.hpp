// Ceilings that devices of one host may take from each other, by what they share: power, cooling, PCIe switches, the
// host's memory. Each is measured on one device after another while the others rest, and then on all at once.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calibrate/calibrate.hpp"
#include "calibrate/node_devices.hpp"
#include "op/probe.hpp"

namespace roofline {

/// A probe that all devices run at once, in one regime.
struct SharedProbe {
  const Probe* probe = nullptr;
  Regime regime = Regime::burst;
};

/// What is worth it, of the probes given: main memory, its writes and copies, one tensor pipe, fp32, and both links;
/// sustained what draws power (not with `quick`). In the order in which they run.
std::vector<SharedProbe> shared_probes(const std::vector<const Probe*>& probes, const Effort& effort,
                                       const std::string& only);

struct TogetherOptions {
  Effort effort;
  std::vector<SharedProbe> probes;
  OpenDevice open;
  std::function<void(const Progress&)> progress = [](const Progress&) {};
};

/// Adds `together` to a node of two machines or more, and to `unmeasured` what could not be had. The variant of a probe
/// is that of the device's own ceiling. A device that is lost is left out from then on; a process that is lost costs
/// the probe that it ran. Ends early at an interrupt, with `cancelled`.
void measure_together(Node& node, const TogetherOptions& options);

}  // namespace roofline
