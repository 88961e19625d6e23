// roofline import: profiles of other tools under the roofs. Measures nothing.
#include <fmt/format.h>

#include <ctime>
#include <filesystem>

#include "calibrate/machine_store.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/outputs.hpp"
#include "host/file_limits.hpp"
#include "import/import.hpp"
#include "import/roofs.hpp"
#include "render/render.hpp"
#include "report/json/json.hpp"
#include "report/json/node_json.hpp"
#include "text/format.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

/// The roofs: of the file that was named, else those kept of such a GPU, else what it promises.
Machine machine_of(const ImportCommand& command, const DeviceFacts& device, std::vector<std::string>& notes) {
  if (!command.machine.empty()) {
    DeviceInfo wanted;
    wanted.name = device.name;
    Machine machine = parse_machine_of(wanted, read_file(command.machine, kReportLimit), command.machine);
    if (!device.name.empty() && machine.device.name != device.name) {
      notes.push_back(
          fmt::format("the roofs are those of {}, and the program ran on {}", machine.device.name, device.name));
    }
    return machine;
  }
  if (std::optional<Machine> kept = device.name.empty() ? std::nullopt : find_machine_named(device.name)) {
    say(fmt::format("roofs: {} ({})", machine_path(kept->device.identity).string(),
                    age_of(kept->measured_at, std::time(nullptr))));
    return *kept;
  }
  return promised_machine(device);
}

}  // namespace

ExitCode run_import(const ImportCommand& command, const Options& options) {
  std::vector<ImportedProfile> profiles;
  for (const std::string& file : command.files) {
    constexpr double kLarge = 64e6;  // bytes, a second or more
    std::error_code ignored;
    const auto size = fs::file_size(file, ignored);
    if (!ignored && static_cast<double>(size) > kLarge) {
      say(fmt::format("reading {}: {}", file, si(static_cast<double>(size), "B")));
    }
    profiles.push_back(read_profile_file(file));
  }
  std::vector<std::string> notes, joined;
  const Machine machine = machine_of(command, device_of(profiles), notes);
  Report report = report_of_imports(std::move(profiles), machine, options.argv, joined);
  report.notes.insert(report.notes.begin(), notes.begin(), notes.end());
  if (const std::string warning = about_roofs(machine); !warning.empty()) warn(warning);
  for (const std::string& note : notes) warn(note);
  for (const std::string& sentence : joined) say("joined: " + sentence);
  const ExitCode done = report.points.empty() ? ExitCode::device_unusable : ExitCode::ok;
  if (command.output.to_stdout()) {
    print_result(render(report, *command.output.formats.front(), command.chart));
    return done;
  }
  const fs::path folder = command.output.is_file         ? fs::absolute(command.output.path).parent_path()
                          : !command.output.path.empty() ? fs::path(command.output.path)
                                                         : fs::path("reports") / report.invocation.run_name;
  const std::vector<fs::path> paths = write_outputs(report, command.output, command.chart, folder);
  const TerminalStyle style = stdout_style(options.color);
  print_report(report, style, command.plot, options.answer.json);
  say_written(paths);
  return done;
}

}  // namespace roofline
