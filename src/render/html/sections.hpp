// Sections of the page as HTML fragments; html.cpp combines them. All content is in the markup: the script only moves,
// hides and sorts it.
#pragma once

#include <string>
#include <vector>

#include "model/compare_machines.hpp"
#include "render/html/marks.hpp"
#include "report/comparison/comparison.hpp"
#include "report/diagnosis/verdict.hpp"
#include "report/runs.hpp"

namespace roofline {

std::string html_title(const Runs& runs);   ///< "NVIDIA H200", "NVIDIA H200: 2 runs"
std::string html_header(const Runs& runs);  ///< title, headline, warnings
/// Measured time, time at the roofs, what to do first, and the difference.
/// The answer; of several runs the changes, then the last run's.
std::string html_answer(const Report& report, const std::vector<Verdict>& verdicts, const Comparison* comparison);
/// Names of the columns of changes beside their figures, for narrow screens.
std::string html_changes_css(const Comparison& comparison);
/// Changes between runs.
std::string html_changes(const Runs& runs, const Comparison& comparison);
std::string html_chart_lead(const Report& report);  ///< how to read the chart, and rows that are not on it
std::string html_counters(const Report& report);    ///< counted next to modelled work; empty without counters
std::string html_machine(const Machine& machine);   ///< ceilings, audits, device
std::string html_sweeps(const Machine& machine);    ///< bandwidth against working set and threads
std::string html_method(const Report& report);      ///< how it was measured, and how to again
std::string html_glossary();                        ///< definitions of terms

std::string html_times(const Report& report, const Marks& marks);  ///< time by resource

/// Where to spend time: potential savings by cause.
std::string html_hotspots(const Report& report, const std::vector<Verdict>& verdicts);
/// The results table.
std::string html_kernels(const Report& report, const Marks& marks, const std::vector<Verdict>& verdicts);
/// Limiting cause, evidence and action for each kernel below its roof.
std::string html_verdicts(const Report& report, const std::vector<Verdict>& verdicts);

/// The verdicts that html_verdicts lists; it has an upper limit.
std::vector<const Verdict*> listed_verdicts(const std::vector<Verdict>& verdicts);

/// The table's cell: the verdict in a few words, leading to all of it.
std::string html_verdict_cell(const Verdict& verdict, bool listed);
/// A change between two runs in a few words, and its colour.
std::string html_change(Change change, bool regression, const std::string& words);
/// A link to a kernel's row.
std::string html_row_link(const Report& report, std::size_t index);

/// The style rules of the tables of kernels, ceilings and counters.
std::string html_kernels_css(bool of_program);
std::string html_machine_css();
std::string html_counters_css();

/// A label with its colour: "memory", "compute", …
std::string html_bound(const Bound& bound);

}  // namespace roofline
