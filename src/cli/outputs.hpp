// Where a report goes: the formats asked for, into a folder or to stdout.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "model/error.hpp"
#include "render/render.hpp"
#include "report/report.hpp"

namespace roofline {

/// The runs in that format.
std::string render(const Runs& runs, const Format& format, const ChartOptions& chart);

/// Writes each format (the usual ones when the request names none) into `folder`, or the one file that the request
/// names; returns the paths. The file `written` is there already.
std::vector<std::filesystem::path> write_outputs(const Runs& runs, const OutputRequest& request,
                                                 const ChartOptions& chart, const std::filesystem::path& folder,
                                                 const std::filesystem::path& written = {});

/// A report as the terminal has it, or as the answer to --json.
void print_report(const Report& report, const TerminalStyle& style, bool plot, bool json);

/// Says on stderr what was written.
void say_written(const std::vector<std::filesystem::path>& paths);

/// Throws UsageError when the devices are of different kinds; says on stderr what makes the runs hard to compare.
void check_comparable(const Report& base, const Report& now, const std::string& base_file, const std::string& now_file);

/// 1 when a row failed, 130 when the run was cancelled, else 0.
ExitCode exit_code_of(const Report& report);

}  // namespace roofline
