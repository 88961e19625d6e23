// roofline profile: runs a program and reports on its kernels. stdout belongs to the program; the report goes to
// stderr.
#include "profile/profile.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "calibrate/machine_store.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/option_values.hpp"
#include "cli/outputs.hpp"
#include "cli/session.hpp"
#include "host/file_limits.hpp"
#include "host/files.hpp"
#include "host/world.hpp"
#include "model/error.hpp"
#include "profile/cpu/emulator.hpp"
#include "profile/cpu/loop_remarks.hpp"
#include "render/render.hpp"
#include "report/json/json.hpp"
#include "report/json/node_json.hpp"
#include "report/profile_findings.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

struct Flags {
  DeviceRequest device;
  ProfileOptions options;
  std::string remarks;   ///< compiler's remarks on loops; empty: none
  std::string machine;   ///< calibration file; empty: the stored one
  bool emulate = false;  ///< count instructions in a second run
  std::optional<double> count_time_s;
  std::string from, keep;  ///< directories of recorded data: to read instead of running a program; to keep
  ReportOutput output;
};

void add_options(CommandEntry& command, Flags& flags) {
  ProfileOptions& options = flags.options;
  flags.device.add_to(command);
  command.add("--machine", text("FILE", flags.machine),
              "Calibration file (default: the stored calibration of this device)");
  command.add("--warmup", seconds(options.warmup_s),
              "Start recording this long after the first launch (without a GPU: after the program's start), such as "
              "10s");
  command.add("--window", seconds(options.window_s, 1e-3),
              "Record for this long, such as 5s or 500ms, then stop the program");
  command.add("--record", one_of(options.sample, {std::pair("sample", true), {"all", false}}),
              "sample: record the start-up and some steps, and time the others; all: record everything (default: "
              "sample; with --warmup or --window everything in the window)");
  command.add("--no-counters", flag(options.counters, false), "Record times only, without FLOPs and bytes");
  command.add("--count-time", seconds(flags.count_time_s),
              "Limit on the run time that counting adds (default: 30s; with --emulate 10min). With --emulate, count a "
              "part of the program in that time, and scale it to the whole run");
  command.add("--emulate", flag(flags.emulate),
              "Run a CPU program a second time under emulation, to count the FLOPs and bytes of each loop");
  command.add("--remarks", text("FILE", flags.remarks),
              "With --emulate or its recording: the compiler's remarks on loops (gcc -fopt-info-vec-all=FILE, clang "
              "-fsave-optimization-record), which say why a loop is not vectorised");
  command.add(
      "--runs", number("N", options.runs, 1, 100),
      "Run the program N times, so that rarely launched kernels can be counted (default: once; up to 4 times if it "
      "ends within 15 s and before its counters were read)");
  command.add("--baseline", flag(options.baseline),
              "Also run the program without profiling, to measure the profiler overhead");
  command.add("--step", text("RANGE", options.step_range),
              "Name of the NVTX range that marks a step (default: detect steps from repeated launches)");
  command.add("--pid", number("PID", options.pid, 1, 1e9),
              "Sample the threads of a running process instead of starting a program, until Ctrl-C or for --window");
  command.add("--no-python", flag(options.python, false), "Do not record Python source lines and modules");
  command.add("--no-host", flag(options.host, false), "Do not sample what the program's threads do");
  command.add("--keep", text("DIR", flags.keep), "Keep the recorded data in this directory");
  command.add("--from", text("DIR", flags.from), "Report on data that --keep has stored, without running a program");
  flags.output.add_to(command, "reports/<program>-<device>");
  command.rest = "PROGRAM [ARGUMENTS]";
  command.rest_target = &options.program;
}

/// What a way of profiling does, such as "--pid samples the threads of a running process".
[[noreturn]] void refuse_beside(std::string_view way, const std::string& option, const std::string& hint) {
  throw UsageError(fmt::format("{}: {} does not apply", way, option), hint);
}

/// Selects the CPU. Refuses a GPU, and the first of the options that was given: without it the rest is accepted.
void require_cpu(std::string_view way, Flags& flags,
                 std::initializer_list<std::pair<bool, const char*>> options_of_gpu) {
  for (const auto& [given, option] : options_of_gpu) {
    if (given) refuse_beside(way, option, fmt::format("remove {}", option));
  }
  if (flags.device.kind.value_or(DeviceKind::cpu) != DeviceKind::cpu) {
    refuse_beside(way, "--device " + flags.device.text, "use --device cpu");
  }
  flags.device.kind = DeviceKind::cpu;
}

