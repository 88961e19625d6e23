// roofline analyze: times a suite against the roofs and writes the report row by row.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "analyze/analyze.hpp"
#include "analyze/executed_work.hpp"
#include "analyze/follow.hpp"
#include "analyze/journal.hpp"
#include "analyze/own_kernels.hpp"
#include "cli/answer.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/option_values.hpp"
#include "cli/outputs.hpp"
#include "cli/session.hpp"
#include "cli/suites.hpp"
#include "config/suite.hpp"
#include "host/environment.hpp"
#include "host/file_limits.hpp"
#include "host/files.hpp"
#include "host/output_file.hpp"
#include "host/rendezvous.hpp"
#include "host/world.hpp"
#include "model/error.hpp"
#include "op/layout.hpp"
#include "profile/cpu/emulator.hpp"
#include "profile/cpu/executed_operations.hpp"
#include "render/documents.hpp"
#include "render/render.hpp"
#include "report/comparison/comparison.hpp"
#include "report/json/json.hpp"
#include "report/json/json_value.hpp"
#include "user/kernel_cache.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

struct Flags {
  DeviceRequest device;
  AnalyzeOptions options;
  std::string suite;
  std::string machine;  ///< calibration file; empty: the stored one
  std::string only = "*";
  std::optional<CacheMode> cache;  ///< overrides the suite's
  bool once = false;               ///< run every workload once, for a profiler, without timing
  bool no_experiments = false;
  std::string save;                  ///< name to save the run under; empty: not saved
  std::vector<std::string> against;  ///< names of saved runs to compare with
  std::optional<double> max_slowdown;
  ReportOutput output;
};

void add_options(CommandEntry& command, Flags& flags) {
  AnalyzeOptions& options = flags.options;
  command.add("suite", text("SUITE", flags.suite),
              "Suite file, or an installed suite such as ops, quick, ladder, sweep or llm");
  flags.device.add_to(command);
  command.add("--machine", text("FILE", flags.machine),
              "Calibration file of a machine or node (default: the stored calibration of this device)");
  command.add("--only", text("OP", flags.only), "Run only workloads whose op or label matches this glob");
  flags.output.add_to(command, "reports/<suite>-<device>", timed_format_names());
  command.add("--max-time", seconds(options.sampler.max_time_s, 0.01, 3600),
              "Sampling time per workload (default: 3s), up to three times as long for the first ten samples");
  command.add("--row-limit", seconds(options.row_limit_s, 0, 1e6),
              "Time limit per workload, after which it fails (default: 10min plus ten times --max-time; 0: none)");
  command.add("--cache", one_of(flags.cache, {std::pair("cold", CacheMode::cold), {"hot", CacheMode::hot}}),
              "Override the cache mode of the suite");
  command.add("--raw", flag(options.raw), "Keep all samples in report.json");
  OptionValue counters =
      one_of(options.counters, {std::pair("standard", CounterSet::standard), {"full", CounterSet::full}});
  counters.value_optional = true;
  command.add("--counters", std::move(counters),
              "Also read hardware counters, after the timing; full adds stall reasons");
  command.add(
      "--no-experiments", flag(flags.no_experiments),
      "Do not re-run unexplained CPU rows with other sizes, threads and buffers, and do not count the work that your "
      "own kernels execute (saves 10 s, plus 4 to 8 s per own kernel)");
  command.add("--once", flag(flags.once),
              "Run every workload once without timing; for use under a profiler (ncu --profile-from-start off)");
  command.add("--save", text("NAME", flags.save), "Save this run under a name, for --against");
  command.add("--against", list("NAME", flags.against),
              "Compare with the runs saved under these names; exit status 3 if a kernel got slower");
  command.add("--max-slowdown", percentage(flags.max_slowdown),
              "Slowdown above which --against reports a regression (default: 3%)");
}

/// A name of a saved run becomes a file name.
void check_name(const std::string& name, const char* option) {
  const bool safe = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  });
  if (safe && !name.starts_with('.')) return;
  throw UsageError(fmt::format("{} {}: a name may contain letters, digits, '-', '_' and '.'", option, name));
}

void finish(Flags& flags, GlobalOptions& global) {
  flags.device.finish("analyze");
  flags.output.finish(global);
  check_name(flags.save, "--save");
  for (const std::string& name : flags.against) check_name(name, "--against");
  if (flags.max_slowdown && flags.against.empty()) {
    throw UsageError("--max-slowdown requires --against", "select a saved run with --against");
  }
  if (flags.no_experiments) flags.options.experiments_s = 0;
  flags.options.command = global.argv;
}

/// Samples that a kernel of about a second gets even when its sampling time is over. Six independent ones would be
/// enough for a confidence interval; consecutive samples are correlated.
constexpr std::int64_t kMinSamples = 10;

/// The command's own folder for that suite and device.
fs::path own_folder(const Suite& suite, const SelectedDevice& device) {
  return fs::path("reports") / file_name_of(fmt::format("{}-{}", suite.name, device.info.identity));
}

