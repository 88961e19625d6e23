// roofline machine: the roofs that were measured, as a table, Markdown or JSON, or against another calibration.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "calibrate/machine_store.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/session.hpp"
#include "host/file_limits.hpp"
#include "host/host.hpp"
#include "model/error.hpp"
#include "model/node_as_machine.hpp"
#include "render/node/node_render.hpp"
#include "render/render.hpp"
#include "report/json/json.hpp"
#include "report/json/node_json.hpp"

namespace roofline {
namespace {

Machine kept_machine(const DeviceRequest& request) {
  const SelectedDevice device = choose_device(request);
  std::optional<Machine> kept = find_machine(device.info.identity, say);
  if (!kept) {
    throw UsageError(fmt::format("no calibration is kept for {}", device.info.identity),
                     "measure it: roofline calibrate");
  }
  say(fmt::format("measured {} ({})", kept->measured_at, age_of(kept->measured_at, std::time(nullptr))));
  for (const std::string& reason : staleness(*kept, device.info, ROOFLINE_VERSION)) {
    warn(fmt::format("it may be stale: {}", reason));
  }
  return *kept;
}

/// A report.json holds its machine, and a node.json that of each device: all three kinds of file will do.
Machine machine_in(const std::string& text, const std::string& file, const DeviceInfo& of = {}) {
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  const bool is_report = json.is_object() && json.contains("schema") && json["schema"] == kReportSchema;
  return is_report ? parse_report(text, file).machine : parse_machine_of(of, text, file);
}

Node kept_node() {
  const std::string host = host_name();
  std::optional<Node> kept = find_node(host, say);
  if (!kept) {
    throw UsageError(fmt::format("no calibration of all GPUs is kept for {}", host.empty() ? "this host" : host),
                     "measure it: roofline calibrate --device all");
  }
  say(fmt::format("measured {} ({})", kept->measured_at, age_of(kept->measured_at, std::time(nullptr))));
  return *kept;
}

/// The node that is asked for, by its file or by --device all; nothing where it is one machine. `text` is the file's.
std::optional<Node> node_of(const MachineCommand& command, const std::string& text) {
  if (command.file.empty()) return command.device.several() ? std::optional(kept_node()) : std::nullopt;
  return is_node(text) ? std::optional(parse_node(text, command.file)) : std::nullopt;
}

/// Those of the devices that were named, where some were.
void keep_devices(Node& node, const std::vector<int>& devices) {
  if (devices.empty()) return;
  const auto left_out = [&](int device) { return std::find(devices.begin(), devices.end(), device) == devices.end(); };
  std::erase_if(node.machines, [&](const Machine& machine) { return left_out(machine.device.index); });
  std::erase_if(node.together, [&](const SharedCeiling& shared) { return left_out(shared.device); });
  std::erase_if(node.links, [&](const Link& link) { return left_out(link.from) || left_out(link.to); });
  std::erase_if(node.topology.places, [&](const DevicePlace& place) { return left_out(place.device); });
}

std::string title_of(const Machine& machine) {
  return fmt::format("{} ({}), {}{}", machine.device.name, machine.device.identity, machine.measured_at,
                     machine.quick ? ", quick" : "");
}

std::string changes_json(const std::vector<CeilingChange>& changes, const Machine& before, const Machine& now) {
  using Json = nlohmann::ordered_json;
  Json json = {{"schema", "roofline.changes/1"},
               {"before", {{"identity", before.device.identity}, {"measured_at", before.measured_at}}},
               {"now", {{"identity", now.device.identity}, {"measured_at", now.measured_at}}},
               {"changes", Json::array()}};
  for (const CeilingChange& change : changes) {
    Json row = {{"name", change.name},
                {"kind", to_string(change.kind)},
                {"regime", to_string(change.regime)},
                {"role", to_string(change.role)},
                {"change", to_string(change.change)}};
    Json absent = Json::object();
    const auto add = [&](const char* key, double value, const char* reason) {
      if (std::isnan(value)) {
        absent[key] = reason;
      } else {
        row[key] = value;
      }
    };
    add("before", change.before, "the earlier calibration lacks this ceiling");
    add("now", change.now, "the later calibration lacks this ceiling");
    add("ratio", change.ratio, "only one calibration has this ceiling");
    if (row.contains("ratio")) row["ratio_ci95"] = {change.ratio_ci95.low, change.ratio_ci95.high};
    if (!absent.empty()) row["absent"] = std::move(absent);
    json["changes"].push_back(std::move(row));
  }
  return json.dump(2) + "\n";
}

/// Exit code 3 when a roof got slower: a gate for whoever looks after many machines. References are shown and don't
/// count: the host's pace (pageable copies, launches one by one) differs by some per cent from run to run.
ExitCode compare(const Machine& before, const Machine& now, const MachineCommand& command, const TerminalStyle& style) {
  if (before.device.kind != now.device.kind) {
    throw UsageError(fmt::format("{}: is a calibration of a {} device, and the other one of a {} device",
                                 command.against, to_string(before.device.kind), to_string(now.device.kind)),
                     "compare devices of one kind");
  }
  if (before.device.name != now.device.name) {
    warn(fmt::format("these are different devices: {} and {}", before.device.name, now.device.name));
  }
  const std::vector<CeilingChange> changes = compare_machines(before, now, command.threshold);
  print_result(command.format == "json" ? changes_json(changes, before, now)
               : command.format == "md" ? render_changes_markdown(changes, title_of(before), title_of(now))
                                        : render_changes_terminal(changes, title_of(before), title_of(now), style));
  const auto slower = std::count_if(changes.begin(), changes.end(), [](const CeilingChange& change) {
    return change.role == Role::roof && change.change == Change::slower;
  });
  const auto roofs = std::count_if(changes.begin(), changes.end(),
                                   [](const CeilingChange& change) { return change.role == Role::roof; });
  if (slower == 0) return ExitCode::ok;
  say_problem({"regression",
               fmt::format("{} of {} roofs got slower by more than {:g} % and beyond their intervals", slower, roofs,
                           100 * command.threshold),
               {}});
  return ExitCode::regression;
}

/// The other calibration of a machine: a file of any kind that has it.
Machine earlier(const Machine& now, const MachineCommand& command) {
  return machine_in(read_file(command.against, kReportLimit), command.against, now.device);
}

/// The other calibration of a node, with all of its rates.
Machine earlier(const MachineCommand& command) {
  const std::string text = read_file(command.against, kReportLimit);
  if (!is_node(text)) {
    throw UsageError(fmt::format("{}: is no node, and the other one is", command.against),
                     "compare a node with a node, or one device: roofline machine --device cuda:0 --against FILE");
  }
  Node node = parse_node(text, command.against);
  keep_devices(node, command.device.indices);
  return node_as_machine(node);
}

}  // namespace

ExitCode run_machine(const MachineCommand& command, const Options& options) {
  const std::string text = command.file.empty() ? std::string() : read_file(command.file, kReportLimit);
  if (std::optional<Node> node = node_of(command, text)) {
    keep_devices(*node, command.device.indices);
    if (!command.against.empty()) {
      return compare(earlier(command), node_as_machine(*node), command, stdout_style(options.color));
    }
    print_result(command.format == "json" ? render_node_json(*node)
                 : command.format == "md" ? render_node_markdown(*node)
                                          : render_node_terminal(*node, stdout_style(options.color)));
    return ExitCode::ok;
  }
  const Machine machine = command.file.empty() ? kept_machine(command.device) : machine_in(text, command.file);
  const TerminalStyle style = stdout_style(options.color);
  if (!command.against.empty()) return compare(earlier(machine, command), machine, command, style);
  print_result(command.format == "json" ? machine_to_json(machine).dump(2) + "\n"
               : command.format == "md" ? render_machine_markdown(machine)
                                        : render_machine_terminal(machine, style, command.verbose));
  return ExitCode::ok;
}

}  // namespace roofline