/// Options of the recording of GPUs do not apply to an emulated run.
void require_cpu_program(Flags& flags) {
  const ProfileOptions& options = flags.options;
  constexpr std::string_view kWay = "--emulate counts whole runs of CPU programs";
  if (!flags.from.empty()) refuse_beside(kWay, "--from", "remove --emulate");
  require_cpu(kWay, flags,
              {{!options.host, "--no-host"},
               {!options.counters, "--no-counters"},
               {options.runs > 1, "--runs"},
               {options.window_s.has_value(), "--window"},
               {options.warmup_s > 0, "--warmup"}});
}

/// Options of started programs and of the recording of GPUs do not apply to a process that runs already.
void require_running_process(Flags& flags) {
  const ProfileOptions& options = flags.options;
  constexpr std::string_view kWay = "--pid samples the threads of a running process";
  if (!options.program.empty()) {
    refuse_beside(kWay, "a program", "remove the program, or remove --pid to start it");
  }
  require_cpu(kWay, flags,
              {{!flags.from.empty(), "--from"},
               {flags.emulate, "--emulate"},
               {!options.host, "--no-host"},
               {options.baseline, "--baseline"},
               {options.runs > 1, "--runs"},
               {!options.step_range.empty(), "--step"},
               {!flags.machine.empty(), "--machine"},
               {!flags.remarks.empty(), "--remarks"}});
}

void finish(Flags& flags, GlobalOptions& global) {
  ProfileOptions& options = flags.options;
  flags.device.finish("profile");
  flags.output.finish(global);
  if (options.pid) {
    require_running_process(flags);
  } else if (options.program.empty() == flags.from.empty()) {
    throw UsageError(flags.from.empty() ? "no program given" : "--from runs no program, but one was given",
                     "roofline profile [options] -- program [arguments], or roofline profile --from DIR");
  }
  if (!flags.keep.empty() && !flags.from.empty()) {
    throw UsageError("--keep has no effect with --from, which records nothing",
                     "remove --keep; the recording stays where it is");
  }
  if (flags.emulate) require_cpu_program(flags);
  constexpr double kCountTime = 30, kEmulationTime = 600;
  options.count_time_s = flags.count_time_s.value_or(flags.emulate ? kEmulationTime : kCountTime);
  constexpr int kSampledModel = 10;
  if (flags.emulate && flags.count_time_s) options.model_share = kSampledModel;
  options.command = global.argv;
  options.output_to_stderr = flags.output.to_stdout() || global.answer.json;
  options.spools = flags.from.empty() ? flags.keep : flags.from;
  // Programs that wait for the recording to begin (python/) read this line.
  options.started = [] { ProgressLine().show({.done = 0, .total = 1, .current = "recording"}); };
  options.print_status = [](const std::string& line) { print_status("roofline: " + line); };
}

Machine cpu_machine_of(Flags& flags, std::vector<std::string>& notes) {
  flags.options.gpu = false;
  if (!flags.machine.empty()) {
    Machine machine = parse_machine(read_file(flags.machine, kReportLimit), flags.machine);
    if (machine.device.kind == DeviceKind::cpu) return machine;
    throw UsageError(fmt::format("{}: holds the roofs of a GPU", flags.machine),
                     "remove --machine, or pass the calibration of a CPU: roofline calibrate --device cpu -o cpu.json");
  }
  const SelectedDevice device = choose_device(flags.device);
  if (std::optional<Machine> kept = kept_machine(device.info.identity)) return *std::move(kept);
  notes.emplace_back("no roofs: this CPU is not calibrated; run roofline calibrate --device cpu once");
  Machine machine;
  machine.device = device.info;
  return machine;
}

[[noreturn]] void refuse_nothing_to_record(const std::string& why) {
  throw UsageError(fmt::format("--no-host records kernels of a GPU only: {}", why), "remove --no-host");
}

/// The GPU whose kernels alone are recorded.
SelectedDevice gpu_of(DeviceRequest& request) {
  if (!request.kind) {
    SelectedDevice device = choose_device(request);
    if (device.info.kind != DeviceKind::cuda) refuse_nothing_to_record(device.why);
    return device;
  }
  try {
    return choose_device(request);
  } catch (const DeviceError& error) {
    throw DeviceError(error.what(), "profile what the CPU does: remove --no-host and use --device cpu");
  }
}

