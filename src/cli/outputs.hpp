// Where a report goes: the formats asked for, into a folder or to stdout.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/error.hpp"
#include "report/report.hpp"

namespace roofline {

/// The file of a format: "report.json", "results.csv", "report.md", "roofline.svg", "roofline.png", "report.html".
std::string file_name(const std::string& format);

/// A report in that format.
std::string render(const Report& report, const std::string& format);

/// Writes each format (all of them when the list is empty) into the folder; returns the paths.
std::vector<std::filesystem::path> write_outputs(const Report& report, const std::vector<std::string>& formats,
                                                 const std::filesystem::path& folder);

/// 1 when a row failed, 130 when the run was cancelled, else 0.
ExitCode exit_code_of(const Report& report);

}  // namespace roofline
