// roofline report: draw a saved run again. Measures nothing.
#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/outputs.hpp"
#include "report/files.hpp"
#include "report/json.hpp"
#include "report/render.hpp"

namespace roofline {
namespace fs = std::filesystem;

ExitCode run_report(const ReportCommand& command, const Options& options) {
  const Report report = parse_report(read_file(command.file), command.file);
  if (command.output == "-") {
    print_result(render(report, command.formats.front()));
    return ExitCode::ok;
  }
  const fs::path folder = command.output.empty() ? fs::absolute(command.file).parent_path() : fs::path(command.output);
  std::vector<std::string> formats = command.formats.empty() ? report_formats() : command.formats;
  // Without -o the run stays as it was measured: its own report.json is not written over.
  if (command.output.empty()) std::erase(formats, "json");
  const std::vector<fs::path> paths =
      formats.empty() ? std::vector<fs::path>() : write_outputs(report, formats, folder);
  print_result(render_terminal(report, stdout_style(options.color)));
  for (const fs::path& path : paths) say(fmt::format("wrote {}", path.string()));
  return ExitCode::ok;
}

}  // namespace roofline
