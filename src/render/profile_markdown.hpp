// A profiled program in Markdown: the sections before the machine.
#pragma once

#include <string>
#include <vector>

#include "report/diagnosis/verdict.hpp"
#include "report/report.hpp"

namespace roofline {

/// Summary and time budget.
std::string profile_markdown_answer(const Report& report, const std::vector<Verdict>& verdicts);
/// Kernels, lines, modules, copies, calls, and recording coverage.
std::string profile_markdown_tables(const Report& report, const std::vector<Verdict>& verdicts);

}  // namespace roofline
