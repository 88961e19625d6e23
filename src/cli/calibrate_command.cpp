// roofline calibrate: measures the roofs of one device, stores them and prints them.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "calibrate/calibrate.hpp"
#include "calibrate/machine_store.hpp"
#include "calibrate/select_device.hpp"
#include "cli/calibrate_command.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/document_output.hpp"
#include "cli/option_values.hpp"
#include "cli/outputs.hpp"
#include "cli/session.hpp"
#include "host/files.hpp"
#include "host/host.hpp"
#include "host/output_file.hpp"
#include "report/json/json.hpp"
#include "report/json/json_value.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

void add_options(CommandEntry& command, CalibrateFlags& flags) {
  Effort& effort = flags.options.effort;
  flags.device.add_to(command);
  command.add("--quick", flag(effort.quick), "Try fewer kernel variants and sample for a shorter time");
  command.add("--only", text("GLOB", flags.options.only),
              "Measure only ceilings and sweeps whose name matches this glob");
  command.add(
      "--time", seconds(effort.time_s, 0.1, 86400),
      "Time limit for calibrating a CPU (default: 60s, less with --only); ends early once all values have converged");
  command.add("--sustain", seconds(effort.sustain_s, 0, 3600),
              "Time under load for each sustained ceiling; the second half is sampled (default: 2s; 0: skip)");
  command.add(
      "--once", flag(flags.once),
      "Run every probe once, verified, without timing; for use under a profiler (ncu --profile-from-start off)");
  command.add("--no-wait", flag(flags.no_wait),
              "Do not wait for another calibration of the same device; both measure lower values");
  command.add("--verbose", flag(flags.verbose), "Print the details of every failed audit check");
  command.add(
      "-o,--output", text("PATH", flags.output),
      "Also write the calibration to this file ('-': stdout); in a directory, to HOST-GPU.json or HOST-node.json");
}

void finish(CalibrateFlags& flags, GlobalOptions& global) {
  flags.device.finish();
  if (global.answer.json && flags.output.empty()) flags.output = "-";
  if (!flags.output.ends_with(".json")) refuse_unknown_ending(flags.output, {"json"});
}

bool names_folder(const std::string& output) {
  std::error_code hidden;
  return output.ends_with('/') || std::filesystem::is_directory(output, hidden);
}

Json to_json(const SingleRun& run) {
  Json json = {{"name", run.name},
               {"variant", run.variant},
               {"instruction", run.instruction},
               {"amount", run.amount},
               {"failure", run.failure}};
  json["flops"] = Json::object();
  json["bytes"] = Json::object();
  for (const auto& [pipe, count] : run.work.flops) json["flops"][std::string(to_string(pipe))] = count;
  for (const auto& [level, traffic] : run.work.bytes) {
    json["bytes"][std::string(to_string(level))] = {{"read", traffic.read}, {"write", traffic.write}};
  }
  return json;
}

/// For use under a profiler: the work of each probe's single launch, and whether its result was correct.
ExitCode run_probes_once(const CalibrateFlags& flags) {
  Json list = Json::array();
  std::string text;
  for (const SingleRun& run : run_once(flags.options)) {
    list.push_back(to_json(run));
    text += fmt::format("{:<24} {:>12.6g}  {}\n", run.name, run.amount,
                        run.failure.empty() ? "verified: " + run.variant : run.failure);
  }
  const std::string json = to_json_text(list);
  print_result(
      [&] {
        return Json{{"schema", "roofline.probes/1"}, {"probes", list}};
      },
      [&] { return flags.output == "-" ? json : text; });
  if (names_folder(flags.output)) {
    throw UsageError(fmt::format("-o {} is a directory, but --once writes one file", flags.output), "pass a file name");
  }
  if (!flags.output.empty() && flags.output != "-") write_output(flags.output, json);
  return ExitCode::ok;
}

}  // namespace

bool keep_calibration(const Machine& machine, const CalibrateFlags& flags) try {
  if (flags.options.only != "*") {
    print_status("not stored: --only measured only part of the machine (use -o FILE)");
  } else if (machine.ceilings.empty()) {
    print_status("not stored: no ceiling could be measured");
  } else if (keep_machine(machine)) {
    print_status(fmt::format("stored as {}", machine_path(machine.device.identity).string()));
  } else {
    print_status("not stored: a full calibration of this device exists");
  }
  return true;
} catch (const UsageError& error) {
  print_status(fmt::format("not stored: {}", error.what()));
  return false;
}

void show_calibration(const CalibrateFlags& flags, const Json& document, const std::function<std::string()>& text,
                      const std::string& file_text, const std::string& name) {
  const bool to_stdout = flags.output == "-";
  print_result([&] { return document; }, [&] { return to_stdout ? file_text : text(); });
  if (flags.output.empty() || to_stdout) return;
  const std::filesystem::path output = flags.output;
  const std::filesystem::path file = names_folder(flags.output) ? output / name : output;
  write_output(file, file_text);
  print_written({file});
}

namespace {

ExitCode run(CalibrateFlags& flags, const GlobalOptions& global) {
  if (!flags.output.empty() && flags.output != "-") {
    const std::filesystem::path output = std::filesystem::absolute(flags.output);
    if (!names_folder(flags.output)) require_output(output);
    require_writable_folder(names_folder(flags.output) ? output : output.parent_path());
  }
  if (flags.device.several()) return run_calibrate_node(flags, global);
  const SelectedDevice device = choose_device(flags.device);
  flags.options.device = device.choice;
  if (flags.once) return run_probes_once(flags);
  const Machine machine = [&] {
    const DeviceHold hold = hold_device(device.info, !flags.no_wait);
    return calibrate_with_progress(flags.options);
  }();
  const bool kept = keep_calibration(machine, flags);
  const Json document = machine_to_json(machine);
  show_calibration(
      flags, document, [&] { return render_machine_terminal(machine, stdout_style(global.color), flags.verbose); },
      to_json_text(document), shared_file_name(machine.device, host_name()));
  if (machine.cancelled) return ExitCode::cancelled;
  if (!kept && flags.output.empty()) return ExitCode::usage;
  return machine.ceilings.empty() ? ExitCode::workload_failed : ExitCode::ok;
}

}  // namespace

CommandEntry calibrate_command() {
  return CommandRow<CalibrateFlags>{"calibrate", "Measure the roofs of this machine and store them", add_options, run,
                                    finish};
}

}  // namespace roofline
