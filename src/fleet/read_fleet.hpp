// Files of many machines, read side by side. Nothing in them is fatal: what can't be used is listed with its reason.
#pragma once

#include <string>
#include <vector>

#include "fleet/fleet.hpp"

namespace roofline {

struct FleetFiles {
  std::vector<MachineSummary> summaries;
  std::vector<LeftOut> left_out;
  std::size_t files = 0;
};

/// Files, and all .json files in folders and those below. A path that isn't there is a UsageError, for it was named.
FleetFiles read_fleet(const std::vector<std::string>& paths);

}  // namespace roofline
