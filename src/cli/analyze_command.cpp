// roofline analyze: a suite under the roofs, written to disk row by row.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "analyze/analyze.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/outputs.hpp"
#include "cli/session.hpp"
#include "config/suite.hpp"
#include "model/error.hpp"
#include "report/files.hpp"
#include "report/render.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

Suite load(const AnalyzeCommand& command, const SelectedDevice& device) {
  Suite suite = load_suite(command.suite, device.info.kind);
  if (command.only != "*") keep_only(suite, command.only);
  if (command.cache) {
    for (SuiteEntry& entry : suite.entries) {
      entry.workload.cache = *command.cache == "hot" ? CacheMode::hot : CacheMode::cold;
    }
  }
  require_memory(suite, device.last_level_cache_bytes, device.free_memory_bytes);
  return suite;
}

fs::path output_folder(const AnalyzeCommand& command, const Suite& suite, const SelectedDevice& device) {
  if (!command.output.empty()) return command.output;
  return fs::path("reports") / fmt::format("{}-{}", suite.name, device.info.identity);
}

void print_paths(const std::vector<fs::path>& paths) {
  for (const fs::path& path : paths) say(fmt::format("wrote {}", path.string()));
}

/// The report, with what only the command knows: how it was called, and what it noticed before the first row.
Report completed(Report report, const Options& options, const std::vector<std::string>& notes) {
  report.invocation.command = options.argv;
  report.notes.insert(report.notes.begin(), notes.begin(), notes.end());
  return report;
}

}  // namespace

ExitCode run_analyze(const AnalyzeCommand& command, const Options& options) {
  const bool to_stdout = command.output == "-";
  const SelectedDevice device = choose_device(command.device);
  // Everything that can be wrong with the request is found before anything is measured.
  const Suite suite = load(command, device);
  const fs::path folder = output_folder(command, suite, device);
  if (!to_stdout) require_writable_folder(folder);

  std::vector<std::string> notes;
  const Machine machine = machine_for(device, command.machine, notes);
  if (machine.cancelled && command.machine.empty()) return ExitCode::cancelled;

  AnalyzeOptions analysis;
  analysis.device = device.choice;
  analysis.sampler.max_time_s = command.max_time_s;
  analysis.raw = command.raw;
  ProgressLine line;
  analysis.progress = [&](const Progress& progress) { line.show(progress); };
  analysis.on_row = [&](const Report& so_far) {
    if (!to_stdout) write_file(folder / "report.json", render_json(completed(so_far, options, notes)));
  };
  const Report report = completed(analyze(suite, machine, analysis), options, notes);
  line.clear();

  if (to_stdout) {
    print_result(render(report, command.formats.front()));
  } else {
    const std::vector<fs::path> paths = write_outputs(report, command.formats, folder);
    print_result(render_terminal(report, stdout_style(options.color)));
    print_paths(paths);
  }
  return exit_code_of(report);
}

}  // namespace roofline