/// The calibration: from --machine, which needs no device here, else that of the selected GPU. Where the host alone is
/// profiled, because there is no GPU or by --device cpu, it is the CPU without roofs: samples need none.
Machine machine_of(Flags& flags, std::vector<std::string>& notes) {
  if (flags.emulate || (!flags.from.empty() && has_counted_instructions(flags.from))) {
    if (!flags.device.kind) flags.device.kind = DeviceKind::cpu;
    return cpu_machine_of(flags, notes);
  }
  const bool is_new = flags.from.empty();
  if (is_new && flags.device.kind == DeviceKind::cpu && !flags.options.host)
    refuse_nothing_to_record("--device is cpu");
  if (is_new && flags.device.kind == DeviceKind::cpu && !flags.machine.empty()) return cpu_machine_of(flags, notes);
  const bool may_be_host_alone =
      flags.options.host && flags.machine.empty() && (flags.from.empty() || !has_gpu_recording(flags.from));
  if (may_be_host_alone) {
    const SelectedDevice device = choose_device(flags.device);
    flags.options.gpu = device.info.kind == DeviceKind::cuda;
    if (flags.options.gpu) return machine_for(device, {}, notes);
    Machine machine;
    machine.device = device.info;
    return machine;
  }
  DeviceRequest request = flags.device;
  if (flags.machine.empty()) return machine_for(gpu_of(request), {}, notes);
  if (!request.kind) request.kind = DeviceKind::cuda;
  const std::string text = read_file(flags.machine, kReportLimit);
  // A node file holds several devices, so the device must be selected; a machine file holds one. A recording of
  // another machine has none here.
  Machine machine = is_node(text) && is_new ? parse_machine_of(choose_device(request).info, text, flags.machine)
                                            : parse_machine_of({}, text, flags.machine);
  if (is_new && machine.device.kind == DeviceKind::cpu && !flags.options.host) {
    refuse_nothing_to_record(fmt::format("{} has the roofs of a CPU", flags.machine));
  }
  return machine;
}

/// Read before the program runs.
std::optional<CompilerRemarks> remarks_of(const Flags& flags) {
  if (flags.remarks.empty()) return std::nullopt;
  if (!flags.emulate && (flags.from.empty() || !has_counted_instructions(flags.from))) {
    const bool can_emulate = flags.from.empty() && flags.device.kind.value_or(DeviceKind::cpu) == DeviceKind::cpu;
    throw UsageError("--remarks applies to loops counted with --emulate",
                     can_emulate ? "add --emulate" : "remove --remarks");
  }
  std::ifstream in(flags.remarks);
  if (!in) throw UsageError(fmt::format("can't read {}", flags.remarks), "pass the file that the compiler wrote");
  CompilerRemarks remarks;
  remarks.read(in, flags.remarks);
  return remarks;
}

fs::path output_folder(const Flags& flags, const Report& report) {
  return flags.output.folder(fs::path("reports") / file_name_of(fmt::format("{}-{}", report.invocation.run_name,
                                                                            report.machine.device.identity)));
}

/// What names the report of a program that is still to run.
Report planned_report(const Flags& flags, const Machine& machine) {
  Report report;
  report.invocation.run_name = fs::path(flags.options.program.front()).filename().string();
  report.machine.device = machine.device;
  return report;
}

/// The exit status of the program, as with time(1), if everything else worked.
ExitCode exit_code_of_program(const Report& report) {
  if (report.cancelled) return ExitCode::cancelled;
  const Profile& profile = *report.profile;
  if (report.points.empty() && !profile.host && !profile.ranks) return ExitCode::device_unusable;
  constexpr int kSignalled = 128;  // as in shells
  if (profile.signal) return static_cast<ExitCode>(kSignalled + *profile.signal);
  return static_cast<ExitCode>(profile.exit_status.value_or(0));
}

/// This process is one of several ranks that a launcher has started: they make one report.
std::shared_ptr<const JobFolder> job_of_ranks(const Flags& flags) {
  if (!flags.from.empty() || flags.options.pid || flags.emulate || flags.options.runs > 1 || !flags.options.host) {
    return nullptr;
  }
  const std::optional<World> world = world_of([](const char* name) { return std::getenv(name); });
  if (!world || world->size < 2) return nullptr;
  // A batch script of Slurm has the variables of a rank, and is none.
  if (world->launcher == "Slurm" && std::getenv("SLURM_STEP_ID") == nullptr) return nullptr;
  const char* const shared = std::getenv("ROOFLINE_RENDEZVOUS");
  const fs::path base = shared != nullptr && *shared != '\0' ? fs::path(shared) : fs::current_path();
  return std::make_shared<JobFolder>(flags.keep.empty() ? base / (".roofline-" + world->job) : fs::path(flags.keep),
                                     *world);
}

