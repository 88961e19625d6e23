// Reads files of many machines in parallel. No file is fatal: unusable ones are listed with the reason.
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

/// Files, and all .json files in folders, recursively. Throws UsageError if a given path does not exist.
FleetFiles read_fleet(const std::vector<std::string>& paths);

}  // namespace roofline
