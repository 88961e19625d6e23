// Saved runs as arguments of commands.
#pragma once

#include <string>

#include "report/report.hpp"

namespace roofline {

/// Throws UsageError with the command to run if the file was recorded by another tool. Pipes are not looked into.
void require_no_profile(const std::string& file);

/// The file that a command reads for `given`: of a folder its report.json, else its node.json. Throws UsageError for a
/// folder that holds neither.
std::string run_file(const std::string& given);

/// A run from its report.json, or from the folder that holds it. Throws UsageError where it is none.
Report read_run(const std::string& given);

}  // namespace roofline
