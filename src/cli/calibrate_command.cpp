// roofline calibrate: measure, keep, show.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "calibrate/calibrate.hpp"
#include "calibrate/machine_store.hpp"
#include "calibrate/select_device.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/session.hpp"
#include "report/files.hpp"
#include "report/json.hpp"

namespace roofline {
namespace {

void keep(const Machine& machine, const CalibrateCommand& command) {
  if (command.only != "*") {
    say("not kept: --only measured a part of the machine (-o FILE writes it)");
  } else if (machine.ceilings.empty()) {
    say("not kept: no ceiling could be measured");
  } else if (keep_machine(machine)) {
    say(fmt::format("kept as {}", machine_path(machine.device.identity).string()));
  } else {
    say("not kept: a full calibration of this device is there already");
  }
}

}  // namespace

ExitCode run_calibrate(const CalibrateCommand& command, const Options& options) {
  if (!command.output.empty() && command.output != "-") {
    require_writable_folder(std::filesystem::absolute(command.output).parent_path());
  }
  const SelectedDevice device = choose_device(command.device);
  const Machine machine = calibrate_with_progress(device.choice, command.quick, command.only);
  keep(machine, command);
  const std::string json = machine_to_json(machine).dump(2) + "\n";
  if (command.output == "-") {
    print_result(json);
  } else {
    print_result(render_machine_terminal(machine, stdout_style(options.color)));
    if (!command.output.empty()) {
      write_file(command.output, json);
      say(fmt::format("wrote {}", command.output));
    }
  }
  if (machine.cancelled) return ExitCode::cancelled;
  return machine.ceilings.empty() ? ExitCode::workload_failed : ExitCode::ok;
}

}  // namespace roofline