/// The report.json that is updated after each row; empty if the output has no place for it.
fs::path journal_path(const ReportOutput& output, const fs::path& folder) {
  if (output.to_stdout()) return {};
  if (!output.is_file) return folder / "report.json";
  return output.formats.front()->name == "json" ? fs::path(output.path) : fs::path();
}

/// Path of a saved run: one directory per suite and device.
fs::path saved_path(const std::string& name, const Suite& suite, const SelectedDevice& device) {
  return own_folder(suite, device) / "saved" / (name + ".json");
}

/// The baseline of one saved run or several.
PooledRuns load_saved(const std::vector<std::string>& names, const Suite& suite, const SelectedDevice& device) {
  std::vector<Report> runs;
  for (const std::string& name : names) {
    const fs::path path = saved_path(name, suite, device);
    runs.push_back(parse_report(
        read_file(path, kReportLimit, fmt::format("save a run first: roofline analyze {} --save {}", suite.path, name)),
        path.string()));
  }
  return pool_runs(std::move(runs));
}

/// Compares with the saved runs and prints the comparison.
ExitCode compare_with(const PooledRuns& base, const Report& report, const Flags& flags, const GlobalOptions& global) {
  const PooledRuns now = pool_runs({report});
  const Comparison comparison = comparison_of(base, now, flags.max_slowdown.value_or(kMaxSlowdown));
  const std::string table = render_comparison_terminal(comparison, stdout_style(global.color));
  if (global.answer.json) add_to_answer(comparison_to_json(comparison));
  if (flags.output.to_stdout() || global.answer.json) {
    print_rendered(table);
  } else {
    print_text("\n" + table);
  }
  return print_regressions(comparison, {}, !global.answer.json) ? ExitCode::regression : ExitCode::ok;
}

/// Generous: a large row also prepares inputs and a reference, possibly on a busy machine. A kernel of the suite's own
/// gets at least the limit that the suite gives it.
std::optional<double> row_limit_of(const Flags& flags, const Suite& suite) {
  constexpr double kUsual = 600, kTimesSampling = 10;
  const AnalyzeOptions& options = flags.options;
  if (options.row_limit_s) return *options.row_limit_s > 0 ? options.row_limit_s : std::nullopt;
  double limit = kUsual + kTimesSampling * options.sampler.max_time_s;
  for (const SuiteEntry& entry : suite.entries) limit = std::max(limit, entry.time_limit_s().value_or(0));
  return limit;
}

ExitCode run_once(const Suite& suite, const DeviceChoice& choice) {
  auto list = nlohmann::ordered_json::array();
  bool failed = false;
  for (const ProfiledRun& run : run_suite_once(suite, choice)) {
    list.push_back({{"label", run.label},
                    {"implementation", run.implementation},
                    {"kernels", run.kernels},
                    {"skipped", run.skipped},
                    {"failure", run.failure}});
    failed |= !run.skipped && !run.failure.empty();
  }
  print_result(
      [&] {
        return nlohmann::ordered_json{{"schema", "roofline.runs/1"}, {"runs", list}};
      },
      [&] { return to_json_text(list); });
  return failed ? ExitCode::workload_failed : ExitCode::ok;
}

/// The other processes that a launcher has started and that share the directory ROOFLINE_RENDEZVOUS; null if there are
/// none.
std::shared_ptr<Rendezvous> find_ranks() {
  const char* const folder = std::getenv("ROOFLINE_RENDEZVOUS");
  if (folder == nullptr || *folder == '\0') return nullptr;
  const std::optional<World> world = world_of([](const char* name) { return std::getenv(name); });
  if (!world) {
    throw UsageError("ROOFLINE_RENDEZVOUS is set, but no launcher started this process",
                     "start one process per GPU with mpirun, srun or torchrun, or unset it");
  }
  return world->size > 1 ? std::make_shared<Rendezvous>(folder, *world) : nullptr;
}

/// Each process of a node uses a GPU of its own, unless its launcher makes only one visible.
DeviceRequest request_of_rank(DeviceRequest request, const World& world) {
  if (request.kind == DeviceKind::cpu) {
    throw UsageError("ROOFLINE_RENDEZVOUS requires a GPU for each process",
                     "use --device cuda, or unset ROOFLINE_RENDEZVOUS");
  }
  if (request.kind) return request;
  const std::vector<DeviceListing> listings = list_devices_isolated({});
  const auto gpus = std::count_if(listings.begin(), listings.end(), [](const DeviceListing& listing) {
    return listing.info.kind == DeviceKind::cuda && listing.usable;
  });
  request.kind = DeviceKind::cuda;
  request.index = gpus > 0 ? world.local_rank % static_cast<int>(gpus) : 0;
  return request;
}

/// Tells the other ranks that rank 0 has finished or failed, so that they stop waiting.
class EndOthers {
 public:
  explicit EndOthers(std::shared_ptr<Rendezvous> together) : together_(std::move(together)) {}
  ~EndOthers() {
    if (!together_) return;
    try {
      together_->end();
    } catch (const std::exception&) {
      // The directory is gone; the other ranks detect that themselves.
    }
  }
  EndOthers(const EndOthers&) = delete;
  EndOthers& operator=(const EndOthers&) = delete;

