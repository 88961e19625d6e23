// Findings about a CPU program with counted instructions, as sentences for page, Markdown and terminal.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/finding.hpp"
#include "report/report.hpp"

namespace roofline {

/// True if the rows are loops and functions of a CPU program.
bool is_of_cpu(const Report& report);

/// One sentence: the time of the loops, and their time at the roofs.
std::string cpu_answer(const Report& report);
/// Source of the times, FLOPs and bytes.
std::string where_cpu_figures_are_from(const Report& report);
/// Row counts, code with time but no counts, and code with counts but no time.
Findings cpu_facts(const Report& report);
/// Facts about the native and the emulated run, one per line.
std::vector<std::pair<std::string, std::string>> cpu_completeness(const Report& report);

/// Fraction of a row's FLOPs in instructions of that width, by count id ("scalar", "128", "256"); NaN without FLOPs.
double vector_share(const Point& point, std::string_view width);
/// "256-bit 92 %, scalar 8 %", largest first; empty without FLOPs.
std::string vector_text(const Point& point);

}  // namespace roofline
