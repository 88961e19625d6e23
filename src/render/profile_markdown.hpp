// A profiled program in Markdown: what stands before the machine.
#pragma once

#include <string>
#include <vector>

#include "report/diagnosis/verdict.hpp"
#include "report/report.hpp"

namespace roofline {

/// The answer, the budget and the wins.
std::string profile_markdown_answer(const Report& report);
/// Kernels, lines, modules, copies, calls, and how complete it all is.
std::string profile_markdown_tables(const Report& report, const std::vector<Verdict>& verdicts);

}  // namespace roofline
