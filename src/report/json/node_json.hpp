// node.json: the devices of one host and the links between them, to and from JSON; and whichever document holds the
// machine of a device.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "model/node.hpp"

namespace roofline {

inline constexpr const char* kNodeSchema = "roofline.node/1";

/// Whether a document says that it is a node, of whatever version: its first member does.
bool is_node(const std::string& text);

nlohmann::ordered_json node_to_json(const Node& node);
/// node.json, in one line: a fleet reads ten thousand of them.
std::string render_node_json(const Node& node);

nlohmann::ordered_json topology_to_json(const Node& node);  ///< `topology` and `links` alone
void topology_from_json(const nlohmann::ordered_json& json, Node& node);
nlohmann::ordered_json shared_ceiling_to_json(const SharedCeiling& ceiling);
SharedCeiling shared_ceiling_from_json(const nlohmann::ordered_json& json);

/// Parses and checks a file's text. `source` is its name in messages. Throws UsageError.
Node parse_node(const std::string& text, const std::string& source);

/// The machine of that device in a machine file, a report or a node file; of a node that lacks the device, the first
/// machine of a device of that name, else the first of all. Throws UsageError.
Machine parse_machine_of(const DeviceInfo& device, const std::string& text, const std::string& source);

}  // namespace roofline
