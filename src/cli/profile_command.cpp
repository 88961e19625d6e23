// roofline profile: any program under the roofs. Its streams are its own; what we have to say goes to stderr.
#include "profile/profile.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/outputs.hpp"
#include "cli/session.hpp"
#include "host/file_limits.hpp"
#include "model/error.hpp"
#include "render/render.hpp"
#include "report/json/json.hpp"
#include "report/json/node_json.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

/// The roofs: of the file that was named, which needs no device here, else of the GPU that is chosen.
Machine machine_of(const ProfileCommand& command, std::vector<std::string>& notes) {
  DeviceRequest request = command.device;
  if (!request.kind) request.kind = DeviceKind::cuda;
  if (!command.machine.empty()) {
    const std::string text = read_file(command.machine, kReportLimit);
    // Of a node the device has to be known; of a machine file there is one, and none is needed here.
    return is_node(text) ? parse_machine_of(choose_device(request).info, text, command.machine)
                         : parse_machine(text, command.machine);
  }
  return machine_for(choose_device(request), {}, notes);
}

ProfileOptions profile_options(const ProfileCommand& command, const Options& options) {
  ProfileOptions profile;
  profile.command = options.argv;
  profile.program = command.program;
  profile.window_s = command.window_s;
  profile.warmup_s = command.warmup_s;
  profile.counters = command.counters;
  profile.count_time_s = command.count_time_s;
  profile.python = command.python;
  profile.baseline = command.baseline;
  profile.runs = command.runs;
  profile.output_to_stderr = command.output.to_stdout() || options.answer.json;
  profile.spools = command.from.empty() ? command.keep : command.from;
  profile.say = [](const std::string& line) { say("roofline: " + line); };
  return profile;
}

fs::path output_folder(const ProfileCommand& command, const Report& report) {
  if (command.output.is_file) return fs::absolute(command.output.path).parent_path();
  if (!command.output.path.empty()) return command.output.path;
  return fs::path("reports") / fmt::format("{}-{}", report.invocation.run_name, report.machine.device.identity);
}

/// As with time(1): the program's own, when everything else worked.
ExitCode exit_code_of_program(const Report& report) {
  if (report.cancelled) return ExitCode::cancelled;
  if (report.points.empty()) return ExitCode::device_unusable;
  const Profile& profile = *report.profile;
  constexpr int kSignalled = 128;  // as shells have it
  if (profile.signal) return static_cast<ExitCode>(kSignalled + *profile.signal);
  return static_cast<ExitCode>(profile.exit_status.value_or(0));
}

}  // namespace

ExitCode run_profile(const ProfileCommand& command, const Options& options) {
  if (command.device.kind == DeviceKind::cpu) {
    throw UsageError("profile looks at what a program does on GPUs, and --device is cpu", "leave --device out");
  }
  const bool to_stdout = command.output.to_stdout();
  if (!to_stdout && !command.output.path.empty()) require_writable_folder(output_folder(command, {}));
  std::vector<std::string> notes;
  const Machine machine = machine_of(command, notes);
  if (machine.cancelled && command.machine.empty()) return ExitCode::cancelled;

  const ProfileOptions profile = profile_options(command, options);
  Report report = command.from.empty() ? profile_program(profile, machine) : profile_of_spools(profile, machine);
  report.notes.insert(report.notes.begin(), notes.begin(), notes.end());
  if (to_stdout) {
    print_result(render(report, *command.output.formats.front(), command.chart));
    return exit_code_of_program(report);
  }
  const std::vector<fs::path> paths =
      write_outputs(report, command.output, command.chart, output_folder(command, report));
  if (options.answer.json) print_result(render_json(report));
  const TerminalStyle style = stderr_style(options.color);
  say("\n" + render_terminal(report, style));
  if (command.plot) say(render_terminal_plot(report, style));
  say_written(paths);
  return exit_code_of_program(report);
}

}  // namespace roofline
