// Saved runs as arguments of commands.
#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace roofline {

/// Throws UsageError with the command to run if the file was recorded by another tool. Pipes are not read.
void require_no_profile(const std::string& file);

/// The file that a command reads for `given`: of a folder its report.json, else its node.json. Throws UsageError for a
/// folder that holds neither.
std::string run_file(const std::string& given);

/// A run from its report.json, or from the folder that holds it. Throws UsageError where it is none.
Report read_run(const std::string& given);

/// The same, or the report of a file of another tool, which is imported and not written. Its notes go to stderr.
Report read_run_or_profile(const std::string& given, const std::vector<std::string>& command);

}  // namespace roofline
