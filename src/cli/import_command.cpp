// roofline import: reads profiles of other tools and places their kernels under the roofs. Measures nothing.
#include <filesystem>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/imported_run.hpp"
#include "cli/option_values.hpp"
#include "cli/outputs.hpp"
#include "host/files.hpp"
#include "host/interrupt.hpp"

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

ExitCode run(Flags& flags, const GlobalOptions& global) {
  end_at_interrupts();
  const ImportedRun imported = import_run(flags.files, flags.machines, global.argv);
  const Report& report = imported.report;
  for (const std::string& sentence : imported.joined) print_status("joined: " + sentence);
  if (flags.output.to_stdout()) {  // the terminal's report has them
    for (const std::string& note : imported.about_roofs) warn(note);
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