 private:
  std::shared_ptr<Rendezvous> together_;
};

/// How own kernels' operations are counted on a CPU whose counters are not read; empty without the tool for it.
CountOperations count_operations_of(const Flags& flags) {
  constexpr double kLimitS = 30;
  const std::filesystem::path tool = find_count_tool().tool;
  if (tool.empty() || flags.no_experiments) return {};
  return [tool](const EmulatedCode& code) {
    return count_operations(tool, code.command, code.environment, code.module, kLimitS);
  };
}

ExitCode run(Flags& flags, const GlobalOptions& global) {
  const bool to_stdout = flags.output.to_stdout();
  const std::shared_ptr<Rendezvous> together = find_ranks();
  const SelectedDevice device =
      choose_device(together ? request_of_rank(flags.device, together->world()) : flags.device);
  // Report every mistake in the request before measuring anything.
  Suite suite = load_for(device.info.kind, flags.suite, flags.only, flags.cache);
  if (const std::string shape = environment_variable(kShapeVariable); flags.once && !shape.empty())
    take_shape(suite, shape);
  require_memory(suite,
                 {.bytes = device.last_level_cache_bytes,
                  .device = device.info.kind,
                  .free_memory_bytes = device.free_memory_bytes},
                 device.free_memory_bytes);
  ProgressLine line;
  compile_own_kernels(suite, device.info.isa, [&](std::size_t done) {
    line.show({static_cast<std::int64_t>(done), 0, "compiling kernels", std::nullopt});
  });
  if (const std::string problem = kernel_cache_problem(); !problem.empty()) {
    warn(fmt::format("compiled kernels are not kept: {}", problem));
    print_status(
        "to keep them, remove other users' write access from that folder, or set XDG_CACHE_HOME to one of your own");
  }
  if (together && !together->leads()) {
    const World& world = together->world();
    print_status(
        fmt::format("rank {} of {} (started by {}): rank 0 writes the report", world.rank, world.size, world.launcher));
    follow(suite, device.choice, together);
    return ExitCode::ok;
  }
  const EndOthers end_for_all(together);
  if (flags.once) return run_once(suite, device.choice);
  const fs::path folder = flags.output.folder(own_folder(suite, device));
  std::optional<PooledRuns> base;
  if (!flags.against.empty()) base = load_saved(flags.against, suite, device);
  // Read a calibration file before creating a directory; a new calibration, which takes a minute, comes afterwards.
  AnalyzeOptions& analysis = flags.options;
  std::optional<Machine> machine;
  if (!flags.machine.empty()) machine = machine_for(device, flags.machine, analysis.notes);
  if (!flags.save.empty()) {
    const fs::path path = saved_path(flags.save, suite, device);
    require_output(path, "choose another name for --save");
    require_writable_folder(path.parent_path());
  }
  const fs::path kept = journal_path(flags.output, folder);
  if (!to_stdout) {
    if (!kept.empty()) require_output(kept);
    require_outputs(flags.output, folder);
    require_writable_folder(folder);
  }

  if (!machine) machine = machine_for(device, {}, analysis.notes);
  if (machine->cancelled && flags.machine.empty()) return ExitCode::cancelled;
  if (!together) remove_without_pipe(suite, *machine);  // the other ranks, which run the same list, know no ceilings

  analysis.device = device.choice;
  analysis.together = together;
  analysis.sampler.least_samples = kMinSamples;
  analysis.row_limit_s = row_limit_of(flags, suite);
  analysis.count_operations = count_operations_of(flags);
  analysis.progress = [&](const Progress& progress) { line.show(progress); };
  Journal journal(kept);
  const MeasuringLock measuring(device.info);
  std::optional<pid_t> calibration = measuring.holder();
  analysis.on_row = [&](const Report& so_far) {
    if (!calibration) calibration = measuring.holder();
    journal.add_rows(so_far);
  };
  Report report = analyze(suite, *machine, analysis);
  line.clear();
  if (calibration) {
    report.notes.push_back(
        fmt::format("A calibration of the same device ran at the same time (pid {}): times may be too long",
                    *calibration == 0 ? "unknown" : std::to_string(*calibration)));
    warn(report.notes.back());
  }

  if (to_stdout) {
    print_format(report, flags.output);
  } else {
    journal.finish(report);
    const std::vector<fs::path> paths = write_outputs(report, flags.output, folder, kept);
    print_runs(report, flags.output, global.color);
    print_written(paths);
  }
  if (!flags.save.empty() && !report.cancelled) {
    const fs::path path = saved_path(flags.save, suite, device);
    write_output(path, render_json(report));
    print_written({path});
  }
  const ExitCode outcome = exit_code_of(report);
  if (!base || report.cancelled) return outcome;
  const ExitCode compared = compare_with(*base, report, flags, global);
  return outcome == ExitCode::ok ? compared : outcome;
}

}  // namespace

CommandEntry analyze_command() {
  return CommandRow<Flags>{"analyze", "Time a suite of workloads against the roofs", add_options, run, finish};
}

}  // namespace roofline
