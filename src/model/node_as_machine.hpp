// A node's rates as those of one machine, for comparison with another calibration of it.
#pragma once

#include "model/node.hpp"

namespace roofline {

/// "cuda:0/hbm.read"; "cuda:0/hbm.read+all" with all devices active; "cuda:0>1/link.read".
Machine node_as_machine(const Node& node);

}  // namespace roofline
