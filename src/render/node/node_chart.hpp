// The roofs of each device of a node as small rooflines side by side, on the same axes.
#pragma once

#include <string>

#include "model/node.hpp"

namespace roofline {

/// An <svg> without colours of its own; `style` is put into it where it is not empty. Empty where no device has roofs.
std::string node_panels(const Node& node, const std::string& style = {});

/// What its classes look like, in the colours of pages (custom properties).
extern const char* const kNodePanelStyle;

}  // namespace roofline
