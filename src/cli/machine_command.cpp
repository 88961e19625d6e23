// roofline machine: prints the measured roofs, or compares them with another calibration.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "calibrate/machine_store.hpp"
#include "cli/answer.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/mix_roofs.hpp"
#include "cli/option_values.hpp"
#include "cli/session.hpp"
#include "host/file_limits.hpp"
#include "host/host.hpp"
#include "host/interrupt.hpp"
#include "model/error.hpp"
#include "model/find.hpp"
#include "model/node_as_machine.hpp"
#include "render/node/node_render.hpp"
#include "render/render.hpp"
#include "report/json/json.hpp"
#include "report/json/node_json.hpp"

namespace roofline {
namespace {

struct Flags {
  DeviceRequest device;
  std::string file;  ///< calibration file; empty: the stored one
  std::string format = "table";
  std::string against;             ///< calibration file to compare with; empty: none
  double threshold = 0.01;         ///< smallest difference to report, as a fraction
  std::vector<std::string> mixes;  ///< whose roofs are asked for; empty: all ceilings are shown
  bool verbose = false;            ///< print the details of failed audit checks
};

void add_options(CommandEntry& command, Flags& flags) {
  flags.device.add_to(command);
  command.add("[file]", text("FILE", flags.file),
              "machine.json, node.json or report.json (default: the stored calibration)");
  command.add("--format", one_of(flags.format, {"table", "md", "json"}), "Output format (default: table)");
  command.add("--verbose", flag(flags.verbose), "Print the details of every failed audit check");
  command.add("--against", text("FILE", flags.against),
              "Compare with another calibration; exit status 3 if a roof got slower");
  command.add("--threshold", percentage(flags.threshold), "Smallest difference to report (default: 1%)");
  command.add("--mix", list("READ:WRITE[:in-place]", flags.mixes),
              "Show only the main memory roof for this mix of bytes, such as 2:1 or 1:1:in-place");
}

Machine kept_machine(const DeviceRequest& request) {
  const SelectedDevice device = choose_device(request);
  std::optional<Machine> kept = find_machine(device.info.identity, print_status);
  if (!kept) {
    throw UsageError(fmt::format("no calibration of {} is stored", device.info.identity), "run: roofline calibrate");
  }
  print_status(fmt::format("measured {} ({})", kept->measured_at, age_of(kept->measured_at, std::time(nullptr))));
  for (const std::string& reason : staleness(*kept, device.info, ROOFLINE_VERSION)) {
    warn(fmt::format("the calibration may be stale: {}", reason));
  }
  return *kept;
}

/// The calibration in a machine.json, node.json or report.json.
Machine machine_in(const std::string& text, const std::string& file, const DeviceInfo& of = {}) {
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  const bool is_report = json.is_object() && json.contains("schema") && json["schema"] == kReportSchema;
  return is_report ? parse_report(text, file).machine : parse_machine_of(of, text, file);
}

Node kept_node() {
  const std::string host = host_name();
  std::optional<Node> kept = find_node(host, print_status);
  if (!kept) {
    throw UsageError(fmt::format("no calibration of all GPUs of {} is stored", host.empty() ? "this host" : host),
                     "run: roofline calibrate --device all");
  }
  print_status(fmt::format("measured {} ({})", kept->measured_at, age_of(kept->measured_at, std::time(nullptr))));
  return *kept;
}

/// The node selected by a file or by --device all; std::nullopt if one device is selected. `text` is the file's.
std::optional<Node> node_of(const Flags& flags, const std::string& text) {
  if (flags.file.empty()) return flags.device.several() ? std::optional(kept_node()) : std::nullopt;
  return is_node(text) ? std::optional(parse_node(text, flags.file)) : std::nullopt;
}

/// Keeps only these devices; all of them if the list is empty.
void keep_devices(Node& node, const std::vector<int>& devices) {
  if (devices.empty()) return;
  const auto left_out = [&](int device) { return !contains(devices, device); };
  std::erase_if(node.machines, [&](const Machine& machine) { return left_out(machine.device.index); });
  std::erase_if(node.together, [&](const SharedCeiling& shared) { return left_out(shared.device); });
  std::erase_if(node.links, [&](const Link& link) { return left_out(link.from) || left_out(link.to); });
  std::erase_if(node.topology.places, [&](const DevicePlace& place) { return left_out(place.device); });
}

std::string title_of(const Machine& machine) {
  return fmt::format("{} ({}), {}{}", machine.device.name, machine.device.identity, machine.measured_at,
                     machine.quick ? ", quick" : "");
}

nlohmann::ordered_json changes_json(const std::vector<CeilingChange>& changes, const Machine& before,
                                    const Machine& now) {
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
  return json;
}

/// The document, also where --format asks for JSON; else Markdown or the table.
template <class Document, class Markdown, class Table>
void print_as(const std::string& format, const Document& document, const Markdown& markdown, const Table& table) {
  if (format == "json") return print_document(document());
  print_result(document, [&] { return format == "md" ? markdown() : table(); });
}

/// Exit status 3 if a roof got slower, for monitoring many machines. References are shown but not checked: host-side
/// times (pageable copies, single launches) vary by several per cent between runs.
ExitCode compare(const Machine& before, const Machine& now, const Flags& flags, ColorMode color) {
  if (before.device.kind != now.device.kind) {
    throw UsageError(fmt::format("{} is a calibration of a {} device, the other one of a {} device", flags.against,
                                 to_string(before.device.kind), to_string(now.device.kind)),
                     "compare devices of one kind");
  }
  if (before.device.name != now.device.name) {
    warn(fmt::format("the calibrations are of different devices: {} and {}", before.device.name, now.device.name));
  }
  const std::vector<CeilingChange> changes = compare_machines(before, now, flags.threshold);
  print_as(
      flags.format, [&] { return changes_json(changes, before, now); },
      [&] { return render_changes_markdown(changes, title_of(before), title_of(now)); },
      [&] { return render_changes_terminal(changes, title_of(before), title_of(now), stdout_style(color)); });
  const auto slower = std::count_if(changes.begin(), changes.end(), [](const CeilingChange& change) {
    return change.role == Role::roof && change.change == Change::slower;
  });
  const auto roofs = std::count_if(changes.begin(), changes.end(),
                                   [](const CeilingChange& change) { return change.role == Role::roof; });
  if (slower == 0) return ExitCode::ok;
  print_problem({"regression",
                 fmt::format("{} of {} roofs got slower by more than {:g} % and beyond their confidence intervals",
                             slower, roofs, 100 * flags.threshold),
                 {}});
  return ExitCode::regression;
}

/// The calibration to compare a machine with, from a file of any kind.
Machine earlier(const Machine& now, const Flags& flags) {
  return machine_in(read_file(flags.against, kReportLimit), flags.against, now.device);
}

/// The calibration to compare a node with, including its shared rates and links.
Machine earlier(const Flags& flags) {
  const std::string text = read_file(flags.against, kReportLimit);
  if (!is_node(text)) {
    throw UsageError(fmt::format("{} is not a node, but the other file is", flags.against),
                     "compare two nodes, or one device: roofline machine --device cuda:0 --against FILE");
  }
  Node node = parse_node(text, flags.against);
  keep_devices(node, flags.device.indices);
  return node_as_machine(node);
}

ExitCode show_mixes(const Machine& machine, const Flags& flags) {
  const auto document = [&] { return mixes_json(machine, flags.mixes); };
  const auto text = [&] { return mixes_text(machine, flags.mixes); };
  print_as(flags.format, document, text, text);
  return ExitCode::ok;
}

/// Options that exclude each other are refused before anything is read.
void finish(Flags& flags, GlobalOptions&) {
  flags.device.finish();
  for (const std::string& mix : flags.mixes) parse_mix(mix);
  if (!flags.mixes.empty() && (!flags.against.empty() || flags.device.several())) {
    throw UsageError("--mix applies to one machine", "leave out --against and --device all");
  }
}

ExitCode run(Flags& flags, const GlobalOptions& global) {
  if (!flags.file.empty()) end_at_interrupts();
  const std::string text = flags.file.empty() ? std::string() : read_file(flags.file, kReportLimit);
  if (std::optional<Node> node = node_of(flags, text)) {
    if (!flags.mixes.empty()) throw UsageError(fmt::format("--mix: {} has several machines", flags.file));
    keep_devices(*node, flags.device.indices);
    if (!flags.against.empty()) return compare(earlier(flags), node_as_machine(*node), flags, global.color);
    print_as(
        flags.format, [&] { return node_to_json(*node); }, [&] { return render_node_markdown(*node); },
        [&] { return render_node_terminal(*node, stdout_style(global.color)); });
    return ExitCode::ok;
  }
  const Machine machine = flags.file.empty() ? kept_machine(flags.device) : machine_in(text, flags.file);
  end_at_interrupts();  // the processes that look for devices have ended
  if (!flags.mixes.empty()) return show_mixes(machine, flags);
  if (!flags.against.empty()) return compare(earlier(machine, flags), machine, flags, global.color);
  print_as(
      flags.format, [&] { return machine_to_json(machine); }, [&] { return render_machine_markdown(machine); },
      [&] { return render_machine_terminal(machine, stdout_style(global.color), flags.verbose); });
  return ExitCode::ok;
}

}  // namespace

CommandEntry machine_command() {
  return CommandRow<Flags>{"machine", "Show the measured roofs", add_options, run, finish};
}

}  // namespace roofline
