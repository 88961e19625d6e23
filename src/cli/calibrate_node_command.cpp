// roofline calibrate --device all: measures every GPU of the node alone, all at once, and the links between them.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "calibrate/calibrate_node.hpp"
#include "calibrate/chosen.hpp"
#include "calibrate/machine_store.hpp"
#include "calibrate/select_device.hpp"
#include "cli/calibrate_command.hpp"
#include "cli/console.hpp"
#include "cli/session.hpp"
#include "host/host.hpp"
#include "model/find.hpp"
#include "op/registry.hpp"
#include "render/node/node_render.hpp"
#include "report/json/node_json.hpp"

namespace roofline {
namespace {

/// The selected GPUs, and the reasons why others are not usable.
struct NodeChoice {
  std::vector<DeviceListing> usable;
  std::vector<Unmeasured> unusable;
};

NodeChoice choose_gpus(const DeviceRequest& request) {
  NodeChoice choice;
  std::vector<DeviceListing> gpus = list_devices_isolated({});
  std::erase_if(gpus, [](const DeviceListing& listing) { return listing.info.kind != DeviceKind::cuda; });
  for (const DeviceListing& gpu : gpus) {
    if (!request.all && !contains(request.indices, gpu.info.index)) continue;
    if (gpu.usable) {
      choice.usable.push_back(gpu);
    } else {
      choice.unusable.push_back({device_name(gpu.info.index), gpu.reason});
    }
  }
  if (request.all && choice.usable.empty()) {
    throw DeviceError("no usable GPU: " + (choice.unusable.empty() ? "none found" : choice.unusable.front().reason),
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
        fmt::format("{} is not usable: {}", device_name(*missing),
                    listed != gpus.end() ? listed->reason : fmt::format("{} GPUs found", choice.usable.size())),
        "see: roofline devices");
  }
  return choice;
}

/// True if --only matches any ceiling of a single device; else it matches links.
bool asks_for_ceilings(const std::string& only) {
  const std::vector<const Probe*> probes = all_probes(DeviceKind::cuda);
  return std::any_of(probes.begin(), probes.end(), [&](const Probe* probe) { return is_chosen(only, probe->name); });
}

/// The calibration of a device of which only links are measured.
Machine without_ceilings(const DeviceInfo& device, bool quick) {
  Machine machine;
  machine.device = device;
  machine.measured_at = utc_now();
  machine.tool_version = ROOFLINE_VERSION;
  machine.host = host_description();
  machine.quick = quick;
  return machine;
}

Node measure_node(const NodeChoice& choice, const CalibrateFlags& flags) {
  CalibrateOptions alone = flags.options;
  alone.effort.time_s = {};
  std::vector<int> indices;
  for (const DeviceListing& gpu : choice.usable) indices.push_back(gpu.info.index);
  NodeOptions options = cuda_node_options(indices, alone.effort, alone.only);
  const bool ceilings = asks_for_ceilings(alone.only);
  options.calibrate_alone = [&](int index) {
    const DeviceInfo& info = std::find_if(choice.usable.begin(), choice.usable.end(), [&](const DeviceListing& gpu) {
                               return gpu.info.index == index;
                             })->info;
    if (!ceilings) return without_ceilings(info, alone.effort.quick);
    print_status(fmt::format("device: {} ({}), measured alone", device_name(index), info.name));
    alone.device = {.kind = DeviceKind::cuda, .index = index, .options = {}};
    Machine machine = calibrate_with_progress(alone);
    keep_calibration(machine, flags);
    return machine;
  };
  ProgressLine line;
  options.progress = [&](const Progress& progress) { line.show(progress); };
  // Every process locks in the same order, which avoids deadlocks.
  std::vector<DeviceHold> holds;
  for (const DeviceListing& gpu : choice.usable) holds.push_back(hold_device(gpu.info, !flags.no_wait));
  if (choice.usable.size() > 1)
    print_status(fmt::format("{} GPUs: measuring each alone, then all at once, then their links", indices.size()));
  Node node = calibrate_node(options);
  line.clear();
  node.unmeasured.insert(node.unmeasured.begin(), choice.unusable.begin(), choice.unusable.end());
  return node;
}

/// Stores the node in the cache. False if that failed.
bool keep(const Node& node, const CalibrateFlags& flags) try {
  if (!flags.device.all || flags.options.only != "*") {
    print_status("node not stored: a complete one requires --device all without --only (use -o FILE)");
  } else if (node.machines.empty()) {
    print_status("node not stored: no GPU could be calibrated");
  } else if (keep_node(node)) {
    print_status(fmt::format("node stored as {}", node_path(node.host_name).string()));
  } else {
    print_status("node not stored: a full calibration of it exists");
  }
  return true;
} catch (const UsageError& error) {
  print_status(fmt::format("node not stored: {}", error.what()));
  return false;
}

/// True if a device has no results at all.
bool lost_a_device(const Node& node) {
  return std::any_of(node.unmeasured.begin(), node.unmeasured.end(), whole_device);
}

}  // namespace

ExitCode run_calibrate_node(const CalibrateFlags& flags, const GlobalOptions& global) {
  if (flags.once) throw UsageError("--once requires a single device", "select one: --device cuda:0");
  const Node node = measure_node(choose_gpus(flags.device), flags);
  const bool kept = keep(node, flags);
  show_calibration(
      flags, node_to_json(node), [&] { return render_node_terminal(node, stdout_style(global.color)); },
      render_node_json(node), shared_file_name(node, flags.device.all));
  if (node.cancelled) return ExitCode::cancelled;
  if (!kept && flags.output.empty()) return ExitCode::usage;
  return node.machines.empty() || lost_a_device(node) ? ExitCode::workload_failed : ExitCode::ok;
}

}  // namespace roofline
