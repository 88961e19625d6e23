// Device selection and calibration lookup for calibrate, analyze, profile and machine, and their first lines on stderr.
#include "cli/session.hpp"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <thread>

#include "calibrate/history.hpp"
#include "calibrate/machine_store.hpp"
#include "cli/console.hpp"
#include "device/cpu/isa.hpp"
#include "host/file_limits.hpp"
#include "host/files.hpp"
#include "host/interrupt.hpp"
#include "import/roofs.hpp"
#include "model/error.hpp"
#include "report/json/node_json.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

std::string name_of(const SelectedDevice& device) {
  const DeviceInfo& info = device.info;
  if (info.kind == DeviceKind::cuda) return fmt::format("{} ({})", device_word(info), info.name);
  return fmt::format("{} ({}, {} thread{}, {})", device_word(info), info.name, info.units, info.units == 1 ? "" : "s",
                     info.isa);
}

Machine read_machine(const SelectedDevice& device, const std::string& file) {
  Machine machine = parse_machine_of(device.info, read_file(file, kReportLimit), file);
  if (machine.device.kind != device.info.kind) {
    throw UsageError(fmt::format("{} is a calibration of a {} device ({}), not of {}", file,
                                 to_string(machine.device.kind), machine.device.name, name_of(device)),
                     "select the device with --device");
  }
  return machine;
}

void note(std::vector<std::string>& notes, const std::string& text) {
  warn(text);
  notes.push_back(text);
}

/// The stored calibration of a device. Notes how it may be stale.
std::optional<Machine> stored_calibration(const SelectedDevice& device, std::vector<std::string>& notes) {
  std::optional<Machine> kept = find_machine(device.info.identity, print_status);
  if (!kept) return std::nullopt;
  print_status(fmt::format("roofs: {} ({})", machine_path(device.info.identity).string(),
                           age_of(kept->measured_at, std::time(nullptr))));
  for (const std::string& reason : staleness(*kept, device.info, ROOFLINE_VERSION)) {
    note(notes, fmt::format("the calibration may be stale: {}; run `roofline calibrate` to renew it", reason));
  }
  return kept;
}

/// Errors in the history do not affect the new calibration.
void compare_with_stored(Machine& machine) try {
  const std::optional<Machine> kept = kept_machine(machine.device.identity);
  if (!kept) return;
  compare_with_history(machine, *kept, std::time(nullptr));
  if (const std::string slow = was_slow(machine, *kept); !slow.empty()) warn(clean_line(slow));
  keep_earlier_ceilings(machine, *kept);
} catch (const UsageError&) {
}

}  // namespace

SelectedDevice choose_device(const DeviceRequest& request) {
  SelectedDevice device =
      select_device(request.kind, request.index, DeviceOptions{.threads = request.threads, .cpus = request.cpus});
  print_status(fmt::format("device: {}: {}", name_of(device), device.why));
  const std::string lacking = lacking_levels(cpu_isa(), kHighestIsa);
  if (device.info.kind == DeviceKind::cpu && !lacking.empty()) warn("this build has " + lacking);
  return device;
}

DeviceHold hold_device(const DeviceInfo& device, bool wait) {
  using namespace std::chrono_literals;
  DeviceHold hold{.lock = MeasuringLock(device)};
  if (!hold.lock.problem().empty()) warn(clean_line(hold.lock.problem()));
  const auto taken = [&] { return hold.lock.take() || interrupted(); };
  if (taken()) return hold;
  const pid_t holder = hold.lock.holder().value_or(0);
  // Who does not write his pid may be no calibration.
  const std::string who = holder == 0
                              ? fmt::format("an unknown process holds {}", clean_line(hold.lock.path().string()))
                              : fmt::format("another process is calibrating {} (pid {})", device_word(device), holder);
  if (!wait) {
    warn(who + ": both measure lower values");
    return hold;
  }
  print_status(who + ": waiting");
  hold.waited = true;
  while (!taken()) std::this_thread::sleep_for(200ms);
  return hold;
}

Machine calibrate_with_progress(CalibrateOptions options) {
  ProgressLine line;
  options.progress = [&](const Progress& progress) { line.show(progress); };
  Machine machine = calibrate(options);
  line.clear();
  compare_with_stored(machine);
  std::vector<NamedContention> roofs;
  for (const Ceiling& ceiling : machine.ceilings) {
    if (ceiling.contention && ceiling.role == Role::roof) roofs.push_back({ceiling.name, *ceiling.contention});
  }
  if (!roofs.empty()) warn(summarise(roofs, "ceiling"));
  return machine;
}

Machine machine_for(const SelectedDevice& device, const std::string& file, std::vector<std::string>& notes) {
  if (!file.empty()) {
    Machine machine = read_machine(device, file);
    if (machine.device.identity != device.info.identity) {
      note(notes, fmt::format("{} was measured on another device ({})", file, machine.device.identity));
    }
    return machine;
  }
  if (std::optional<Machine> kept = stored_calibration(device, notes)) return *kept;
  print_status("roofs: no stored calibration of this device; calibrating now");
  const DeviceHold hold = hold_device(device.info);
  if (hold.waited) {
    if (std::optional<Machine> kept = stored_calibration(device, notes)) return *kept;
  }
  CalibrateOptions options;
  options.device = device.choice;
  Machine machine = calibrate_with_progress(std::move(options));
  if (machine.ceilings.empty()) return machine;
  try {
    keep_machine(machine);
  } catch (const UsageError& error) {
    // The calibration is still valid for this run.
    warn(fmt::format("calibration not stored: {}", error.what()));
  }
  return machine;
}

Machine named_machine(const std::string& name, const std::string& option) {
  std::error_code ignored;
  if (std::filesystem::exists(name, ignored)) return parse_machine_of({}, read_file(name, kReportLimit), name);
  Machine machine = machine_of_data_sheet(name == lower_case(name) ? upper_case(name) : name);  // h100
  if (machine.ceilings.empty()) {
    throw UsageError(
        fmt::format("{} {}: neither a file nor a GPU with a known data sheet", option, name),
        fmt::format("name the machine.json of roofline calibrate, or one of: {}", fmt::join(data_sheet_names(), ", ")));
  }
  return machine;
}

}  // namespace roofline
