// The parts of the page, each a fragment of HTML; html.cpp puts them together. Everything a reader needs
// is in the markup: the script only moves, hides and sorts what stands here.
#pragma once

#include <string>

#include "report/report.hpp"

namespace roofline {

std::string html_header(const Report& report);   ///< title, headline, warnings, findings
std::string html_kernels(const Report& report);  ///< the results table
std::string html_times(const Report& report);    ///< what each resource needs under the measured time
std::string html_machine(const Report& report);  ///< ceilings, audits, device
std::string html_method(const Report& report);   ///< how it was measured, and how to measure again
std::string html_cards(const Report& report);    ///< what hovering a point, a ceiling or a row shows

/// A label with its colour: "memory", "compute", …
std::string html_bound(const Bound& bound);

}  // namespace roofline
