// Saved runs as arguments of commands.
#pragma once

#include <string>

#include "report/report.hpp"

namespace roofline {

/// Throws UsageError with the command to run if the file was recorded by another tool. Pipes are not looked into.
void require_no_profile(const std::string& file);

/// A run from its report.json. Throws UsageError where it is none.
Report read_run(const std::string& file);

}  // namespace roofline
