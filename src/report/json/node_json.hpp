// node.json, the devices of one host and their links, to and from JSON; and the machine of a device in any document.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "model/node.hpp"

namespace roofline {

inline constexpr const char* kNodeSchema = "roofline.node/1";

/// True if the document is a node of any version, according to its first member.
bool is_node(const std::string& text);

nlohmann::ordered_json node_to_json(const Node& node);
/// node.json in one line, because a fleet reads ten thousand of them.
std::string render_node_json(const Node& node);

nlohmann::ordered_json topology_to_json(const Node& node);  ///< `topology` and `links` alone
void topology_from_json(const nlohmann::ordered_json& json, Node& node);
nlohmann::ordered_json shared_ceiling_to_json(const SharedCeiling& ceiling);
SharedCeiling shared_ceiling_from_json(const nlohmann::ordered_json& json);

/// Parses and checks a file's text. `source` is its name in messages. Throws UsageError.
Node parse_node(const std::string& text, const std::string& source);

/// The machine of that device in a machine, report or node file. If a node lacks the device: the first machine with
/// that device name, else the first of all. Throws UsageError.
Machine parse_machine_of(const DeviceInfo& device, const std::string& text, const std::string& source);

}  // namespace roofline
