// The members of a node. The keys are those of docs/report-schema.md.
#include "report/json/node_json.hpp"

#include <algorithm>

#include "model/error.hpp"
#include "report/json/machine_members.hpp"

namespace roofline {

using Json = nlohmann::ordered_json;

inline auto vocabulary(LinkKind) { return std::pair(&parse_link_kind, "kind of link"); }
inline auto vocabulary(PciePath) { return std::pair(&parse_pcie_path, "PCIe path"); }

void members(auto& io, LoadedRate& rate) {
  io("value", rate.value);
  io.interval("ci95", rate.ci95);
  io.optional("core_hz", rate.core_hz);
  io.optional("watts", rate.watts);
  io.optional("temperature_c", rate.temperature_c);
  io.optional("limiter", rate.limiter);
}

void members(auto& io, SharedCeiling& ceiling) {
  io("device", ceiling.device);
  io("name", ceiling.name);
  io("kind", ceiling.kind);
  io("regime", ceiling.regime);
  io.derived("unit", unit_of(ceiling.kind));
  io.text("variant", ceiling.variant);
  io("alone", ceiling.alone);
  io("together", ceiling.together);
  double ratio = ceiling.ratio();  // derived; for readers of the file
  Interval interval = ceiling.ratio_ci95();
  io.since("ratio", ratio);
  io.interval("ratio_ci95", interval);
}

void members(auto& io, DevicePlace& place) {
  io("device", place.device);
  io.text("pci_address", place.pci_address);
  io.optional("numa_node", place.numa_node);
  io.text("cpus", place.cpus);
}

void members(auto& io, NodeTopology& topology) {
  io("places", topology.places);
  io("numa_nodes", topology.numa_nodes);
  io("numa_distances", topology.numa_distances);
}

void members(auto& io, Link& link) {
  io("from", link.from);
  io("to", link.to);
  io("kind", link.kind);
  io.positive("nvlinks", link.nvlinks);
  io.optional("across", link.across);
  io("ceilings", link.ceilings);
  io("unmeasured", link.unmeasured);
}

void members(auto& io, Node& node) {
  io.derived("schema", kNodeSchema);
  io.require([](const JsonValue& json) { expect_schema(json, kNodeSchema); });
  io("tool_version", node.tool_version);
  io("measured_at", node.measured_at);
  io.text("host_name", node.host_name);
  io("host", node.host);
  io("quick", node.quick);
  io("cancelled", node.cancelled);
  io("machines", node.machines);
  io("topology", node.topology);
  io("together", node.together);
  io("links", node.links);
  io("unmeasured", node.unmeasured);
}

namespace {

Node read_node(const JsonValue& json) {
  Node node = read_value<Node>(json);
  if (node.topology.numa_distances.size() > node.topology.numa_nodes.size()) {
    json["topology"]["numa_distances"].fail("more rows than there are nodes");
  }
  for (const JsonValue& link : json["links"].elements()) {
    if (link["from"].integer() == link["to"].integer()) link["to"].fail("a link of a device to itself");
  }
  return node;
}

}  // namespace

bool is_node(const std::string& text) {
  constexpr std::size_t kOpening = 256;
  return std::string_view(text).substr(0, kOpening).find("\"roofline.node/") != std::string_view::npos;
}

Json node_to_json(const Node& node) { return to_json_value(node); }
std::string render_node_json(const Node& node) {
  return node_to_json(node).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json topology_to_json(const Node& node) {
  return {{"topology", to_json_value(node.topology)}, {"links", to_json_value(node.links)}};
}

void topology_from_json(const Json& json, Node& node) {
  node.topology = read_value<NodeTopology>(JsonValue(json)["topology"]);
  node.links = read_value<std::vector<Link>>(JsonValue(json)["links"]);
}

Json shared_ceiling_to_json(const SharedCeiling& ceiling) { return to_json_value(ceiling); }
SharedCeiling shared_ceiling_from_json(const Json& json) { return read_value<SharedCeiling>(JsonValue(json)); }

Node parse_node(const std::string& text, const std::string& source) { return read_document(text, source, read_node); }

Machine parse_machine_of(const DeviceInfo& device, const std::string& text, const std::string& source) {
  if (!is_node(text)) return parse_machine(text, source);
  Node node = parse_node(text, source);
  if (node.machines.empty()) throw UsageError(source + ": has no calibration of any device");
  const auto rank = [&](const Machine& machine) {
    return std::pair(machine.device.identity == device.identity, machine.device.name == device.name);
  };
  return std::move(*std::max_element(node.machines.begin(), node.machines.end(),
                                     [&](const Machine& a, const Machine& b) { return rank(a) < rank(b); }));
}

}  // namespace roofline
