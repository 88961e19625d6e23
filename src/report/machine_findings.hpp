// Findings about a machine's ceilings as sentences: one for each cause, not one for each ceiling.
#pragma once

#include <string>
#include <vector>

#include "report/finding.hpp"
#include "report/report.hpp"

namespace roofline {

/// About all roofs, for the end of a calibration. The tables show the audits of reference ceilings.
Findings machine_findings(const Machine& machine);

/// About the ceilings that limit a timed row of the report.
Findings machine_findings(const Report& report);

/// Every failed check of every ceiling with its figures: "dram.copy: interval within 1 %: -3.96 % to +3.30 % …".
std::vector<std::string> failed_checks(const Machine& machine);

}  // namespace roofline
