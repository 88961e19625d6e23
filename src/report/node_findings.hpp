// Findings about a node as sentences: slow links, slow devices, and drops when all devices are loaded.
#pragma once

#include <string>
#include <vector>

#include "model/node.hpp"
#include "report/finding.hpp"

namespace roofline {

/// "GPU 3".
std::string gpu_name(int device);

/// The norm of links like this one (same kind, as many NVLinks, same PCIe path): the median of their ceilings of that
/// name, of an even number the better of the middle two. NaN where none was measured.
double usual_link(const Node& node, const Link& link, std::string_view name);
/// More than a tenth below that, beyond the interval.
bool falls_behind(const Node& node, const Link& link, std::string_view name);

/// Median roof among the node's devices of the same name, and the allowed deviation of a twentieth.
double usual_roof(const Node& node, const Machine& machine, const Ceiling& ceiling);
bool falls_behind(const Node& node, const Machine& machine, const Ceiling& ceiling);

/// The most important first: missing parts, links, devices, drops under common load.
Findings node_findings(const Node& node);

}  // namespace roofline
