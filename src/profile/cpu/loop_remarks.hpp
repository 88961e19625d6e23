// Why the compiler did not vectorise the loops of a recorded program.
#pragma once

#include "report/report.hpp"
#include "text/compiler_remarks.hpp"

namespace roofline {

/// Loops of a CPU program, by file and line.
void add_remarks(Report& report, const CompilerRemarks& remarks);

}  // namespace roofline
