// A node as a picture: the roofs of each device as small rooflines side by side, on the same axes, and the matrices of
// its links.
#pragma once

#include <cstdint>

#include "model/node.hpp"
#include "render/chart/scene.hpp"

namespace roofline {

enum class NodeParts : std::uint8_t { roofs, roofs_and_links };

/// Light colours. Empty size if there is nothing to draw.
Scene node_scene(const Node& node, NodeParts parts);

}  // namespace roofline
