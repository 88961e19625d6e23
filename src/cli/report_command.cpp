// roofline report: renders a saved run again, or several overlaid. Measures nothing.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/option_values.hpp"
#include "cli/outputs.hpp"
#include "cli/saved_runs.hpp"
#include "host/file_limits.hpp"
#include "host/files.hpp"
#include "host/interrupt.hpp"
#include "host/output_file.hpp"
#include "model/find.hpp"
#include "render/node/node_render.hpp"
#include "report/json/json.hpp"
#include "report/json/node_json.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

struct Flags {
  std::vector<std::string> files;  ///< several are overlaid
  ReportOutput output;
};

void add_options(CommandEntry& command, Flags& flags) {
  command.add("files", words("FILE", flags.files),
              "report.json of a run or its folder, or a node.json; with several, the first is the baseline");
  flags.output.add_to(command, "the directory of the file; reports/comparison for several");
}

/// `first` is the text of the first file, which may be a pipe and cannot be read twice.
std::vector<Report> read_runs(const std::vector<std::string>& files, const std::string& first) {
  std::vector<Report> runs;
  for (const std::string& file : files) {
    runs.push_back(runs.empty() ? parse_report(first, file) : read_run(file));
    if (runs.size() > 1) check_comparable(runs.front(), runs.back(), files.front(), file);
  }
  return runs;
}

/// The formats and directory to write. Without -o the files go next to the run, whose report.json is not overwritten.
ReportOutput completed(ReportOutput request, const std::vector<std::string>& files) {
  if (!request.path.empty()) return request;
  if (request.formats.empty()) request.formats = usual_formats(files.size());
  std::erase(request.formats, find_format("json"));
  request.path = files.size() > 1 ? "reports/comparison" : fs::absolute(files.front()).parent_path().string();
  return request;
}

struct NodeFormat {
  std::string_view name;
  std::string (*render)(const Node&);

  std::string of(const Node& node) const {
    return rendered(*find_format(name), [&] { return render(node); });
  }
};
constexpr NodeFormat kNodeFormats[] = {{"html", render_node_html}, {"json", render_node_json},
                                       {"csv", render_node_csv},   {"md", render_node_markdown},
                                       {"svg", render_node_svg},   {"png", render_node_png}};

const NodeFormat& node_format(const Format& format) {
  if (const NodeFormat* const known = find_by(kNodeFormats, &NodeFormat::name, format.name)) return *known;
  throw UsageError(fmt::format("a node cannot be written as {}", format.name),
                   "supported: html, json, csv, md, svg, png");
}

/// Renders a node; its own file is not overwritten.
ExitCode report_node(const Node& node, const Flags& flags, const GlobalOptions& global) {
  const ReportOutput& request = flags.output;
  if (request.to_stdout()) {
    const NodeFormat& format = node_format(*request.formats.front());
    print_result([&] { return format.name == "json" ? node_to_json(node) : nlohmann::ordered_json(); },
                 [&] { return format.of(node); });
    return ExitCode::ok;
  }
  std::vector<const NodeFormat*> formats;
  for (const Format* format : request.formats) formats.push_back(&node_format(*format));
  for (const NodeFormat& format : kNodeFormats) {
    const bool usual = request.formats.empty() && (format.name != "json" || !request.path.empty());
    if (usual) formats.push_back(&format);
  }
  const fs::path folder =
      request.path.empty() ? fs::absolute(flags.files.front()).parent_path() : fs::path(request.path);
  std::vector<fs::path> written;
  const auto path_of = [&](const NodeFormat& format) {
    return request.file(folder, fmt::format("node.{}", format.name));
  };
  for (const NodeFormat* format : formats) require_output(path_of(*format));
  for (const NodeFormat* format : formats) {
    const std::string text = format->of(node);
    if (text.empty() && request.formats.empty()) continue;
    if (text.empty()) throw UsageError(fmt::format("{} has neither roofs nor links to draw", flags.files.front()));
    written.push_back(path_of(*format));
    write_output(written.back(), text);
  }
  print_result([&] { return node_to_json(node); },
               [&] { return render_node_terminal(node, stdout_style(global.color)); });
  print_written(written);
  return ExitCode::ok;
}

ExitCode run(Flags& flags, const GlobalOptions& global) {
  end_at_interrupts();
  for (std::string& file : flags.files) file = run_file(file);
  require_no_profile(flags.files.front());
  const std::string first = read_file(flags.files.front(), kReportLimit);
  if (flags.files.size() == 1 && is_node(first)) {
    return report_node(parse_node(first, flags.files.front()), flags, global);
  }
  const std::vector<Report> reports = read_runs(flags.files, first);
  const Runs runs(reports);
  if (flags.output.to_stdout() && !(global.answer.json && runs.several())) {
    print_format(runs, flags.output);
    return ExitCode::ok;
  }
  const ReportOutput output = completed(flags.output, flags.files);
  const bool writes = !output.to_stdout() && !(output.formats.empty() && flags.output.path.empty());
  const std::vector<fs::path> paths = writes ? write_outputs(runs, output, output.path) : std::vector<fs::path>();
  print_runs(runs, output, global.color);
  print_written(paths);
  return ExitCode::ok;
}

}  // namespace

CommandEntry report_command() {
  return CommandRow<Flags>{
      "report", "Render a saved run again, or overlay several", add_options, run,
      [](Flags& flags, GlobalOptions& global) { flags.output.finish(global, flags.files.size()); }};
}

}  // namespace roofline
