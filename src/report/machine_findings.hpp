// Findings about a machine's ceilings as sentences: one per cause, not one per ceiling.
#pragma once

#include <string>
#include <vector>

#include "report/finding.hpp"
#include "report/report.hpp"

namespace roofline {

/// Findings about all roofs, at the end of a calibration. Audits of reference ceilings are in the tables only.
Findings machine_findings(const Machine& machine);

/// Findings about the ceilings that limit a timed row.
Findings machine_findings(const Report& report);

/// Every failed check of every ceiling with its figures: "dram.copy: interval within 1 %: -3.96 % to +3.30 % …".
std::vector<std::string> failed_checks(const Machine& machine);

}  // namespace roofline
