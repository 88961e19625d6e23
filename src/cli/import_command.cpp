// roofline import: reads profiles of other tools and places their kernels under the roofs. Measures nothing.
#include <fmt/format.h>

#include <ctime>
#include <filesystem>

#include "calibrate/machine_store.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/option_values.hpp"
#include "cli/outputs.hpp"
#include "host/file_limits.hpp"
#include "host/files.hpp"
#include "host/interrupt.hpp"
#include "import/import.hpp"
#include "import/roofs.hpp"
#include "report/json/node_json.hpp"
#include "text/format.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

struct Flags {
  std::vector<std::string> files;     ///< of other tools; several are merged
  std::vector<std::string> machines;  ///< calibration files; empty: the stored ones of the same GPU models
  ReportOutput output;
};

void add_options(CommandEntry& command, Flags& flags) {
  command.add(
      "files", words("FILE", flags.files),
      "ncu: .ncu-rep, .ncu-repz or CSV of --page raw; nsys: export --type sqlite; torch.profiler and Proton: "
      ".json or .json.gz; also nsys stats, nvbench, Google Benchmark, trtexec, rocprofv3, rocprof-compute, likwid, "
      "ERT and JAX (docs/import.md). "
      "Several files of one program are merged");
  command.add("--machine", list("FILE", flags.machines),
              "Calibration file, or several with commas for GPUs of several models (default: the stored ones)");
  flags.output.add_to(command, "reports/<file>");
}

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
ImportRoofs roofs_of(const Flags& flags, const std::vector<ImportedProfile>& profiles,
                     std::vector<std::string>& notes) {
  const DeviceFacts device = device_of(profiles);
  const Machine* const measured = roofs_in(profiles);
  if (measured != nullptr && flags.machines.empty()) return {.machine = *measured};
  ImportRoofs roofs{.machine = flags.machines.empty() ? stored_or_data_sheet(device)
                                                      : from_files(flags.machines, device.name)};
  const bool chosen = !device.name.empty() && roofs.machine.device.name != device.name;
  if (chosen && !flags.machines.empty()) {
    notes.push_back(
        fmt::format("the roofs are those of {}, but the program ran on {}", roofs.machine.device.name, device.name));
    return roofs;
  }
  for (const DeviceFacts& other : other_models(profiles, device.name)) {
    Machine machine = flags.machines.empty() ? Machine{} : from_files(flags.machines, other.name);
    if (machine.device.name != other.name) machine = stored_or_data_sheet(other);
    roofs.others.push_back(std::move(machine));
  }
  return roofs;
}

ExitCode run(Flags& flags, const GlobalOptions& global) {
  end_at_interrupts();
  std::vector<ImportedProfile> profiles;
  for (const std::string& file : flags.files) {
    constexpr double kLarge = 64e6;  // bytes, a second or more
    std::error_code ignored;
    const auto size = fs::file_size(file, ignored);
    if (!ignored && static_cast<double>(size) > kLarge) {
      print_status(fmt::format("reading {}: {}", file, si(static_cast<double>(size), "B")));
    }
    profiles.push_back(read_profile_file(file));
  }
  std::vector<std::string> notes, joined;
  const ImportRoofs roofs = roofs_of(flags, profiles, notes);
  Report report = report_of_imports(std::move(profiles), roofs, global.argv, joined);
  report.notes.insert(report.notes.begin(), notes.begin(), notes.end());
  for (const std::string& sentence : joined) print_status("joined: " + sentence);
  if (flags.output.to_stdout()) {  // the terminal's report has them
    if (const std::string warning = about_roofs(roofs.machine); !warning.empty()) warn(warning);
    for (const std::string& note : notes) warn(note);
    print_format(report, flags.output);
    return ExitCode::ok;
  }
  const std::vector<fs::path> paths = write_outputs(
      report, flags.output, flags.output.folder(fs::path("reports") / file_name_of(report.invocation.run_name)));
  print_runs(report, flags.output, global.color);
  print_written(paths);
  return ExitCode::ok;
}

}  // namespace

CommandEntry import_command() {
  return CommandRow<Flags>{"import",
                           "Place kernels recorded by ncu, nsys, torch.profiler or Triton Proton under the roofs",
                           add_options, run, [](Flags& flags, GlobalOptions& global) { flags.output.finish(global); }};
}

}  // namespace roofline
