// What the machine code of a suite's kernels executes on a CPU without counters: each is launched once more under
// emulation, at a small shape. Method and limits: docs/your-kernels.md.
#pragma once

#include "analyze/analyze.hpp"

namespace roofline {

/// Environment variable with the extents, "n=64 m=8", that replace those of the suite when it is run once.
inline constexpr const char* kShapeVariable = "ROOFLINE_SHAPE";

/// Gives every workload those extents, and keeps one for each implementation. Throws UsageError for other text.
void take_shape(Suite& suite, const std::string& extents);

/// Sets Verification::executed of the first row of each own kernel's configuration that states its operations, and the
/// FLOPs of rows that state none. Without AnalyzeOptions::count_operations, or with counters, it does nothing. Rows
/// must be those of the suite's entries, in order.
void check_executed_work(const Suite& suite, const AnalyzeOptions& options, Report& report);

}  // namespace roofline
