// roofline analyze: a suite under the roofs, written to disk row by row.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "analyze/analyze.hpp"
#include "analyze/follow.hpp"
#include "analyze/journal.hpp"
#include "analyze/own_kernels.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/outputs.hpp"
#include "cli/session.hpp"
#include "cli/suites.hpp"
#include "config/suite.hpp"
#include "host/file_limits.hpp"
#include "host/rendezvous.hpp"
#include "host/world.hpp"
#include "model/error.hpp"
#include "op/layout.hpp"
#include "render/render.hpp"
#include "report/comparison/comparison.hpp"
#include "report/json/json.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

/// What a product of a second each gets though its sampling time is over: six would do for an interval if none was like
/// the one before it.
constexpr std::int64_t kSamplesOfAnInterval = 10;

Suite load(const AnalyzeCommand& command, const SelectedDevice& device) {
  Suite suite = load_suite(find_suite(command.suite, own_suites()), device.info.kind);
  if (command.only != "*") keep_only(suite, command.only);
  if (command.cache) {
    for (SuiteEntry& entry : suite.entries) {
      entry.workload.cache = *command.cache == "hot" ? CacheMode::hot : CacheMode::cold;
    }
  }
  require_memory(suite,
                 {.bytes = device.last_level_cache_bytes,
                  .device = device.info.kind,
                  .free_memory_bytes = device.free_memory_bytes},
                 device.free_memory_bytes);
  return suite;
}

fs::path output_folder(const AnalyzeCommand& command, const Suite& suite, const SelectedDevice& device) {
  if (command.output.is_file) return fs::absolute(command.output.path).parent_path();
  if (!command.output.path.empty()) return command.output.path;
  return fs::path("reports") / fmt::format("{}-{}", suite.name, device.info.identity);
}

/// The JSON that is kept up to date while rows come in; empty where the request has no place for it.
fs::path journal_path(const OutputRequest& output, const fs::path& folder) {
  if (output.to_stdout()) return {};
  if (!output.is_file) return folder / "report.json";
  return output.formats.front()->name == "json" ? fs::path(output.path) : fs::path();
}

/// Where a run is kept by its name: with the suite and the device that it is of.
fs::path saved_path(const std::string& name, const Suite& suite, const SelectedDevice& device) {
  return fs::path("reports") / fmt::format("{}-{}", suite.name, device.info.identity) / "saved" / (name + ".json");
}

Report load_saved(const std::string& name, const Suite& suite, const SelectedDevice& device) {
  const fs::path path = saved_path(name, suite, device);
  return parse_report(read_file(path, kReportLimit,
                                fmt::format("a run is kept there by: roofline analyze {} --save {}", suite.path, name)),
                      path.string());
}

/// What changed since the run that is kept by that name.
ExitCode compare_with(const Report& base, const Report& now, const AnalyzeCommand& command, const TerminalStyle& style,
                      bool json) {
  const Comparison comparison = comparison_of(base, now, command.max_slowdown);
  const std::string table = render_comparison_terminal(comparison, style);
  if (json) answer_beside(render_comparison_json(comparison));
  if (command.output.to_stdout() || json) {
    say(table);
  } else {
    print_result("\n" + table);
  }
  const std::string regressions = regression_line(comparison);
  if (regressions.empty()) return ExitCode::ok;
  say_problem({"regression", regressions, {}});
  return ExitCode::regression;
}

/// Generous, for the inputs and the reference of a large row take their time as well, on a machine that is busy too.
/// What a suite allows a kernel of its own, it gets.
std::optional<double> row_limit_of(const AnalyzeCommand& command, const Suite& suite) {
  constexpr double kUsual = 600, kTimesSampling = 10;
  if (command.row_limit_s) return *command.row_limit_s > 0 ? command.row_limit_s : std::nullopt;
  double limit = kUsual + kTimesSampling * command.max_time_s;
  for (const SuiteEntry& entry : suite.entries) limit = std::max(limit, entry.time_limit_s().value_or(0));
  return limit;
}

ExitCode run_once(const Suite& suite, const DeviceChoice& choice, bool json) {
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
  nlohmann::ordered_json document = {{"schema", "roofline.runs/1"}, {"runs", list}};
  print_result((json ? document : list).dump(2) + "\n");
  return failed ? ExitCode::workload_failed : ExitCode::ok;
}

/// The processes that a launcher has started beside this one and that are to work together: where a folder is named in
/// which they can find each other. Null where there are none.
std::shared_ptr<Rendezvous> find_others() {
  const char* const folder = std::getenv("ROOFLINE_RENDEZVOUS");
  if (folder == nullptr || *folder == '\0') return nullptr;
  const std::optional<World> world = world_of([](const char* name) { return std::getenv(name); });
  if (!world) {
    throw UsageError("ROOFLINE_RENDEZVOUS is set, and no launcher has started this process",
                     "start several with mpirun, srun or torchrun, one for each GPU; or unset it");
  }
  return world->size > 1 ? std::make_shared<Rendezvous>(folder, *world) : nullptr;
}

