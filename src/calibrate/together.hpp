// Ceilings that devices of one host may limit mutually through shared power, cooling, PCIe switches or host memory.
// Each is measured on one device after another while the others are idle, and then on all together.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calibrate/calibrate.hpp"
#include "calibrate/node_devices.hpp"
#include "op/probe.hpp"

namespace roofline {

/// A probe that all devices run together, in one regime.
struct SharedProbe {
  const Probe* probe = nullptr;
  Regime regime = Regime::burst;
};

/// The relevant ones of the given probes: main memory, writes and copies, one tensor pipe, fp32, and both links;
/// sustained those that draw power (not with `quick`). In the order of execution.
std::vector<SharedProbe> shared_probes(const std::vector<const Probe*>& probes, const Effort& effort,
                                       const std::string& only);

struct TogetherOptions {
  Effort effort;
  std::vector<SharedProbe> probes;
  OpenDevice open;
  std::function<void(const Progress&)> progress = [](const Progress&) {};
};

/// Adds `together` to a node of at least two machines, and failures to `unmeasured`. The variant of a probe is that
/// of the device's own ceiling. A lost device is left out from then on; a lost process costs the probe that it ran.
/// Ends early at an interrupt, with `cancelled`.
void measure_together(Node& node, const TogetherOptions& options);

}  // namespace roofline
