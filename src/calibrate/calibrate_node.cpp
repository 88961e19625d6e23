// The three parts in order. The parent never calls the driver: the link topology also comes from a child.
#include "calibrate/calibrate_node.hpp"

#include <nlohmann/json.hpp>

#include "calibrate/chosen.hpp"
#include "calibrate/measure_links.hpp"
#include "calibrate/together.hpp"
#include "device/cuda/topology.hpp"
#include "device/isolate.hpp"
#include "host/host.hpp"
#include "host/interrupt.hpp"
#include "model/error.hpp"
#include "op/registry.hpp"
#include "report/json/node_json.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

void ask_topology(const NodeOptions& options, Node& node) {
  std::vector<int> devices;
  for (const Machine& machine : node.machines) devices.push_back(machine.device.index);
  std::string failure;
  Jobs jobs;
  jobs.count = 1;
  jobs.run = [&](std::int64_t, const Send& send) {
    Node described;
    try {
      options.describe_topology(devices, described);
      send(topology_to_json(described).dump());
    } catch (const std::exception& error) {
      send(Json{{"failure", error.what()}}.dump());
    }
    return AfterJob::next;
  };
  jobs.on_message = [&](std::int64_t, std::string_view text) {
    const Json message = Json::parse(text);
    if (message.contains("failure")) {
      failure = message["failure"];
    } else {
      topology_from_json(message, node);
    }
  };
  jobs.on_lost = [&](std::int64_t, const std::string& reason) { failure = reason; };
  jobs.limit_s = [](std::int64_t) { return 180.0; };  // as select_device's
  if (run_isolated(jobs) == JobsEnd::interrupted) node.cancelled = true;
  if (!failure.empty()) node.unmeasured.push_back({"topology", failure});
}

void calibrate_each(const NodeOptions& options, Node& node) {
  for (const int device : options.devices) {
    if (interrupted() || node.cancelled) {
      node.unmeasured.push_back({device_name(device), Unmeasured::kCancelled});
      continue;
    }
    try {
      Machine machine = options.calibrate_alone(device);
      node.cancelled = node.cancelled || machine.cancelled;
      if (machine.device.identity.empty()) {  // interrupted before it was opened
        node.unmeasured.push_back({device_name(device), Unmeasured::kCancelled});
      } else {
        node.machines.push_back(std::move(machine));
      }
    } catch (const DeviceError& error) {
      node.unmeasured.push_back({device_name(device), error.what()});
    }
  }
}

std::vector<LinkProbe> chosen(std::vector<LinkProbe> probes, const std::string& only) {
  std::erase_if(probes, [&](const LinkProbe& probe) { return !is_chosen(only, probe.name); });
  return probes;
}

}  // namespace

NodeOptions cuda_node_options(std::vector<int> devices, const Effort& effort, const std::string& only) {
  NodeOptions options;
  options.devices = std::move(devices);
  options.effort = effort;
  options.only = only;
  options.describe_topology = describe_cuda_topology;
  options.open = [](int device) { return open_device(DeviceKind::cuda, device, {}); };
  options.probes = all_probes(DeviceKind::cuda);
  options.link_probes = link_probes(DeviceKind::cuda);
  return options;
}

Node calibrate_node(const NodeOptions& options) {
  Node node;
  node.measured_at = utc_now();
  node.tool_version = ROOFLINE_VERSION;
  node.host = host_description();
  node.host_name = host_name();
  node.quick = options.effort.quick;
  calibrate_each(options, node);
  if (node.machines.empty()) return node;
  if (!node.cancelled) ask_topology(options, node);
  const bool alone = node.machines.size() == 1;
  if (alone || node.cancelled) {
    for (const char* part : {"together", "links"})
      node.unmeasured.push_back({part, alone ? "only one GPU was calibrated" : Unmeasured::kCancelled});
    return node;
  }
  measure_together(node, {options.effort, shared_probes(options.probes, options.effort, options.only), options.open,
                          options.progress});
  if (node.cancelled) {
    node.unmeasured.push_back({"links", Unmeasured::kCancelled});
    return node;
  }
  measure_links(node, {options.effort, chosen(options.link_probes, options.only), options.open, options.progress});
  return node;
}

}  // namespace roofline