/// Of several processes on a node each has a GPU of its own, unless its launcher shows it no more than one.
DeviceRequest request_of_rank(DeviceRequest request, const World& world) {
  if (request.kind == DeviceKind::cpu) {
    throw UsageError("the ranks of several processes are GPUs", "unset ROOFLINE_RENDEZVOUS, or use --device cuda");
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

/// When rank 0 is through, or has failed, the others need not wait.
class EndForAll {
 public:
  explicit EndForAll(std::shared_ptr<Rendezvous> together) : together_(std::move(together)) {}
  ~EndForAll() {
    if (!together_) return;
    try {
      together_->end();
    } catch (const std::exception&) {
      // A folder that is gone: they will find that out.
    }
  }
  EndForAll(const EndForAll&) = delete;
  EndForAll& operator=(const EndForAll&) = delete;

 private:
  std::shared_ptr<Rendezvous> together_;
};

}  // namespace

ExitCode run_analyze(const AnalyzeCommand& command, const Options& options) {
  const bool to_stdout = command.output.to_stdout();
  const std::shared_ptr<Rendezvous> together = find_others();
  const SelectedDevice device =
      choose_device(together ? request_of_rank(command.device, together->world()) : command.device);
  // Everything that can be wrong with the request is found before anything is measured.
  const Suite suite = load(command, device);
  ProgressLine line;
  compile_own_kernels(suite, device.info.isa, [&](std::size_t done) {
    line.show({static_cast<std::int64_t>(done), 0, "compiling kernels", std::nullopt});
  });
  if (together && !together->leads()) {
    const World& world = together->world();
    say(fmt::format("rank {} of {}, started by {}: rank 0 writes the report", world.rank, world.size, world.launcher));
    follow(suite, device.choice, together);
    return ExitCode::ok;
  }
  const EndForAll end_for_all(together);
  if (command.once) return run_once(suite, device.choice, options.answer.json);
  const fs::path folder = output_folder(command, suite, device);
  std::optional<Report> base;
  if (!command.against.empty()) base = load_saved(command.against, suite, device);
  // A machine file that is named is read before a folder is made; a calibration, which takes a minute, comes after.
  AnalyzeOptions analysis;
  std::optional<Machine> machine;
  if (!command.machine.empty()) machine = machine_for(device, command.machine, analysis.notes);
  if (!command.save.empty()) require_writable_folder(saved_path(command.save, suite, device).parent_path());
  if (!to_stdout) require_writable_folder(folder);

  if (!machine) machine = machine_for(device, {}, analysis.notes);
  if (machine->cancelled && command.machine.empty()) return ExitCode::cancelled;

  analysis.command = options.argv;
  analysis.device = device.choice;
  analysis.together = together;
  analysis.sampler.max_time_s = command.max_time_s;
  analysis.sampler.least_samples = kSamplesOfAnInterval;
  analysis.row_limit_s = row_limit_of(command, suite);
  analysis.raw = command.raw;
  analysis.counters = command.counters;
  analysis.progress = [&](const Progress& progress) { line.show(progress); };
  const fs::path kept = journal_path(command.output, folder);
  Journal journal(kept);
  const MeasuringLock measuring(device.info);
  std::optional<std::string> calibration = measuring.holder();
  analysis.on_row = [&](const Report& so_far) {
    if (!calibration) calibration = measuring.holder();
    journal.add_rows(so_far);
  };
  Report report = analyze(suite, *machine, analysis);
  line.clear();
  if (calibration) {
    report.notes.push_back(fmt::format(
        "A calibration of the same device ran beside this (pid {}): times may be longer than they are alone",
        *calibration));
    warn(report.notes.back());
  }

  if (to_stdout) {
    print_result(render(report, *command.output.formats.front(), command.chart));
  } else {
    journal.finish(report);
    const std::vector<fs::path> paths = write_outputs(report, command.output, command.chart, folder, kept);
    const TerminalStyle style = stdout_style(options.color);
    print_report(report, style, command.plot, options.answer.json);
    say_written(paths);
  }
  if (!command.save.empty() && !report.cancelled) {
    const fs::path path = saved_path(command.save, suite, device);
    write_file(path, render_json(report));
    say_written({path});
  }
  const ExitCode outcome = exit_code_of(report);
  if (!base || report.cancelled) return outcome;
  const ExitCode compared = compare_with(*base, report, command, stdout_style(options.color), options.answer.json);
  return outcome == ExitCode::ok ? compared : outcome;
}

}  // namespace roofline
