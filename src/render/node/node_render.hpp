// Renderers of a node, each a pure function of it. node.json is report/json/node_json.hpp.
#pragma once

#include <string>

#include "model/node.hpp"
#include "render/render.hpp"

namespace roofline {

std::string render_node_terminal(const Node& node, const TerminalStyle& style);
std::string render_node_markdown(const Node& node);  ///< node.md
std::string render_node_csv(const Node& node);       ///< node.csv: a line a figure
std::string render_node_html(const Node& node);      ///< node.html, one self-contained file without a script
/// The roofs of each device, alone and when all work, and the matrices of links; empty where there are neither.
std::string render_node_svg(const Node& node);
std::string render_node_png(const Node& node);

}  // namespace roofline
