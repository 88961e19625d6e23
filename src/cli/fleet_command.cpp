// roofline fleet: files of many machines, and which of these falls behind. Measures nothing.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/outputs.hpp"
#include "fleet/read_fleet.hpp"
#include "host/files.hpp"
#include "host/host.hpp"
#include "render/fleet/fleet_render.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

std::string render(const Fleet& fleet, const std::string& format) {
  if (format == "json") return render_fleet_json(fleet);
  if (format == "csv") return render_fleet_csv(fleet);
  return render_fleet_html(fleet);
}

/// Each format and its file.
std::vector<std::pair<std::string, fs::path>> outputs_of(const FleetCommand& command) {
  const fs::path output = command.output.empty() ? fs::path("reports") / "fleet" : fs::path(command.output);
  std::vector<std::pair<std::string, fs::path>> outputs;
  for (const std::string format : {"html", "json", "csv"}) {
    if (output.extension() == "." + format && !fs::is_directory(output)) {
      if (command.formats.empty() || command.formats == std::vector{format}) return {{format, output}};
      throw UsageError(fmt::format("-o {}: is one {} file, and --format asks for others", command.output, format),
                       "leave out --format, or name a folder with -o");
    }
    const bool asked = command.formats.empty()
                           ? format != "csv"
                           : std::find(command.formats.begin(), command.formats.end(), format) != command.formats.end();
    if (asked) outputs.emplace_back(format, output / ("fleet." + format));
  }
  return outputs;
}

}  // namespace

ExitCode run_fleet(const FleetCommand& command, const Options& options) {
  const bool to_stdout = command.output == "-";
  std::vector<std::pair<std::string, fs::path>> outputs;
  if (!to_stdout) {
    outputs = outputs_of(command);
    for (const auto& [format, path] : outputs) require_writable_folder(fs::absolute(path).parent_path());
  }
  FleetFiles files = read_fleet(command.paths);
  Fleet fleet = fleet_of(std::move(files.sheets), std::move(files.left_out));
  fleet.paths = command.paths;
  fleet.files = files.files;
  fleet.created_at = utc_now();
  fleet.tool_version = ROOFLINE_VERSION;
  if (to_stdout) {
    print_result(render(fleet, command.formats.front()));
  } else {
    std::vector<fs::path> written;
    for (const auto& [format, path] : outputs) {
      write_file(path, render(fleet, format));
      written.push_back(path);
    }
    print_result(options.answer.json ? render_fleet_json(fleet)
                                     : render_fleet_terminal(fleet, stdout_style(options.color), command.top));
    say_written(written);
  }
  if (fleet.machines.empty()) {
    throw UsageError("no calibration was found in what was given", "write some: roofline calibrate -o FOLDER/");
  }
  return fleet.outliers() > 0 ? ExitCode::regression : ExitCode::ok;
}

}  // namespace roofline
