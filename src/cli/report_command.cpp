// roofline report: draw a saved run again, or several over each other. Measures nothing.
#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/outputs.hpp"
#include "host/file_limits.hpp"
#include "host/files.hpp"
#include "render/node/node_render.hpp"
#include "report/comparison/comparison.hpp"
#include "report/json/json.hpp"
#include "report/json/node_json.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

/// `first` is the text of the first file, which may be a pipe.
std::vector<Report> read_runs(const std::vector<std::string>& files, const std::string& first) {
  std::vector<Report> runs;
  for (const std::string& file : files) {
    runs.push_back(parse_report(runs.empty() ? first : read_file(file, kReportLimit), file));
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

struct NodeFormat {
  std::string_view name;
  std::string (*render)(const Node&);
};
constexpr NodeFormat kNodeFormats[] = {{"html", render_node_html}, {"json", render_node_json},
                                       {"csv", render_node_csv},   {"md", render_node_markdown},
                                       {"svg", render_node_svg},   {"png", render_node_png}};

const NodeFormat& node_format(const Format& format) {
  for (const NodeFormat& known : kNodeFormats) {
    if (known.name == format.name) return known;
  }
  throw UsageError(fmt::format("a node is not written as {}", format.name), "there are: html, json, csv, md, svg, png");
}

/// Of a node there are tables and a page; its file stays as it was measured.
ExitCode report_node(const Node& node, const ReportCommand& command, const Options& options) {
  const OutputRequest& request = command.output;
  if (request.to_stdout()) {
    print_result(node_format(*request.formats.front()).render(node));
    return ExitCode::ok;
  }
  std::vector<const NodeFormat*> formats;
  for (const Format* format : request.formats) formats.push_back(&node_format(*format));
  for (const NodeFormat& format : kNodeFormats) {
    const bool usual = request.formats.empty() && (format.name != "json" || !request.path.empty());
    if (usual) formats.push_back(&format);
  }
  const fs::path folder =
      request.path.empty() ? fs::absolute(command.files.front()).parent_path() : fs::path(request.path);
  std::vector<fs::path> written;
  for (const NodeFormat* format : formats) {
    const std::string text = format->render(node);
    if (text.empty() && request.formats.empty()) continue;
    if (text.empty()) throw UsageError(fmt::format("{}: has neither roofs nor links to draw", command.files.front()));
    written.push_back(request.is_file ? folder : folder / fmt::format("node.{}", format->name));
    write_file(written.back(), text);
  }
  print_result(options.answer.json ? render_node_json(node) : render_node_terminal(node, stdout_style(options.color)));
  say_written(written);
  return ExitCode::ok;
}

}  // namespace

ExitCode run_report(const ReportCommand& command, const Options& options) {
  const std::string first = read_file(command.files.front(), kReportLimit);
  if (command.files.size() == 1 && is_node(first)) {
    return report_node(parse_node(first, command.files.front()), command, options);
  }
  const std::vector<Report> reports = read_runs(command.files, first);
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
