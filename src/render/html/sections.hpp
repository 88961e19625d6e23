// The parts of the page, each a fragment of HTML; html.cpp puts them together. Everything a reader needs
// is in the markup: the script only moves, hides and sorts what stands here.
#pragma once

#include <string>

#include "render/html/marks.hpp"
#include "report/runs.hpp"

namespace roofline {

std::string html_title(const Runs& runs);                            ///< "NVIDIA H200", "NVIDIA H200: 2 runs"
std::string html_header(const Runs& runs);                           ///< title, headline, notes
std::string html_changes(const Runs& runs);                          ///< what changed; empty for one run
std::string html_kernels(const Report& report, const Marks& marks);  ///< the results table
std::string html_counters(const Report& report);                     ///< counted beside modelled; empty without
std::string html_advice(const Report& report);                       ///< what to do next; empty where no rule speaks
std::string html_times(const Report& report, const Marks& marks);    ///< what each resource needs
std::string html_machine(const Machine& machine);                    ///< ceilings, audits, device
std::string html_sweeps(const Machine& machine);                     ///< bandwidth against working set and threads
std::string html_method(const Report& report);                       ///< how it was measured, and how to again

/// What the tables of kernels, ceilings and counters want of the style sheet.
std::string html_kernels_css();
std::string html_machine_css();
std::string html_counters_css();

/// A label with its colour: "memory", "compute", …
std::string html_bound(const Bound& bound);

}  // namespace roofline
