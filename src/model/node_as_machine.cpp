#include "model/node_as_machine.hpp"

#include <string>
#include <utility>

namespace roofline {

Machine node_as_machine(const Node& node) {
  Machine all;
  all.device.kind = DeviceKind::cuda;
  all.device.identity = node.host_name;
  all.measured_at = node.measured_at;
  all.quick = node.quick;
  const auto gpu = [](int device) { return "cuda:" + std::to_string(device); };
  const auto put = [&](Ceiling ceiling, const std::string& name) {
    ceiling.name = name;
    all.ceilings.push_back(std::move(ceiling));
  };
  for (const Machine& machine : node.machines) {
    for (const Ceiling& ceiling : machine.ceilings) put(ceiling, gpu(machine.device.index) + "/" + ceiling.name);
  }
  for (const SharedCeiling& shared : node.together) {
    Ceiling left;
    left.kind = shared.kind;
    left.regime = shared.regime;
    left.value = shared.together.value;
    left.ci95 = shared.together.ci95;
    put(std::move(left), gpu(shared.device) + "/" + shared.name + "+all");
  }
  for (const Link& link : node.links) {
    for (const Ceiling& ceiling : link.ceilings)
      put(ceiling, gpu(link.from) + ">" + std::to_string(link.to) + "/" + ceiling.name);
  }
  const std::size_t devices = node.machines.size();
  all.device.name = std::to_string(devices) + " \u00d7 " + (devices == 0 ? "GPU" : node.machines.front().device.name);
  return all;
}

}  // namespace roofline
