// roofline calibrate --device all: every GPU of the node, alone, together, and the links between them.
#include <fmt/format.h>

#include <algorithm>

#include "calibrate/calibrate_node.hpp"
#include "calibrate/chosen.hpp"
#include "calibrate/machine_store.hpp"
#include "calibrate/select_device.hpp"
#include "cli/calibrate_command.hpp"
#include "cli/console.hpp"
#include "cli/session.hpp"
#include "host/files.hpp"
#include "host/host.hpp"
#include "op/registry.hpp"
#include "render/node/node_render.hpp"
#include "report/json/node_json.hpp"

namespace roofline {
namespace {

/// The GPUs asked for, and of all those that can't be used, why.
struct NodeChoice {
  std::vector<DeviceListing> usable;
  std::vector<Unmeasured> unusable;
};

NodeChoice choose_gpus(const DeviceRequest& request) {
  NodeChoice choice;
  std::vector<DeviceListing> gpus = list_devices_isolated({});
  std::erase_if(gpus, [](const DeviceListing& listing) { return listing.info.kind != DeviceKind::cuda; });
  for (const DeviceListing& gpu : gpus) {
    const std::vector<int>& asked = request.indices;
    if (!request.all && std::find(asked.begin(), asked.end(), gpu.info.index) == asked.end()) continue;
    if (gpu.usable) {
      choice.usable.push_back(gpu);
    } else {
      choice.unusable.push_back({device_name(gpu.info.index), gpu.reason});
    }
  }
  if (request.all && choice.usable.empty()) {
    throw DeviceError(
        "no GPU can be used: " + (choice.unusable.empty() ? "this machine has none" : choice.unusable.front().reason),
        "see: roofline devices");
  }
  if (!request.all && choice.usable.size() < request.indices.size()) {
    const auto missing = std::find_if(request.indices.begin(), request.indices.end(), [&](int index) {
      return std::none_of(choice.usable.begin(), choice.usable.end(),
                          [index](const DeviceListing& gpu) { return gpu.info.index == index; });
    });
    const auto listed = std::find_if(
        gpus.begin(), gpus.end(), [&](const DeviceListing& gpu) { return gpu.info.index == *missing && !gpu.usable; });
    throw DeviceError(
        fmt::format("{} can't be used: {}", device_name(*missing),
                    listed != gpus.end() ? listed->reason : fmt::format("there are {} GPUs", choice.usable.size())),
        "see: roofline devices");
  }
  return choice;
}

/// Whether --only names any ceiling of a single device; if not, it names links.
bool asks_for_ceilings(const std::string& only) {
  const std::vector<const Probe*> probes = all_probes(DeviceKind::cuda);
  return std::any_of(probes.begin(), probes.end(), [&](const Probe* probe) { return is_chosen(only, probe->name); });
}

/// A device of which nothing is measured but its links.
Machine without_ceilings(const DeviceInfo& device, bool quick) {
  Machine machine;
  machine.device = device;
  machine.measured_at = utc_now();
  machine.tool_version = ROOFLINE_VERSION;
  machine.host = host_description();
  machine.quick = quick;
  return machine;
}

Node measure_node(const NodeChoice& choice, const CalibrateCommand& command) {
  const Effort effort{.quick = command.quick, .sustain_s = command.sustain_s, .time_s = {}};
  std::vector<int> indices;
  for (const DeviceListing& gpu : choice.usable) indices.push_back(gpu.info.index);
  NodeOptions options = cuda_node_options(indices, effort, command.only);
  const bool ceilings = asks_for_ceilings(command.only);
  options.calibrate_alone = [&](int index) {
    const DeviceInfo& info = std::find_if(choice.usable.begin(), choice.usable.end(), [&](const DeviceListing& gpu) {
                               return gpu.info.index == index;
                             })->info;
    if (!ceilings) return without_ceilings(info, command.quick);
    say(fmt::format("device: {} ({}), alone", device_name(index), info.name));
    Machine machine =
        calibrate_with_progress({.kind = DeviceKind::cuda, .index = index, .options = {}}, effort, command.only);
    keep_calibration(machine, command);
    return machine;
  };
  ProgressLine line;
  options.progress = [&](const Progress& progress) { line.show(progress); };
  // In the same order everywhere, so that no two wait for each other.
  std::vector<DeviceHold> holds;
  for (const DeviceListing& gpu : choice.usable) holds.push_back(hold_device(gpu.info, !command.no_wait));
  if (choice.usable.size() > 1)
    say(fmt::format("{} GPUs: each alone, then all at once, then their links", indices.size()));
  Node node = calibrate_node(options);
  line.clear();
  node.unmeasured.insert(node.unmeasured.begin(), choice.unusable.begin(), choice.unusable.end());
  return node;
}

/// Whether it could be kept, where it was to be.
bool keep(const Node& node, const CalibrateCommand& command) try {
  if (!command.device.all || command.only != "*") {
    say("the node is not kept: only --device all without --only measures it whole (-o FILE writes it)");
  } else if (node.machines.empty()) {
    say("the node is not kept: no GPU could be calibrated");
  } else if (keep_node(node)) {
    say(fmt::format("the node is kept as {}", node_path(node.host_name).string()));
  } else {
    say("the node is not kept: a full calibration of it is there already");
  }
  return true;
} catch (const UsageError& error) {
  say(fmt::format("the node is not kept: {}", error.what()));
  return false;
}

/// A device of which there is nothing.
bool lost_a_device(const Node& node) {
  return std::any_of(node.unmeasured.begin(), node.unmeasured.end(), whole_device);
}

}  // namespace

ExitCode run_calibrate_node(const CalibrateCommand& command, const Options& options) {
  if (command.once) throw UsageError("--once runs the probes of one device", "name one: --device cuda:0");
  const Node node = measure_node(choose_gpus(command.device), command);
  const bool kept = keep(node, command);
  const std::string json = render_node_json(node);
  if (command.output == "-") {
    print_result(json);
  } else {
    print_result(options.answer.json ? json : render_node_terminal(node, stdout_style(options.color)));
    if (!command.output.empty()) {
      const std::filesystem::path file =
          names_folder(command.output)
              ? command.output / std::filesystem::path(shared_file_name(node, command.device.all))
              : std::filesystem::path(command.output);
      write_file(file, json);
      say(fmt::format("wrote {}", file.string()));
    }
  }
  if (node.cancelled) return ExitCode::cancelled;
  if (!kept && command.output.empty()) return ExitCode::usage;
  return node.machines.empty() || lost_a_device(node) ? ExitCode::workload_failed : ExitCode::ok;
}

}  // namespace roofline
