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
#include "render/render.hpp"
#include "report/json/node_json.hpp"
#include "text/format.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

struct Flags {
  std::vector<std::string> files;  ///< of other tools; several are merged
  std::string machine;             ///< calibration file; empty: the stored one of the same GPU model
  ReportOutput output;
};

void add_options(CommandEntry& command, Flags& flags) {
  command.add(
      "files", words("FILE", flags.files),
      "ncu: .ncu-rep, .ncu-repz or CSV of --page raw; nsys: export --type sqlite; torch.profiler and Proton: "
      ".json or .json.gz; also nsys stats, nvbench, Google Benchmark, trtexec, rocprofv3, rocprof-compute, likwid, "
      "ERT and JAX (docs/import.md). "
      "Several files of one program are merged");
  command.add("--machine", text("FILE", flags.machine),
              "Calibration file (default: the stored calibration of the same GPU model)");
  flags.output.add_to(command, "reports/<file>");
}

/// The roofs: from --machine, else those that a file has, else the stored calibration of the same GPU model, else
/// data-sheet limits.
Machine machine_of(const Flags& flags, const std::vector<ImportedProfile>& profiles, std::vector<std::string>& notes) {
  const DeviceFacts device = device_of(profiles);
  if (!flags.machine.empty()) {
    DeviceInfo wanted;
    wanted.name = device.name;
    Machine machine = parse_machine_of(wanted, read_file(flags.machine, kReportLimit), flags.machine);
    if (!device.name.empty() && machine.device.name != device.name) {
      notes.push_back(
          fmt::format("the roofs are those of {}, but the program ran on {}", machine.device.name, device.name));
    }
    return machine;
  }
  if (const Machine* const measured = roofs_in(profiles)) return *measured;
  if (std::optional<Machine> kept = device.name.empty() ? std::nullopt : find_machine_named(device.name)) {
    print_status(fmt::format("roofs: {} ({})", machine_path(kept->device.identity).string(),
                             age_of(kept->measured_at, std::time(nullptr))));
    return *kept;
  }
  return data_sheet_machine(device);
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
  const Machine machine = machine_of(flags, profiles, notes);
  Report report = report_of_imports(std::move(profiles), machine, global.argv, joined);
  report.notes.insert(report.notes.begin(), notes.begin(), notes.end());
  if (const std::string warning = about_roofs(machine); !warning.empty()) warn(warning);
  for (const std::string& note : notes) warn(note);
  for (const std::string& sentence : joined) print_status("joined: " + sentence);
  if (flags.output.to_stdout()) {
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
