// The parts of the page, each a fragment of HTML; html.cpp puts them together. Everything a reader needs
// is in the markup: the script only moves, hides and sorts what stands here.
#pragma once

#include <string>
#include <vector>

#include "model/compare_machines.hpp"
#include "render/html/marks.hpp"
#include "report/diagnosis/verdict.hpp"
#include "report/runs.hpp"

namespace roofline {

std::string html_title(const Runs& runs);           ///< "NVIDIA H200", "NVIDIA H200: 2 runs"
std::string html_header(const Runs& runs);          ///< title, headline, warnings
std::string html_answer(const Report& report);      ///< how long it took, how long it had to, and the difference
std::string html_changes(const Runs& runs);         ///< what changed; empty for one run
std::string html_chart_lead(const Report& report);  ///< how to read the chart, what is not on it
std::string html_counters(const Report& report);    ///< counted beside modelled; empty without
std::string html_machine(const Machine& machine);   ///< ceilings, audits, device
std::string html_sweeps(const Machine& machine);    ///< bandwidth against working set and threads
std::string html_method(const Report& report);      ///< how it was measured, and how to again
std::string html_glossary();                        ///< what the words mean

std::string html_times(const Report& report, const Marks& marks);  ///< what each resource needs

/// Where to spend time: what could be won, by what holds the kernels.
std::string html_spending(const Report& report, const std::vector<Verdict>& verdicts);
/// The results table.
std::string html_kernels(const Report& report, const Marks& marks, const std::vector<Verdict>& verdicts);
/// Of each kernel that could win something: what holds it, how that is known, what to do.
std::string html_verdicts(const Report& report, const std::vector<Verdict>& verdicts);

/// Rows that have a verdict of their own in html_verdicts, which is cut where nobody reads on.
std::vector<const Verdict*> told_verdicts(const std::vector<Verdict>& verdicts);

/// The table's cell: the verdict in a few words, leading to all of it.
std::string html_verdict_cell(const Verdict& verdict, bool told);
/// A change between two runs in a few words, and its colour.
std::string html_change(Change change, bool regression, const std::string& words);
/// A link to a kernel's row.
std::string html_row_link(const Report& report, std::size_t index);

/// What the tables of kernels, ceilings and counters want of the style sheet.
std::string html_kernels_css(bool of_program);
std::string html_machine_css();
std::string html_counters_css();

/// A label with its colour: "memory", "compute", …
std::string html_bound(const Bound& bound);

}  // namespace roofline
