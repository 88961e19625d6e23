// Findings of a CPU program whose instructions were counted, as sentences: the same for page, Markdown and terminal.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/finding.hpp"
#include "report/report.hpp"

namespace roofline {

/// Whether the rows are loops and functions of a CPU program.
bool is_of_cpu(const Report& report);

/// Whether a library is one of OpenMP: threads that have nothing to do spin in it, in the native run alone.
bool is_openmp_runtime(std::string_view library);

/// What its loops take, and would take at their roofs.
std::string cpu_answer(const Report& report);
/// Where its times, FLOPs and bytes are from.
std::string where_cpu_figures_are_from(const Report& report);
/// Counts of its rows, and code that has a time without counts or counts without a time.
Findings cpu_facts(const Report& report);
/// Facts about both runs, one per line.
std::vector<std::pair<std::string, std::string>> cpu_completeness(const Report& report);

/// The share of a row's FLOPs in instructions of that width, by the ids of their counts ("scalar", "128", "256"); NaN
/// where it has none.
double vector_share(const Point& point, std::string_view width);
/// "256-bit 92 %, scalar 8 %": by share; empty where it has no FLOPs.
std::string vector_text(const Point& point);

}  // namespace roofline
