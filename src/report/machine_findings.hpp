// What is to be known of a machine's ceilings before they are believed, in sentences: one for each cause and not one
// for each ceiling.
#pragma once

#include <string>
#include <vector>

#include "report/finding.hpp"
#include "report/report.hpp"

namespace roofline {

/// Of all roofs: what a calibration ends with. References are for comparison; the tables show their audit.
Findings machine_findings(const Machine& machine);

/// Of the ceilings that a timed kernel of the report is held against.
Findings machine_findings(const Report& report);

/// Every failed check of every ceiling with its figures: "dram.copy: interval within 1 %: -3.96 % to +3.30 % …".
std::vector<std::string> failed_checks(const Machine& machine);

}  // namespace roofline
