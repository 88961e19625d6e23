// roofline fleet: finds the machines that are slower than others like them,
// from calibration files. Measures nothing.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/option_values.hpp"
#include "cli/outputs.hpp"
#include "fleet/read_fleet.hpp"
#include "host/files.hpp"
#include "host/host.hpp"
#include "host/interrupt.hpp"
#include "host/output_file.hpp"
#include "render/documents.hpp"
#include "render/fleet/fleet_render.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

struct Flags {
  std::vector<std::string> paths;  ///< files and directories
  FileOutput output;
  std::optional<std::size_t> top;  ///< outliers, changes and skipped files that the terminal lists
};

void add_options(CommandEntry& command, Flags& flags) {
  command.add("paths", words("PATH", flags.paths), "Calibration files, and directories of them (calibrate -o DIR/)");
  flags.output.add_to(command, "reports/fleet", {"html", "json", "csv"}, "html,json");
  command.add("--top", number("COUNT", flags.top, 1, 1e6),
              "Number of outliers, changes and skipped files to list (default: 20)");
}

void finish(Flags& flags, GlobalOptions& global) {
  global.answer.top = flags.top;
  flags.output.finish(global);
}

std::string render(const Fleet& fleet, std::string_view format) {
  if (format == "json") return render_fleet_json(fleet);
  if (format == "csv") return render_fleet_csv(fleet);
  return render_fleet_html(fleet);
}

ExitCode run(Flags& flags, const GlobalOptions& global) {
  end_at_interrupts();
  const FileOutput& output = flags.output;
  const fs::path folder = output.folder(fs::path("reports") / "fleet");
  if (!output.to_stdout()) require_writable_folder(fs::absolute(folder));
  FleetFiles files = read_fleet(flags.paths);
  const std::vector<const Format*> usual = {find_format("html"), find_format("json")};
  std::vector<const Format*> formats = output.formats.empty() ? usual : output.formats;
  if (output.to_stdout()) formats.clear();
  std::vector<fs::path> paths;
  for (const Format* format : formats) {
    paths.push_back(output.file(folder, fmt::format("fleet.{}", format->name)));
    require_output(paths.back());
  }
  Fleet fleet = fleet_of(std::move(files.summaries), std::move(files.left_out));
  fleet.paths = flags.paths;
  fleet.files = files.files;
  fleet.created_at = utc_now();
  fleet.tool_version = ROOFLINE_VERSION;
  for (std::size_t i = 0; i < paths.size(); ++i) write_output(paths[i], render(fleet, formats[i]->name));
  print_result(
      [&] {
        const bool is_document = !output.to_stdout() || output.formats.front()->name == "json";
        return is_document ? fleet_to_json(fleet) : nlohmann::ordered_json();
      },
      [&] {
        constexpr std::size_t kListed = 20;
        return output.to_stdout()
                   ? render(fleet, output.formats.front()->name)
                   : render_fleet_terminal(fleet, stdout_style(global.color), flags.top.value_or(kListed));
      });
  print_written(paths);
  for (const FleetGroup& group : fleet.groups) {
    if (const JudgingGap* gap = group.worst_gap()) warn(fmt::format("{}: {}", group.name, fleet_gap(*gap, group)));
  }
  if (fleet.machines.empty()) {
    throw UsageError("no calibration found in the given files", "create some: roofline calibrate -o DIR/");
  }
  return fleet.outliers() > 0 ? ExitCode::regression : ExitCode::ok;
}

}  // namespace

CommandEntry fleet_command() {
  return CommandRow<Flags>{"fleet",
                           "Find machines that are slower than others like them; exit status 3 if there are any",
                           add_options, run, finish};
}

}  // namespace roofline
