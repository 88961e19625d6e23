#include "cli/imported_run.hpp"

#include <fmt/format.h>

#include <ctime>
#include <filesystem>

#include "calibrate/machine_store.hpp"
#include "cli/console.hpp"
#include "host/file_limits.hpp"
#include "host/files.hpp"
#include "import/import.hpp"
#include "import/roofs.hpp"
#include "report/json/node_json.hpp"
#include "text/format.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

/// The machine of that name in these calibration files, else the first file's.
Machine from_files(const std::vector<std::string>& files, const std::string& name) {
  DeviceInfo wanted;
  wanted.name = name;
  std::optional<Machine> first;
  for (const std::string& file : files) {
    Machine machine = parse_machine_of(wanted, read_file(file, kReportLimit), file);
    if (machine.device.name == name) return machine;
    if (!first) first = std::move(machine);
  }
  return std::move(*first);
}

/// The stored calibration of the same GPU model, else data-sheet limits.
Machine stored_or_data_sheet(const DeviceFacts& device) {
  std::optional<Machine> kept = device.name.empty() ? std::nullopt : find_machine_named(device.name);
  if (!kept) return data_sheet_machine(device);
  print_status(fmt::format("roofs: {} ({})", machine_path(kept->device.identity).string(),
                           age_of(kept->measured_at, std::time(nullptr))));
  return std::move(*kept);
}

/// The roofs: from --machine, else those that a file has, else stored, else of data sheets; each GPU model has its own.
/// Files that name no model of the program have been chosen on purpose: all kernels are under the first one's roofs.
ImportRoofs roofs_of(const std::vector<ImportedProfile>& profiles, const std::vector<std::string>& machines,
                     std::vector<std::string>& notes) {
  const DeviceFacts device = device_of(profiles);
  const Machine* const measured = roofs_in(profiles);
  if (measured != nullptr && machines.empty()) return {.machine = *measured};
  ImportRoofs roofs{.machine = machines.empty() ? stored_or_data_sheet(device) : from_files(machines, device.name)};
  const bool chosen = !device.name.empty() && roofs.machine.device.name != device.name;
  if (chosen && !machines.empty()) {
    notes.push_back(
        fmt::format("the roofs are those of {}, but the program ran on {}", roofs.machine.device.name, device.name));
    return roofs;
  }
  for (const DeviceFacts& other : other_models(profiles, device.name)) {
    Machine machine = machines.empty() ? Machine{} : from_files(machines, other.name);
    if (machine.device.name != other.name) machine = stored_or_data_sheet(other);
    roofs.others.push_back(std::move(machine));
  }
  return roofs;
}

}  // namespace

ImportedRun import_run(const std::vector<std::string>& files, const std::vector<std::string>& machines,
                       const std::vector<std::string>& command) {
  std::vector<ImportedProfile> profiles;
  for (const std::string& file : files) {
    constexpr double kLarge = 64e6;  // bytes, a second or more
    std::error_code ignored;
    const auto size = fs::file_size(file, ignored);
    if (!ignored && static_cast<double>(size) > kLarge) {
      print_status(fmt::format("reading {}: {}", file, si(static_cast<double>(size), "B")));
    }
    profiles.push_back(read_profile_file(file));
  }
  ImportedRun run;
  std::vector<std::string> notes;
  const ImportRoofs roofs = roofs_of(profiles, machines, notes);
  run.report = report_of_imports(std::move(profiles), roofs, command, run.joined);
  run.report.notes.insert(run.report.notes.begin(), notes.begin(), notes.end());
  if (std::string warning = about_roofs(roofs.machine); !warning.empty()) run.about_roofs.push_back(std::move(warning));
  run.about_roofs.insert(run.about_roofs.end(), notes.begin(), notes.end());
  return run;
}

}  // namespace roofline
