// roofline machine: the roofs that were measured, as a table or as JSON.
#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "calibrate/machine_store.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/session.hpp"
#include "model/error.hpp"
#include "report/files.hpp"
#include "report/json.hpp"
#include "report/render.hpp"

namespace roofline {
namespace {

Machine kept_machine(const DeviceRequest& request) {
  const SelectedDevice device = choose_device(request);
  std::optional<Machine> kept = find_machine(device.info.identity);
  if (!kept) {
    throw UsageError(fmt::format("no calibration is kept for {}", device.info.identity),
                     "measure it: roofline calibrate");
  }
  say(fmt::format("measured {} ({})", kept->measured_at, age_of(kept->measured_at, std::time(nullptr))));
  for (const std::string& reason : staleness(*kept, device.info, ROOFLINE_VERSION)) {
    say(fmt::format("note: it may be stale: {}", reason));
  }
  return *kept;
}

/// A report.json holds its machine; both kinds of file will do.
Machine machine_in(const std::string& file) {
  const std::string text = read_file(file);
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  const bool is_report = json.is_object() && json.contains("schema") && json["schema"] == kReportSchema;
  return is_report ? parse_report(text, file).machine : parse_machine(text, file);
}

}  // namespace

ExitCode run_machine(const MachineCommand& command, const Options& options) {
  const Machine machine = command.file.empty() ? kept_machine(command.device) : machine_in(command.file);
  print_result(command.json ? machine_to_json(machine).dump(2) + "\n"
                            : render_machine_terminal(machine, stdout_style(options.color)));
  return ExitCode::ok;
}

}  // namespace roofline
