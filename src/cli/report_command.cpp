// roofline report: draw a saved run again, or several over each other. Measures nothing.
#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/outputs.hpp"
#include "host/file_limits.hpp"
#include "report/comparison/comparison.hpp"
#include "report/json/json.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

std::vector<Report> read_runs(const std::vector<std::string>& files) {
  std::vector<Report> runs;
  for (const std::string& file : files) {
    runs.push_back(parse_report(read_file(file, kReportLimit), file));
    if (runs.size() > 1) check_comparable(runs.front(), runs.back(), files.front(), file);
  }
  return runs;
}

/// What is written, and where: without -o the run stays as it was measured, its own report.json is not written over.
OutputRequest completed(OutputRequest request, const std::vector<std::string>& files) {
  if (!request.path.empty()) return request;
  if (request.formats.empty()) request.formats = usual_formats(files.size());
  std::erase(request.formats, find_format("json"));
  request.path = files.size() > 1 ? "reports/comparison" : fs::absolute(files.front()).parent_path().string();
  return request;
}

}  // namespace

ExitCode run_report(const ReportCommand& command, const Options& options) {
  const std::vector<Report> reports = read_runs(command.files);
  const Runs runs(reports);
  const bool json = options.answer.json;
  if (json && runs.several() && command.output.to_stdout()) {
    print_result(render_comparison_json(comparison_of(runs)));
    return ExitCode::ok;
  }
  if (command.output.to_stdout()) {
    print_result(render(runs, *command.output.formats.front(), command.chart));
    return ExitCode::ok;
  }
  const OutputRequest request = completed(command.output, command.files);
  const std::vector<fs::path> paths = request.formats.empty() && command.output.path.empty()
                                          ? std::vector<fs::path>()
                                          : write_outputs(runs, request, command.chart, request.path);
  const TerminalStyle style = stdout_style(options.color);
  if (!runs.several()) {
    print_report(runs.last(), style, command.plot, json);
  } else if (json) {
    print_result(render_comparison_json(comparison_of(runs)));
  } else {
    print_result(render_comparison_terminal(comparison_of(runs), stdout_table_style(options.color)));
    if (command.plot) print_result("\n" + render_terminal_plot(runs, style));
  }
  say_written(paths);
  return ExitCode::ok;
}

}  // namespace roofline
