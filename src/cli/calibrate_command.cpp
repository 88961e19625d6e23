// roofline calibrate: measure, keep, show.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "calibrate/calibrate.hpp"
#include "calibrate/machine_store.hpp"
#include "calibrate/select_device.hpp"
#include "cli/calibrate_command.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/session.hpp"
#include "host/files.hpp"
#include "host/host.hpp"
#include "report/json/json.hpp"

namespace roofline {
namespace {

nlohmann::ordered_json to_json(const SingleRun& run) {
  nlohmann::ordered_json json = {{"name", run.name},
                                 {"variant", run.variant},
                                 {"instruction", run.instruction},
                                 {"amount", run.amount},
                                 {"failure", run.failure}};
  json["flops"] = nlohmann::ordered_json::object();
  json["bytes"] = nlohmann::ordered_json::object();
  for (const auto& [pipe, count] : run.work.flops) json["flops"][std::string(to_string(pipe))] = count;
  for (const auto& [level, traffic] : run.work.bytes) {
    json["bytes"][std::string(to_string(level))] = {{"read", traffic.read}, {"write", traffic.write}};
  }
  return json;
}

/// For profilers: what each probe's one launch had to do, and whether it did it.
ExitCode run_probes_once(const CalibrateCommand& command, const DeviceChoice& device, bool answer) {
  CalibrateOptions options;
  options.device = device;
  options.only = command.only;
  const std::vector<SingleRun> runs = run_once(options);
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::string text;
  for (const SingleRun& run : runs) {
    json.push_back(to_json(run));
    text += fmt::format("{:<24} {:>12.6g}  {}\n", run.name, run.amount,
                        run.failure.empty() ? "verified: " + run.variant : run.failure);
  }
  const bool to_stdout = command.output == "-";
  nlohmann::ordered_json document = {{"schema", "roofline.probes/1"}, {"probes", json}};
  print_result(answer ? document.dump(2) + "\n" : to_stdout ? json.dump(2) + "\n" : text);
  if (names_folder(command.output)) {
    throw UsageError(fmt::format("-o {}: is a folder, and --once writes one file", command.output), "name a file");
  }
  if (!command.output.empty() && !to_stdout) write_file(command.output, json.dump(2) + "\n");
  return ExitCode::ok;
}

}  // namespace

bool keep_calibration(const Machine& machine, const CalibrateCommand& command) try {
  if (command.only != "*") {
    say("not kept: --only measured a part of the machine (-o FILE writes it)");
  } else if (machine.ceilings.empty()) {
    say("not kept: no ceiling could be measured");
  } else if (keep_machine(machine)) {
    say(fmt::format("kept as {}", machine_path(machine.device.identity).string()));
  } else {
    say("not kept: a full calibration of this device is there already");
  }
  return true;
} catch (const UsageError& error) {
  say(fmt::format("not kept: {}", error.what()));
  return false;
}

bool names_folder(const std::string& output) {
  std::error_code hidden;
  return output.ends_with('/') || std::filesystem::is_directory(output, hidden);
}

ExitCode run_calibrate(const CalibrateCommand& command, const Options& options) {
  const bool to_folder = names_folder(command.output);
  if (!command.output.empty() && command.output != "-") {
    const std::filesystem::path output = std::filesystem::absolute(command.output);
    require_writable_folder(to_folder ? output : output.parent_path());
  }
  if (command.device.several()) return run_calibrate_node(command, options);
  const SelectedDevice device = choose_device(command.device);
  if (command.once) return run_probes_once(command, device.choice, options.answer.json);
  const Effort effort{.quick = command.quick, .sustain_s = command.sustain_s, .time_s = command.time_s};
  const Machine machine = [&] {
    const DeviceHold hold = hold_device(device.info, !command.no_wait);
    return calibrate_with_progress(device.choice, effort, command.only);
  }();
  const bool kept = keep_calibration(machine, command);
  const std::string json = machine_to_json(machine).dump(2) + "\n";
  if (command.output == "-") {
    print_result(json);
  } else {
    print_result(options.answer.json ? json
                                     : render_machine_terminal(machine, stdout_style(options.color), command.verbose));
    if (!command.output.empty()) {
      const std::filesystem::path file =
          to_folder ? command.output / std::filesystem::path(shared_file_name(machine.device, host_name()))
                    : std::filesystem::path(command.output);
      write_file(file, json);
      say(fmt::format("wrote {}", file.string()));
    }
  }
  if (machine.cancelled) return ExitCode::cancelled;
  if (!kept && command.output.empty()) return ExitCode::usage;
  return machine.ceilings.empty() ? ExitCode::workload_failed : ExitCode::ok;
}

}  // namespace roofline