/// Says which options had no effect because no kernel of a GPU was recorded. Without a GPU, a warm-up counts from the
/// program's start.
void warn_unused_options(const ProfileOptions& options, const Report& report) {
  if (options.gpu && !report.points.empty()) return;
  if (!options.step_range.empty()) {
    warn(fmt::format("--step {} was not used: steps are found between GPU kernels, and none were recorded",
                     options.step_range));
  }
  if (options.gpu && options.warmup_s > 0) {
    warn(fmt::format("--warmup {:g}s was not used: it counts from the first GPU kernel, and none were recorded",
                     options.warmup_s));
  }
}

/// Further runs only count kernels of GPUs, so a program of which the host alone is profiled runs once.
void run_host_once(Flags& flags) {
  ProfileOptions& options = flags.options;
  if (options.gpu || options.runs.value_or(1) == 1 || !flags.from.empty()) return;
  warn(fmt::format("--runs {} was not used: further runs count GPU kernels, and only the host is profiled",
                   *options.runs));
  options.runs = 1;
}

/// True if --emulate would add to the report: of native code that ran to its end, where the tool that counts is
/// installed.
bool gains_by_emulation(const Report& report) {
  if (!is_of_host(report) || report.profile->exit_status.value_or(1) != 0) return false;
  const std::vector<HostLineSum>& lines = report.profile->host->lines;
  return !lines.empty() && !lines.front().place.python && !find_count_tool().tool.empty();
}

ExitCode run(Flags& flags, const GlobalOptions& global) {
  if (flags.emulate) {
    const CountTool found = find_count_tool();
    if (found.tool.empty()) throw UsageError(found.why_not, found.hint);
    flags.options.count_tool = found.tool;
  }
  const bool to_stdout = flags.output.to_stdout();
  if (!to_stdout && !flags.output.path.empty()) require_writable_folder(output_folder(flags, {}));
  const std::shared_ptr<const JobFolder> job = flags.options.job = job_of_ranks(flags);
  const bool leads = !job || job->leads();
  if (job) {
    flags.options.spools = job->own();
    if (!leads) flags.options.print_status = [](const std::string&) {};
  } else if (!flags.keep.empty()) {
    require_writable_folder(flags.keep);
    require_no_recording(flags.keep);
  }
  const std::optional<CompilerRemarks> remarks = remarks_of(flags);
  std::vector<std::string> notes;
  const Machine machine = machine_of(flags, notes);
  if (machine.cancelled && flags.machine.empty()) return ExitCode::cancelled;
  run_host_once(flags);
  if (!to_stdout && flags.from.empty() && !flags.options.pid && leads)
    require_outputs(flags.output, output_folder(flags, planned_report(flags, machine)));

  Report report = flags.options.pid    ? profile_running_process(flags.options, machine)
                  : flags.from.empty() ? profile_program(flags.options, machine)
                                       : profile_of_spools(flags.options, machine);
  if (!leads) return exit_code_of_program(report);
  warn_unused_options(flags.options, report);
  if (remarks) add_remarks(report, *remarks);
  if (job && flags.keep.empty()) job->remove();
  report.notes.insert(report.notes.begin(), notes.begin(), notes.end());
  if (to_stdout) {
    print_format(report, flags.output);
    return exit_code_of_program(report);
  }
  const std::vector<fs::path> paths = write_outputs(report, flags.output, output_folder(flags, report));
  const TerminalStyle style = stderr_style(global.color);
  if (global.answer.json) {
    print_document(report_to_json(report));
  } else {
    print_rendered("\n" + render_terminal(report, style));
  }
  if (flags.output.plot) print_rendered(render_terminal_plot(report, style));
  print_written(paths);
  if (flags.from.empty() && !flags.options.pid && gains_by_emulation(report)) {
    print_status(
        "what limits each of its loops (strides, vectors, dependencies): roofline profile --emulate -- PROGRAM");
  }
  return exit_code_of_program(report);
}

}  // namespace

CommandEntry profile_command() {
  return CommandRow<Flags>{"profile", "Run a program and place its kernels under the roofs", add_options, run, finish};
}

}  // namespace roofline
